// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/drift_causes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "draws.h"
#include "math/proportion.h"
#include "online/drift/drift_watch.h"

namespace tare {
namespace {

enum Feature : std::size_t { kHour, kLoad, kNoise, kRain, kFeatureCount };

struct Row {
  double score = 0.0;
  std::vector<double> features;
};

/// How a stream changes at row 600: the factor and the shift of the scores of a row.
struct Change {
  double (*scale)(const std::vector<double>& features);
  double (*shift)(const std::vector<double>& features);
};

constexpr std::uint64_t kChangeRow = 600;

/// Errors are twice as large when it rains, before and after the change.
Row draw_row(std::uint64_t stream, std::uint64_t row, const Change& change) {
  Rng rng(split(split(Seed{55}, stream), row));
  Row drawn;
  drawn.features = {static_cast<double>(row % 24), std::exp(rng.normal()), rng.uniform(),
                    static_cast<double>(rng.uniform() < 0.3)};
  const double spread = drawn.features[kRain] > 0.5 ? 2.0 : 1.0;
  const bool changed = row >= kChangeRow;
  const double factor = changed ? change.scale(drawn.features) : 1.0;
  const double shift = changed ? change.shift(drawn.features) : 0.0;
  drawn.score = spread * (shift + factor * rng.normal());
  return drawn;
}

/// The watch of a stream, `more` rows after its alarm.
DriftWatch alarmed(std::uint64_t stream, std::uint64_t more, const Change& change) {
  DriftWatch watch({.features = kFeatureCount, .seed = Seed{stream}});
  std::uint64_t left = more;
  while (left > 0 && watch.rows() < 6000) {
    const Row row = draw_row(stream, watch.rows(), change);
    watch.step(row.score, row.features);
    if (watch.alarm()) --left;
  }
  return watch;
}

double one(const std::vector<double>&) { return 1.0; }
double zero(const std::vector<double>&) { return 0.0; }

/// In how many of 50 streams the first cause is `feature` with a range that holds `value`, and a
/// cause of that kind is among the causes of this feature: a shift also moves scores outwards.
int times_found(const Change& change, std::size_t feature, double value, DriftKind kind) {
  int found = 0;
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    const std::vector<DriftCause> causes = alarmed(stream, 200, change).explain();
    const auto right = [&](const DriftCause& cause) {
      return cause.feature == feature && cause.low <= value && value <= cause.high &&
             cause.adjusted <= 0.05;
    };
    found += !causes.empty() && right(causes.front()) &&
             std::ranges::any_of(causes, [&](const DriftCause& cause) {
               return right(cause) && cause.kind == kind;
             });
  }
  return found;
}

TEST(DriftCauses, NameThePlantedHour) {
  // From 3 to 7 o'clock errors are five times as large.
  const Change change = {
      [](const std::vector<double>& x) { return x[kHour] >= 3 && x[kHour] < 8 ? 5.0 : 1.0; }, zero};
  EXPECT_GE(times_found(change, kHour, 5.0, DriftKind::kSpread), 45);
}

TEST(DriftCauses, NameThePlantedFeature) {
  const Change high_load = {
      one, [](const std::vector<double>& x) { return x[kLoad] > 1.5 ? 2.5 : 0.0; }};
  EXPECT_GE(times_found(high_load, kLoad, 2.0, DriftKind::kLocation), 45);
  const Change rain = {one,
                       [](const std::vector<double>& x) { return x[kRain] > 0.5 ? -2.5 : 0.0; }};
  EXPECT_GE(times_found(rain, kRain, 1.0, DriftKind::kLocation), 45);
}

TEST(DriftCauses, AChangeEverywhereHasNoCauseMoreOftenThanStated) {
  // Streams that change alike in all parts, relative to the spread there. At the level 0.05 at most
  // one in twenty names something on average; the limit is kept in 999 of 1,000 cases.
  const std::uint64_t streams = draws(200);
  const std::vector<Change> changes = {{[](const std::vector<double>&) { return 1.7; }, zero},
                                       {[](const std::vector<double>&) { return 0.6; }, zero},
                                       {one, [](const std::vector<double>&) { return 1.0; }}};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    for (const std::uint64_t more : {1u, 300u}) {
      std::uint64_t named = 0;
      for (std::uint64_t stream = 0; stream < streams; ++stream) {
        const DriftWatch watch = alarmed(1000 + stream, more, changes[k]);
        ASSERT_TRUE(watch.alarm());
        ASSERT_GE(watch.alarm()->row, kChangeRow);
        named += !watch.explain(0.05).empty();
      }
      EXPECT_LE(named, binomial_range(streams, 0.05, 0.998).high) << k << ", " << more;
    }
  }
}

TEST(DriftCauses, OfEqualScoresOrFewRowsAreNone) {
  DriftRows rows;
  rows.columns = 1;
  EXPECT_TRUE(find_drift_causes(rows, 0.05).empty());
  for (int i = 0; i < 200; ++i) {
    rows.scores.push_back(1.0);
    rows.features.push_back(i % 10);
  }
  EXPECT_TRUE(find_drift_causes(rows, 0.05).empty());
  rows.before = 100;
  EXPECT_TRUE(find_drift_causes(rows, 0.05).empty());
  rows.before = 197;
  for (int i = 197; i < 200; ++i) rows.scores[static_cast<std::size_t>(i)] = 100.0;
  EXPECT_TRUE(find_drift_causes(rows, 0.05).empty());
}

TEST(DriftCauses, AFeatureThatOnlyGrowsIsLeftOut) {
  Rng rng(Seed{3});
  DriftRows rows;
  rows.columns = 1;
  rows.before = 500;
  for (int i = 0; i < 1000; ++i) {
    rows.scores.push_back(rng.normal() + (i < 500 ? 0.0 : 3.0));
    rows.features.push_back(i);
  }
  EXPECT_TRUE(find_drift_causes(rows, 0.05).empty());
}

TEST(DriftCauses, RangesWithoutAChangeAreNotNamedBecauseOthersChanged) {
  Rng rng(Seed{5});
  DriftRows rows;
  rows.columns = 1;
  rows.before = 1000;
  for (int i = 0; i < 2000; ++i) {
    const double x = rng.uniform();
    rows.scores.push_back(rng.normal() + (i >= 1000 && x > 0.75 ? 3.0 : 0.0));
    rows.features.push_back(x);
  }
  const std::vector<DriftCause> causes = find_drift_causes(rows, 0.05);
  ASSERT_FALSE(causes.empty());
  for (const DriftCause& cause : causes) EXPECT_GT(cause.low, 0.7);
}

TEST(DriftCauses, TwoRangesOfAFeatureAreBothNamedAndDoNotOverlap) {
  Rng rng(Seed{4});
  DriftRows rows;
  rows.columns = 1;
  rows.before = 800;
  for (int i = 0; i < 1600; ++i) {
    const double x = rng.uniform();
    const double shift = x < 0.12 ? 3.0 : (x > 0.88 ? -3.0 : 0.0);
    rows.scores.push_back(rng.normal() + (i < 800 ? 0.0 : shift));
    rows.features.push_back(x);
  }
  const std::vector<DriftCause> causes = find_drift_causes(rows, 0.05);
  std::vector<DriftCause> location;
  for (const DriftCause& cause : causes) {
    if (cause.kind == DriftKind::kLocation) location.push_back(cause);
  }
  ASSERT_EQ(location.size(), 2u);
  std::ranges::sort(location, {}, &DriftCause::low);
  EXPECT_LT(location[0].high, 0.3);
  EXPECT_GT(location[0].inside, 0.8);
  EXPECT_GT(location[1].low, 0.7);
  EXPECT_LT(location[1].inside, 0.2);
}

}  // namespace
}  // namespace tare

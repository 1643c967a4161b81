// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/worst_regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "draws.h"
#include "math/normal.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

ReportColumn number_column(std::string name, std::vector<double> values) {
  ReportColumn column;
  column.name = std::move(name);
  column.numbers = std::move(values);
  return column;
}

/// Rows with two features and a category; the noise is that of the law times `spread(x)`, while the
/// model takes it to be 1.
struct Drawn {
  std::vector<ReportColumn> columns;
  Outcomes outcomes;
};

template <class Spread>
Drawn draw_rows(std::size_t rows, Seed seed, const Spread& spread) {
  Rng rng(seed);
  Drawn drawn;
  std::vector<double> a, b;
  ReportColumn name;
  name.name = "name";
  name.categorical = true;
  name.names = {"p", "q", "r"};
  const double reach = normal_quantile(0.95);
  for (std::size_t i = 0; i < rows; ++i) {
    a.push_back(rng.uniform());
    b.push_back(rng.normal());
    name.codes.push_back(static_cast<std::uint32_t>(rng.below(3)));
    drawn.outcomes.y.push_back(spread(a[i], b[i], name.codes[i]) * rng.normal());
    drawn.outcomes.lower.push_back(-reach);
    drawn.outcomes.median.push_back(0.0);
    drawn.outcomes.upper.push_back(reach);
  }
  drawn.columns = {number_column("a", std::move(a)), number_column("b", std::move(b)),
                   std::move(name)};
  return drawn;
}

constexpr auto kRight = [](double, double, std::uint32_t) { return 1.0; };

/// The rows of a region, by its conditions alone.
std::vector<std::size_t> rows_of(const Region& region, const std::vector<ReportColumn>& columns,
                                 std::size_t rows) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < rows; ++i) {
    bool in = true;
    for (const RegionCondition& c : region.where) {
      const ReportColumn& column = columns[c.column];
      in = in && (column.categorical ? column.names[column.codes[i]] == c.name
                                     : column.numbers[i] >= c.from && column.numbers[i] <= c.to);
    }
    if (in) found.push_back(i);
  }
  return found;
}

/// P(B <= k), term by term with logarithms of factorials.
double at_most(std::size_t n, double p, std::size_t k) {
  double sum = 0.0;
  for (std::size_t r = 0; r <= k; ++r) {
    const auto x = static_cast<double>(r);
    const auto m = static_cast<double>(n);
    sum += std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) +
                    x * std::log(p) + (m - x) * std::log1p(-p));
  }
  return sum;
}

TEST(WorstRegions, SayWhatTheRowsSay) {
  const Drawn drawn = draw_rows(600, Seed{2}, [](double a, double, std::uint32_t code) {
    return code == 1 ? 2.0 : a > 0.7 ? 0.3 : 1.0;
  });
  const Outcomes& o = drawn.outcomes;
  const RegionSearch search = find_worst_regions(drawn.columns, o);
  ASSERT_EQ(search.worst.size(), kWorst);
  EXPECT_GT(search.found, 0u);
  for (const Region& region : search.worst) {
    const auto rows = rows_of(region, drawn.columns, o.rows());
    ASSERT_EQ(rows.size(), region.rows);
    std::size_t hits = 0;
    for (const std::size_t i : rows) {
      hits += region.event == CalibrationEvent::kCovered
                  ? o.y[i] >= o.lower[i] && o.y[i] <= o.upper[i]
                  : o.y[i] <= o.median[i];
    }
    EXPECT_EQ(region.count, static_cast<double>(hits));  // no ties
    EXPECT_DOUBLE_EQ(region.share, static_cast<double>(hits) / static_cast<double>(rows.size()));
    const double nominal = nominal_share(region.event);
    const double low = at_most(rows.size(), nominal, hits);
    const double high = 1.0 - (hits == 0 ? 0.0 : at_most(rows.size(), nominal, hits - 1));
    EXPECT_NEAR(region.p, std::min(1.0, 2.0 * std::min(low, high)), 1e-9);
    EXPECT_GE(region.adjusted, region.p);
    EXPECT_LE(region.low, region.share);
    EXPECT_GE(region.high, region.share);
    EXPECT_LT(region.sure_error, std::fabs(region.share - nominal));
  }
}

TEST(WorstRegions, FindTheSlabTheNameAndTheCorner) {
  const Drawn slab = draw_rows(2000, Seed{7}, [](double a, double, std::uint32_t) {
    return a > 0.25 && a < 0.5 ? 2.0 : 1.0;
  });
  const RegionSearch found = find_worst_regions(slab.columns, slab.outcomes);
  ASSERT_FALSE(found.worst.empty());
  const Region& first = found.worst[0];
  ASSERT_EQ(first.where.size(), 1u);
  EXPECT_EQ(first.where[0].column, 0u);
  EXPECT_NEAR(first.where[0].from, 0.25, 0.07);
  EXPECT_NEAR(first.where[0].to, 0.5, 0.07);
  EXPECT_TRUE(first.too_low());
  EXPECT_GT(first.sure_error, 0.1);
  EXPECT_LT(first.adjusted, 1e-6);

  const Drawn name = draw_rows(
      2000, Seed{8}, [](double, double, std::uint32_t code) { return code == 2 ? 0.3 : 1.0; });
  const Region named = find_worst_regions(name.columns, name.outcomes).worst.at(0);
  EXPECT_EQ(named.where.at(0).name, "r");
  EXPECT_FALSE(named.too_low());
  EXPECT_EQ(named.count, static_cast<double>(named.rows));

  // Only where both features are large: neither shows it as clearly by itself.
  const Drawn corner = draw_rows(4000, Seed{9}, [](double a, double b, std::uint32_t) {
    return a > 0.667 && b > 0.43 ? 2.5 : 1.0;
  });
  const Region both = find_worst_regions(corner.columns, corner.outcomes).worst.at(0);
  ASSERT_EQ(both.where.size(), 2u);
  EXPECT_NEAR(both.where[0].from, 0.667, 0.05);
  EXPECT_NEAR(both.where[1].from, 0.43, 0.1);
}

TEST(WorstRegions, ACalibratedModelRaisesAtMostItsShareOfFalseAlarms) {
  std::size_t alarms = 0;
  const std::size_t all = draws(400);
  for (std::uint64_t draw = 0; draw < all; ++draw) {
    const Drawn drawn = draw_rows(300, split(Seed{11}, draw), kRight);
    const RegionSearch search = find_worst_regions(drawn.columns, drawn.outcomes);
    EXPECT_GT(search.looked_at, 300u);
    alarms += std::size_t{search.found > 0};
  }
  // At most 5 % are promised; three standard errors of the count on top.
  const double expected = 0.05 * static_cast<double>(all);
  EXPECT_LE(static_cast<double>(alarms), expected + 3.0 * std::sqrt(expected)) << alarms;
}

TEST(WorstRegions, TargetsThatRepeatAreNoError) {
  // Half of the targets are 0, and so is the median: the jump reaches from 0.25 to 0.75.
  Drawn drawn = draw_rows(2000, Seed{13}, kRight);
  drawn.outcomes.jumps.assign(2000, {});
  for (std::size_t i = 0; i < 1000; ++i) {
    drawn.outcomes.y[i] = 0.0;
    drawn.outcomes.jumps[i] = {0.25, 0.75};
  }
  for (std::size_t i = 0; i < 2000; ++i) {
    drawn.outcomes.lower[i] = -normal_quantile(0.9);
    drawn.outcomes.upper[i] = normal_quantile(0.9);
  }
  drawn.columns.resize(2);
  EXPECT_EQ(find_worst_regions(drawn.columns, drawn.outcomes).found, 0u);
}

TEST(WorstRegions, OfOneRowAndOfNone) {
  const Drawn one = draw_rows(1, Seed{17}, kRight);
  const RegionSearch search = find_worst_regions(one.columns, one.outcomes);
  EXPECT_EQ(search.looked_at, 2u);
  EXPECT_EQ(search.found, 0u);
  EXPECT_EQ(find_worst_regions({}, {}).looked_at, 0u);
}

}  // namespace
}  // namespace tare

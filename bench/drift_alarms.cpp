// SPDX-License-Identifier: BSD-3-Clause
// How often the drift alarm is wrong, how soon it is right, and what a row costs: the figures of
// docs/decisions/0029-drift.md. usage: drift_alarms [STREAMS [ROWS]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "online/drift/drift_watch.h"
#include "tare/base/rng.h"

namespace {

using namespace tare;

/// A score of a row before or after a change.
using Draw = std::function<double(Rng&)>;

/// Student's t with 2 degrees of freedom: the variance is infinite.
double heavy(Rng& rng) {
  const double u = rng.uniform(1e-12, 1.0 - 1e-12);
  return (2.0 * u - 1.0) / std::sqrt(2.0 * u * (1.0 - u));
}

double count(Rng& rng) {  // mostly 0, seldom up to 6
  return static_cast<double>(std::min<std::uint64_t>(rng.below(7), rng.below(3) * rng.below(5)));
}

constexpr std::uint64_t kNever = ~std::uint64_t{0};

std::uint64_t first_alarm(const Draw& before, const Draw& after, std::uint64_t change,
                          std::uint64_t rows, std::uint64_t stream,
                          std::uint64_t* start = nullptr) {
  Rng rng(split(Seed{17}, stream));
  DriftWatch watch({.seed = split(Seed{18}, stream)});
  for (std::uint64_t row = 0; row < rows && !watch.alarm(); ++row) {
    watch.step(row < change ? before(rng) : after(rng), {});
  }
  if (!watch.alarm()) return kNever;
  if (start != nullptr) *start = watch.alarm()->change;
  return watch.alarm()->row;
}

void false_alarms(const std::string& name, const Draw& law, std::uint64_t streams,
                  std::uint64_t rows) {
  std::uint64_t alarms = 0;
  for (std::uint64_t s = 0; s < streams; ++s) {
    alarms += first_alarm(law, law, rows, rows, s) != kNever;
  }
  fmt::print("steady, {:12} {} of {} streams of {} rows alarm\n", name, alarms, streams, rows);
}

std::string delay_text(std::uint64_t delay) {
  return delay == kNever ? "never" : fmt::format("{}", delay);
}

/// Delays of streams that did not alarm before the change.
void delays(const char* name, const Draw& before, const Draw& after, std::uint64_t streams) {
  for (const std::uint64_t change : {300u, 1000u, 4000u}) {
    std::vector<std::uint64_t> found;
    std::vector<double> errors;
    std::uint64_t early = 0;
    for (std::uint64_t s = 0; s < streams; ++s) {
      std::uint64_t start = 0;
      const std::uint64_t row = first_alarm(before, after, change, change + 3000, s, &start);
      if (row < change) {
        ++early;
        continue;
      }
      found.push_back(row == kNever ? kNever : row - change + 1);
      errors.push_back(std::fabs(static_cast<double>(start) - static_cast<double>(change)));
    }
    std::ranges::sort(found);
    std::ranges::sort(errors);
    const auto missed = std::ranges::count(found, kNever);
    fmt::print("{:12} at row {:4}: median {:>4}, 90 % {:>5}, early {}, missed {} of {}, ", name,
               change, delay_text(found[found.size() / 2]),
               delay_text(found[found.size() * 9 / 10]), early, missed, streams);
    fmt::print("start off by {:.0f} rows (median)\n", errors[errors.size() / 2]);
  }
}

/// How often a cause is named at the level 5 % if the change is the same in every part of four
/// features: an hour, two numbers and a mark for rows whose errors are always twice as large.
void wrong_causes(double shift, double scale, std::uint64_t streams) {
  constexpr std::size_t kBefore = 600;
  for (const std::size_t after : {40u, 70u, 150u, 300u, 600u}) {
    std::uint64_t named = 0;
    for (std::uint64_t s = 0; s < streams; ++s) {
      Rng rng(split(split(Seed{19}, after), s));
      DriftRows rows{.scores = {}, .features = {}, .columns = 4, .before = kBefore};
      for (std::size_t i = 0; i < kBefore + after; ++i) {
        const double mark = rng.uniform() < 0.3 ? 1.0 : 0.0;
        for (const double value :
             {static_cast<double>(i % 24), rng.normal(), std::exp(rng.normal()), mark}) {
          rows.features.push_back(value);
        }
        const double noise = rng.normal();
        rows.scores.push_back((1.0 + mark) * (i < kBefore ? noise : shift + scale * noise));
      }
      named += !find_drift_causes(rows, 0.05).empty();
    }
    fmt::print("shift {}, scale {} everywhere, {:3} rows after it: {:.1f} % name a cause\n", shift,
               scale, after, 100.0 * static_cast<double>(named) / static_cast<double>(streams));
  }
}

void cost(std::size_t kept, std::size_t features) {
  Rng rng(Seed{1});
  DriftWatch watch({.features = features, .most_rows = kept});
  std::vector<double> x(features);
  const std::size_t rows = 3 * kept;
  double seconds = 0.0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (double& value : x) value = rng.normal();
    const double score = rng.normal();
    const std::clock_t begin = row == 2 * kept ? std::clock() : 0;
    if (row == 2 * kept) seconds = -static_cast<double>(begin);
    watch.step(score, x);
  }
  seconds = (seconds + static_cast<double>(std::clock())) / CLOCKS_PER_SEC;
  fmt::print("a step with {} rows kept, {} features: {:.2f} us (numbers drawn included)\n", kept,
             features, 1e6 * seconds / static_cast<double>(kept));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t streams = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::uint64_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5000;
  const Draw normal = [](Rng& rng) { return rng.normal(); };
  const auto changed = [](const Draw& law, double shift, double scale) -> Draw {
    return [=](Rng& rng) { return shift + scale * law(rng); };
  };
  cost(10000, 4);
  cost(1000, 4);
  const std::uint64_t few = std::max<std::uint64_t>(1, streams / 5);
  delays("scale 1.5", normal, changed(normal, 0.0, 1.5), few);
  delays("scale 0.67", normal, changed(normal, 0.0, 0.67), few);
  delays("shift 1", normal, changed(normal, 1.0, 1.0), few);
  delays("shift 0.5", normal, changed(normal, 0.5, 1.0), few);
  delays("t2, by 1.5", heavy, changed(heavy, 0.0, 1.5), few);
  wrong_causes(0.0, 1.0, 2 * streams);
  wrong_causes(0.0, 1.7, 2 * streams);
  wrong_causes(0.0, 0.6, 2 * streams);
  wrong_causes(1.0, 1.0, 2 * streams);
  false_alarms("normal", normal, streams, rows);
  false_alarms("heavy tails", heavy, streams, rows);
  false_alarms("counts", count, streams, rows);
  // Not exchangeable, so the rate does not hold.
  for (const double memory : {0.1, 0.3, 0.6}) {
    double last = 0.0;
    const Draw dependent = [&](Rng& rng) { return last = memory * last + rng.normal(); };
    false_alarms(fmt::format("AR(1), {}", memory), dependent, few, rows);
  }
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/features/screening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tare {
namespace {

struct Drawn {
  Matrix x;
  std::vector<double> u;
};

/// Columns of normal values, and a residual that may look at the row.
Drawn draw_rows(std::size_t rows, std::size_t columns, Seed seed,
                const std::function<double(std::span<const double>, Rng&)>& residual) {
  Drawn drawn{Matrix(rows, columns), std::vector<double>(rows)};
  Rng rng(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : drawn.x.row(i)) value = rng.normal();
    drawn.u[i] = residual(drawn.x.row(i), rng);
  }
  return drawn;
}

std::vector<std::size_t> found(const Drawn& drawn, Seed seed = Seed{9}) {
  return kept_columns(screen_columns(drawn.x, drawn.u, 199, seed, {}));
}

TEST(Screening, PlaceSpreadAndShapeAreSeen) {
  using Row = std::span<const double>;
  const auto normal = [](Rng& rng) { return rng.normal(); };
  const auto place = [&](Row x, Rng& rng) { return 0.3 * x[1] + normal(rng); };
  const auto spread = [&](Row x, Rng& rng) { return std::exp(0.25 * x[1]) * normal(rng); };
  // Same mean and variance: a normal law where x is negative, two points where it is not.
  const auto shape = [&](Row x, Rng& rng) {
    return x[1] < 0.0 ? normal(rng) : (rng.uniform() < 0.5 ? -1.0 : 1.0);
  };
  std::size_t others = 0;
  for (const auto& law :
       {std::function<double(Row, Rng&)>(place), std::function<double(Row, Rng&)>(spread),
        std::function<double(Row, Rng&)>(shape)}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto kept = found(draw_rows(600, 4, Seed{seed}, law));
      EXPECT_TRUE(std::ranges::count(kept, 1U) == 1) << "seed " << seed;
      others += kept.size() - 1;
    }
  }
  EXPECT_LE(others, 3U);  // of 15 screenings one in twenty keeps another column by chance
}

TEST(Screening, UnrelatedColumnsAreKeptAsSeldomAsPromised) {
  int kept = 0;
  constexpr int kDraws = 200;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const Drawn drawn = draw_rows(60, 5, Seed{seed}, [](auto, Rng& rng) { return rng.normal(); });
    if (!found(drawn, Seed{seed}).empty()) ++kept;
  }
  // 5 % of 200 is 10, with a standard deviation of 3.1.
  EXPECT_LE(kept, 20);
  EXPECT_GE(kept, 2);
}

TEST(Screening, CategoriesAndConstantColumnsAreFine) {
  Drawn drawn = draw_rows(400, 3, Seed{3},
                          [](auto x, Rng& rng) { return (x[0] > 0.5 ? 2.0 : 0.5) * rng.normal(); });
  for (std::size_t i = 0; i < 400; ++i) {
    drawn.x(i, 0) = drawn.x(i, 0) > 0.5 ? 1.0 : 0.0;
    drawn.x(i, 2) = 7.0;
  }
  EXPECT_EQ(found(drawn), std::vector<std::size_t>{0});
  std::ranges::fill(drawn.u, 1.0);
  EXPECT_TRUE(found(drawn).empty());
}

TEST(Screening, ThreadsDoNotMatter) {
  const Drawn drawn =
      draw_rows(300, 6, Seed{4}, [](auto x, Rng& rng) { return x[0] + rng.normal(); });
  const auto one = screen_columns(drawn.x, drawn.u, 99, Seed{5}, {.threads = 1, .progress = {}});
  const auto four = screen_columns(drawn.x, drawn.u, 99, Seed{5}, {.threads = 4, .progress = {}});
  for (std::size_t j = 0; j < 6; ++j) {
    EXPECT_EQ(one[j].strength, four[j].strength);
    EXPECT_EQ(one[j].p_value, four[j].p_value);
  }
}

}  // namespace
}  // namespace tare

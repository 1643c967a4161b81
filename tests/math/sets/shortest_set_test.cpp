// SPDX-License-Identifier: BSD-3-Clause
#include "math/sets/shortest_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "draws.h"
#include "math/normal.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

template <class Quantile>
std::vector<double> quantiles_of(const Quantile& quantile) {
  std::vector<double> values;
  for (const Level& level : set_levels()) values.push_back(quantile(level.value()));
  return values;
}

/// The quantile function of a distribution given by its cdf, by bisection.
template <class Cdf>
std::vector<double> inverted(const Cdf& cdf, double low, double high) {
  return quantiles_of([&](double tau) {
    double a = low;
    double b = high;
    for (int k = 0; k < 50; ++k) (cdf((a + b) / 2) < tau ? a : b) = (a + b) / 2;
    return (a + b) / 2;
  });
}

/// The oracle: the length of all cells of a dense grid of values, from the highest density on,
/// until they have the coverage.
template <class Cdf>
double dense_length(const Cdf& cdf, double low, double high, double coverage) {
  constexpr int kCells = 20'000;
  const double width = (high - low) / kCells;
  std::vector<double> mass;
  for (int k = 0; k < kCells; ++k)
    mass.push_back(cdf(low + (k + 1) * width) - cdf(low + k * width));
  std::sort(mass.rbegin(), mass.rend());
  double sum = 0.0;
  double length = 0.0;
  for (std::size_t k = 0; sum < coverage && k < mass.size(); ++k) {
    sum += mass[k];
    length += width;
  }
  return length;
}

/// Steps of any kind: masses, jumps, wide and narrow stretches, infinite ends.
std::vector<double> random_quantiles(Rng& rng) {
  std::vector<double> values;
  double at = 10.0 * rng.normal();
  const double masses = rng.uniform();
  double scale = 1.0;
  for (std::size_t j = 0; j < set_levels().size(); ++j) {
    if (rng.uniform() < 0.05) scale = std::exp(3.0 * rng.normal());
    if (rng.uniform() > masses) at += scale * rng.uniform();
    values.push_back(at);
  }
  const auto ends = static_cast<std::size_t>(rng.uniform(0.0, 8.0));
  if (rng.uniform() < 0.2) std::fill_n(values.begin(), ends, -kFar);
  if (rng.uniform() < 0.2) std::fill_n(values.rbegin(), ends, kFar);
  return values;
}

TEST(ShortestSet, SetsAreNestedAndHoldTheTargetFromItsPlaceOn) {
  Rng rng(Seed{11});
  const std::uint64_t rows = draws(1'500);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::vector<double> quantiles = random_quantiles(rng);
    const ShortestFamily family(quantiles);
    std::vector<double> targets;
    for (int k = 0; k < 10; ++k) {
      const double near = quantiles[static_cast<std::size_t>(rng.uniform(0.0, 266.99))];
      if (!std::isfinite(near)) continue;
      targets.push_back(near);
      targets.push_back(near + rng.normal());
    }
    std::vector<SetPlace> places = {{0, 0.0}, whole_place(), {whole_place().entry, 3.0}};
    for (int k = 0; k < 30; ++k) {
      places.push_back({static_cast<std::uint32_t>(rng.uniform(0.0, whole_place().entry)), 0.0});
    }
    for (const double y : targets) {
      const SetPlace place = family.place_of(y);
      EXPECT_TRUE(family.at(place).contains(y)) << row;
      places.push_back(place);
      // The place is the first one: just before it the set does not hold y yet.
      if (place.entry > 0 && place.beyond == 0.0 && place.entry > 200'000) {
        EXPECT_FALSE(family.at({place.entry - 1, 0.0}).contains(y)) << row;
      }
    }
    std::sort(places.begin(), places.end());
    for (std::size_t k = 1; k < places.size(); ++k) {
      const RowSet less = family.at(places[k - 1]);
      const RowSet more = family.at(places[k]);
      ASSERT_LE(more.parts, kMostRowSetParts);
      for (std::size_t p = 0; p < more.parts; ++p) {
        ASSERT_LE(more.part[p].low, more.part[p].high);
        if (p > 0) {
          ASSERT_LT(more.part[p - 1].high, more.part[p].low);
        }
      }
      for (std::size_t p = 0; p < less.parts; ++p) {
        bool within = false;
        for (std::size_t q = 0; q < more.parts; ++q) {
          within = within ||
                   (more.part[q].low <= less.part[p].low && less.part[p].high <= more.part[q].high);
        }
        ASSERT_TRUE(within) << "row " << row << ", place " << places[k].entry;
      }
      for (const double y : targets) {
        ASSERT_EQ(more.contains(y), places[k] >= family.place_of(y)) << row << ' ' << y;
      }
    }
  }
}

TEST(ShortestSet, IsTheRegionOfHighestDensityOfAKnownLaw) {
  struct Case {
    const char* name;
    double (*cdf)(double);
    double low, high;
    std::size_t parts;  // of the 90 % set
  };
  const Case cases[] = {
      {"normal", [](double y) { return normal_cdf(y); }, -8, 8, 1},
      {"exponential", [](double y) { return y < 0 ? 0.0 : -std::expm1(-y); }, -1, 25, 1},
      {"two modes",
       [](double y) { return 0.5 * (normal_cdf((y + 1) / 0.3) + normal_cdf((y - 1) / 0.3)); }, -4,
       4, 2},
      {"unequal modes",
       [](double y) { return 0.7 * normal_cdf(y + 3) + 0.3 * normal_cdf((y - 4) / 0.5); }, -12, 9,
       2},
      {"triangle", [](double y) { return y <= 0   ? 0.0
                                         : y >= 1 ? 1.0
                                                  : y * y; }, 0, 1, 1},
  };
  for (const Case& one : cases) {
    const ShortestFamily family(inverted(one.cdf, one.low, one.high));
    for (const double coverage : {0.5, 0.8, 0.9, 0.95}) {
      const RowSet set = family.at(nominal_place(Level(coverage)));
      const double best = dense_length(one.cdf, one.low, one.high, coverage);
      double mass = 0.0;
      for (std::size_t p = 0; p < set.parts; ++p) {
        mass += one.cdf(set.part[p].high) - one.cdf(set.part[p].low);
      }
      // Straight lines between 267 quantiles, and widths that are means over 0.08.
      EXPECT_NEAR(mass, coverage, 0.002) << one.name;
      EXPECT_LT(set.length(), 1.02 * best) << one.name << ' ' << coverage;
      EXPECT_GT(set.length(), 0.98 * best) << one.name << ' ' << coverage;
      if (coverage == 0.9) {
        EXPECT_EQ(set.parts, one.parts) << one.name;
      }
    }
  }
}

TEST(ShortestSet, AMassIsAPart) {
  // 0 with probability 0.3, else normal around 8.
  const ShortestFamily family(quantiles_of(
      [](double tau) { return tau <= 0.3 ? 0.0 : 8.0 + normal_quantile((tau - 0.3) / 0.7); }));
  const RowSet set = family.at(nominal_place(Level(0.9)));
  ASSERT_EQ(set.parts, 2U);
  EXPECT_EQ(set.part[0].low, 0.0);
  EXPECT_EQ(set.part[0].high, 0.0);
  EXPECT_NEAR(set.part[1].low, 8.0 - 1.465, 0.1);  // 6/7 of a normal distribution
  EXPECT_NEAR(set.part[1].high, 8.0 + 1.465, 0.1);
  // A target on the mass comes in with the first of it, and one in the gap last of all.
  EXPECT_LT(family.place_of(0.0), nominal_place(Level(0.01)));
  EXPECT_GT(family.place_of(3.0), nominal_place(Level(0.98)));
}

TEST(ShortestSet, CountsStayInOnePart) {
  const ShortestFamily family(quantiles_of([](double tau) { return std::floor(10.0 * tau); }));
  EXPECT_FALSE(family.is_split());
  EXPECT_EQ(family.at(nominal_place(Level(0.9))).parts, 1U);
}

TEST(ShortestSet, ADistributionWithoutWidthIsItsPoint) {
  const ShortestFamily family(quantiles_of([](double) { return 7.0; }));
  const RowSet set = family.at(nominal_place(Level(0.5)));
  EXPECT_EQ(set.parts, 1U);
  EXPECT_EQ(set.part[0].low, 7.0);
  EXPECT_EQ(set.part[0].high, 7.0);
  EXPECT_EQ(family.place_of(9.5), (SetPlace{whole_place().entry, 2.5}));
  EXPECT_EQ(family.at({whole_place().entry, kFar}).part[0].high, kFar);
}

TEST(ShortestSet, InfiniteEndsComeInLast) {
  for (const bool below : {false, true}) {
    const ShortestFamily family(quantiles_of([&](double tau) {
      if (below ? tau < 0.05 : tau > 0.95) return below ? -kFar : kFar;
      return normal_quantile(tau);
    }));
    const RowSet set = family.at(nominal_place(Level(0.9)));
    EXPECT_TRUE(std::isfinite(set.part[0].low) && std::isfinite(set.part[0].high));
    EXPECT_TRUE(std::isinf(family.at(nominal_place(Level(0.99))).length()));
    EXPECT_TRUE(family.at(family.place_of(below ? -1e9 : 1e9)).contains(below ? -1e9 : 1e9));
  }
  const ShortestFamily nothing(quantiles_of([](double tau) { return tau < 0.5 ? -kFar : kFar; }));
  EXPECT_TRUE(nothing.at(nothing.place_of(1.0)).contains(1.0));
}

}  // namespace
}  // namespace tare

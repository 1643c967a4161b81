// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/point_masses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tare/base/rng.h"

namespace tare::automatic {
namespace {

TEST(PointMasses, AreValuesOfManyRows) {
  std::vector<double> y;
  for (int i = 0; i < 2000; ++i) y.push_back(100.0 + i);
  y.insert(y.end(), 30, 7.0);   // enough of both
  y.insert(y.end(), 21, 3.0);   // a hundredth of 2,083 rows is 21
  y.insert(y.end(), 20, -1.0);  // too few for so many rows
  y.insert(y.end(), 12, 5.0);
  Rng rng(Seed{1});
  std::vector<double> mixed;
  for (const std::size_t i : random_permutation(y.size(), rng)) mixed.push_back(y[i]);
  const std::vector<PointMass> found = find_point_masses(mixed);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].value, 3.0);
  EXPECT_EQ(found[0].rows, 21U);
  EXPECT_EQ(found[1].value, 7.0);
  EXPECT_TRUE(find_point_masses(std::vector<double>(19, 1.0)).empty());
  EXPECT_EQ(find_point_masses(std::vector<double>(20, 1.0)).size(), 1U);
  EXPECT_TRUE(find_point_masses({}).empty());
}

TEST(PointMasses, AQuantileIsAtTheMassOrOnTheGuidesSideOfIt) {
  const double inf = std::numeric_limits<double>::infinity();
  Rng rng(Seed{2});
  for (int round = 0; round < 500; ++round) {
    const std::size_t count = 1 + static_cast<std::size_t>(rng.uniform(0.0, 4.0));
    std::vector<double> masses;
    std::vector<double> values;
    for (std::size_t k = 0; k < count; ++k) {
      masses.push_back(static_cast<double>(k) - 1.0);
      values.push_back(10.0 * masses.back() + 0.1);
    }
    std::vector<double> guide(12);
    std::vector<double> quantiles(12);
    for (double& value : guide) {
      value =
          rng.uniform() < 0.5
              ? masses[static_cast<std::size_t>(rng.uniform() * 0.999 * static_cast<double>(count))]
              : rng.uniform(-3.0, 4.0);
    }
    for (double& value : quantiles) value = rng.uniform(-40.0, 40.0);
    if (round % 3 == 0) guide[0] = quantiles[1] = -inf;
    if (round % 4 == 0) guide[1] = quantiles[0] = inf;
    std::ranges::sort(guide);
    std::ranges::sort(quantiles);
    const std::vector<double> before = quantiles;
    keep_point_masses(guide, masses, values, quantiles);
    EXPECT_TRUE(std::ranges::is_sorted(quantiles));
    for (std::size_t j = 0; j < guide.size(); ++j) {
      double wanted = before[j];
      for (std::size_t k = 0; k < count; ++k) {
        if (guide[j] < masses[k] && wanted > values[k]) wanted = values[k];
      }
      for (std::size_t k = 0; k < count; ++k) {
        if (guide[j] > masses[k] && wanted < values[k]) wanted = values[k];
      }
      for (std::size_t k = 0; k < count; ++k) {
        if (guide[j] == masses[k]) wanted = values[k];
      }
      EXPECT_EQ(quantiles[j], wanted);
    }
  }
}

}  // namespace
}  // namespace tare::automatic

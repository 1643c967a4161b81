// SPDX-License-Identifier: BSD-3-Clause
#include "index/brute_force.h"

#include <gtest/gtest.h>

#include "tare/base/rng.h"

namespace tare {
namespace {

TEST(BruteForce, DistancesAreThoseOfTheRowsInTheOrderGiven) {
  Rng rng(Seed{1});
  for (const std::size_t rows : {1U, 7U, 1024U, 2500U}) {
    for (const std::size_t dims : {0U, 1U, 3U, 17U}) {
      Matrix x(rows, dims);
      for (double& value : x.values()) value = rng.normal();
      const auto order = random_permutation(rows, rng);
      const BruteForce index(x, order);
      std::vector<double> query(dims);
      for (double& value : query) value = rng.normal();
      std::vector<double> r2(rows);
      index.squared_distances(query, r2);
      for (std::size_t i = 0; i < rows; ++i) {
        double expected = 0.0;
        for (std::size_t j = 0; j < dims; ++j) {
          const double difference = x(order[i], j) - query[j];
          expected += difference * difference;
        }
        EXPECT_EQ(r2[i], expected);  // the same additions in the same order
        const auto row = index.row(i);
        EXPECT_TRUE(std::ranges::equal(row, x.row(order[i])));
      }
    }
  }
}

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/lower_factor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tare/base/rng.h"

namespace tare {
namespace {

/// B B' + n on the diagonal, with elements of B between -1 and 1: the condition is below 3.
Matrix positive_definite(std::size_t n) {
  Rng rng(Seed{n});
  Matrix b(n, n);
  for (double& value : b.values()) value = rng.uniform(-1.0, 1.0);
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) a(i, j) += b(i, k) * b(j, k);
    }
    a(i, i) += static_cast<double>(n);
  }
  return a;
}

Execution on_threads(std::size_t count) {
  Execution how;
  how.threads = count;
  return how;
}

// 32 columns are a strip of the inverse, 12 rows a block of the factor.
TEST(LowerFactor, InverseTimesMatrixIsTheUnitMatrix) {
  for (const std::size_t n : {1U, 5U, 12U, 31U, 32U, 33U, 64U, 101U}) {
    const Matrix a = positive_definite(n);
    const LowerFactor factor(a);
    ASSERT_TRUE(factor.ok());
    const Matrix inverse = factor.inverse(on_threads(1));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0.0;
        for (std::size_t k = 0; k < n; ++k) sum += inverse(i, k) * a(k, j);
        EXPECT_NEAR(sum, i == j ? 1.0 : 0.0, 1e-12) << n << ": " << i << ", " << j;
        EXPECT_EQ(inverse(i, j), inverse(j, i));
      }
    }
  }
}

TEST(LowerFactor, InverseDoesNotDependOnThreads) {
  const LowerFactor factor(positive_definite(101));
  const Matrix one_by_one = factor.inverse(on_threads(1));
  const Matrix together = factor.inverse(on_threads(4));
  EXPECT_TRUE(std::ranges::equal(one_by_one.values(), together.values()));
}

TEST(LowerFactor, SaysThatAMatrixIsNotPositiveDefinite) {
  Matrix a = positive_definite(20);
  a(15, 15) = -1.0;
  EXPECT_FALSE(LowerFactor(std::move(a)).ok());
}

}  // namespace
}  // namespace tare

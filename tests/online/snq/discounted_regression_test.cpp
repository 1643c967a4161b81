// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/discounted_regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "draws.h"
#include "expect_error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

struct SeenRow {
  std::vector<double> x, y;
  double weight;
};

/// The ridge solution from the whole history, by elimination with pivots.
std::vector<double> ridge_solution(const std::vector<SeenRow>& rows, std::size_t target,
                                   double keep, double ridge) {
  const std::size_t p = rows.front().x.size();
  std::vector<std::vector<double>> a(p, std::vector<double>(p + 1));
  for (std::size_t i = 0; i < p; ++i) a[i][i] = ridge;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const double w = rows[t].weight * std::pow(keep, static_cast<double>(rows.size() - 1 - t));
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t k = 0; k < p; ++k) a[i][k] += w * rows[t].x[i] * rows[t].x[k];
      a[i][p] += w * rows[t].x[i] * rows[t].y[target];
    }
  }
  for (std::size_t i = 0; i < p; ++i) {
    std::size_t pivot = i;
    for (std::size_t k = i + 1; k < p; ++k) {
      if (std::abs(a[k][i]) > std::abs(a[pivot][i])) pivot = k;
    }
    std::swap(a[i], a[pivot]);
    for (std::size_t k = 0; k < p; ++k) {
      if (k == i) continue;
      const double factor = a[k][i] / a[i][i];
      for (std::size_t c = i; c <= p; ++c) a[k][c] -= factor * a[i][c];
    }
  }
  std::vector<double> solution(p);
  for (std::size_t i = 0; i < p; ++i) solution[i] = a[i][p] / a[i][i];
  return solution;
}

SeenRow random_row(std::size_t p, std::size_t targets, Rng& rng) {
  SeenRow row{{1.0}, {}, rng.below(4) == 0 ? rng.uniform() : 1.0};
  while (row.x.size() < p) row.x.push_back(std::clamp(rng.normal(), -6.0, 6.0));
  if (p > 3) row.x[3] = row.x[2];  // collinear: the ridge alone divides the weight
  while (row.y.size() < targets) row.y.push_back(rng.normal() + row.x[p / 2]);
  return row;
}

TEST(DiscountedRegression, IsTheRidgeSolutionFromAllRows) {
  for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
    Rng rng(split(Seed{311}, draw));
    const std::vector<std::size_t> sizes = {1, 2, 6, 17, 53};
    const std::size_t p = sizes[draw % sizes.size()];
    const double keep = draw % 3 == 0 ? 1.0 : rng.uniform(0.9, 0.9999);
    const double ridge = rng.uniform(0.1, 5.0);
    const std::size_t between = std::max<std::size_t>(1, p / 24);  // rows between two solutions
    DiscountedRegression regression(p, 2, keep, ridge);
    std::vector<SeenRow> rows;
    EXPECT_EQ(regression.predict(random_row(p, 2, rng).x, 1), 0.0);
    for (std::size_t t = 1; t <= 60; ++t) {
      rows.push_back(random_row(p, 2, rng));
      regression.learn(rows.back().x, rows.back().y, rows.back().weight);
      if (t % (12 * between) != 0) continue;
      const std::vector<double> at = random_row(p, 2, rng).x;
      for (std::size_t j = 0; j < 2; ++j) {
        const auto solution = ridge_solution(rows, j, keep, ridge);
        double expected = 0.0;
        for (std::size_t i = 0; i < p; ++i) expected += solution[i] * at[i];
        ASSERT_NEAR(regression.predict(at, j), expected, 1e-9 * (1.0 + std::abs(expected)))
            << "draw " << draw << ", row " << t;
      }
    }
  }
}

TEST(DiscountedRegression, GoesOnAfterARestartBetweenTwoSolutions) {
  constexpr std::size_t kRegressors = 75;  // three rows between two solutions
  Rng rng(Seed{312});
  DiscountedRegression whole(kRegressors, 1, 0.99, 1.0);
  DiscountedRegression restarted(kRegressors, 1, 0.99, 1.0);
  for (std::size_t t = 0; t < 20; ++t) {
    const SeenRow row = random_row(kRegressors, 1, rng);
    whole.learn(row.x, row.y, row.weight);
    restarted.learn(row.x, row.y, row.weight);
    TensorStore store;
    restarted.save(TensorWriter(store));
    restarted = DiscountedRegression(kRegressors, 1, 0.99, 1.0);
    restarted.load(TensorReader(store));
    ASSERT_EQ(whole.predict(row.x, 0), restarted.predict(row.x, 0)) << t;
  }
}

TEST(DiscountedRegression, StaysFiniteAndRefusesDamagedSums) {
  DiscountedRegression regression(3, 1, 0.997, 3.0);
  for (std::size_t t = 0; t < 500; ++t) {
    const std::vector<double> x = {1.0, t % 2 == 0 ? 6.0 : -6.0, 0.0};
    regression.learn(x, std::vector<double>{t % 3 == 0 ? 1e30 : -1e30}, 1.0);
    ASSERT_TRUE(std::isfinite(regression.predict(x, 0)));
  }
  TensorStore good;
  regression.save(TensorWriter(good));
  for (const char* name : {"gram", "moments", "weights"}) {
    TensorStore bad = good;
    auto values = TensorReader(good).list<double>(name);
    values.back() = -1e200;
    TensorWriter(bad).tensor(name, values);
    expect_error(ErrorCode::kCorruptFile, "", [&] { regression.load(TensorReader(bad)); });
  }
}

}  // namespace
}  // namespace tare

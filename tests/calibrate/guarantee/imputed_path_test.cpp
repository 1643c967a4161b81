// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/conditional/imputed_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrate/guarantee/conditional/span_basis.h"
#include "draws.h"
#include "tare/base/level.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

double pinball_sum(const Matrix& phi, std::span<const double> score, std::span<const double> b,
                   double tau) {
  double sum = 0.0;
  for (std::size_t i = 0; i < phi.rows(); ++i) {
    double r = score[i];
    for (std::size_t j = 0; j < b.size(); ++j) r -= phi(i, j) * b[j];
    sum += r > 0.0 ? tau * r : (tau - 1.0) * r;
  }
  return sum;
}

/// Cramer's rule for up to three unknowns; none where the rows depend on each other.
std::optional<std::vector<double>> meet(const Matrix& phi, std::span<const double> score,
                                        std::span<const std::size_t> rows) {
  const auto det = [](const Matrix& m) {
    if (m.rows() == 1) return m(0, 0);
    if (m.rows() == 2) return m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
    return m(0, 0) * (m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1)) -
           m(0, 1) * (m(1, 0) * m(2, 2) - m(1, 2) * m(2, 0)) +
           m(0, 2) * (m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0));
  };
  const std::size_t n = rows.size();
  Matrix a(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) a(k, j) = phi(rows[k], j);
  }
  const double whole = det(a);
  if (std::abs(whole) < 1e-9) return std::nullopt;
  std::vector<double> b;
  for (std::size_t j = 0; j < n; ++j) {
    Matrix changed = a;
    for (std::size_t k = 0; k < n; ++k) changed(k, j) = score[rows[k]];
    b.push_back(det(changed) / whole);
  }
  return b;
}

/// All choices of `size` of `count` rows.
std::vector<std::vector<std::size_t>> choices(std::size_t count, std::size_t size) {
  std::vector<std::vector<std::size_t>> result;
  std::vector<std::size_t> one(size);
  const auto extend = [&](auto&& self, std::size_t at, std::size_t from) -> void {
    if (at == size) {
      result.push_back(one);
      return;
    }
    for (std::size_t i = from; i < count; ++i) {
      one[at] = i;
      self(self, at + 1, i + 1);
    }
  };
  extend(extend, 0, 0);
  return result;
}

/// By trying every vertex of the regression with the new row at a score far above all others: the
/// least fit at the new row among the optimal ones. None where an optimal fit follows the new row
/// upwards.
std::optional<double> threshold_by_enumeration(const Matrix& phi, std::span<const double> score,
                                               std::span<const double> phi_new, double tau) {
  constexpr double kFar = 1e3;
  Matrix all(phi.rows() + 1, phi.cols());
  std::ranges::copy(phi.values(), all.values().begin());
  std::ranges::copy(phi_new, all.row(phi.rows()).begin());
  std::vector<double> scores(score.begin(), score.end());
  scores.push_back(kFar);
  struct Vertex {
    double loss, at_new;
  };
  std::vector<Vertex> vertices;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& rows : choices(all.rows(), phi.cols())) {
    const auto b = meet(all, scores, rows);
    if (!b) continue;
    const double loss = pinball_sum(all, scores, *b, tau);
    vertices.push_back({loss, dot(phi_new, *b)});
    least = std::min(least, loss);
  }
  double answer = std::numeric_limits<double>::infinity();
  for (const Vertex& vertex : vertices) {
    if (vertex.loss <= least + 1e-11) answer = std::min(answer, vertex.at_new);
  }
  if (answer > 0.5 * kFar) return std::nullopt;
  return answer;
}

/// Scores of few values, set apart as ConditionalRanks does, or of any value.
std::vector<double> draw_scores(std::size_t rows, bool tied, Rng& rng) {
  std::vector<double> score(rows);
  for (double& s : score) {
    s = tied ? std::round(2.0 * rng.normal()) + rng.uniform(0.25, 0.5) * 0x1.0p-20
             : 3.0 * rng.normal();
  }
  return score;
}

TEST(ImputedPath, IsTheLeastOptimalFitOfAnInfiniteScore) {
  const double levels[] = {0.5, 0.6, 0.75, 0.8, 0.9, 0.95};
  Rng rng(Seed{11});
  std::size_t finite = 0;
  std::size_t infinite = 0;
  for (std::size_t trial = 0; trial < draws(2000); ++trial) {
    const std::size_t dims = 1 + rng.below(3);
    const std::size_t rows = dims + 3 + rng.below(dims == 3 ? 9 : 14);
    const double tau = levels[rng.below(6)];
    const bool tied = rng.below(2) == 0;
    const bool groups = rng.below(2) == 0;  // overlapping indicators, or any numbers
    const auto draw_row = [&](std::span<double> row) {
      row[0] = 1.0;
      for (std::size_t j = 1; j < row.size(); ++j) {
        row[j] = groups ? static_cast<double>(rng.below(2)) : rng.normal();
      }
    };
    Matrix raw(rows, dims);
    for (std::size_t i = 0; i < rows; ++i) draw_row(raw.row(i));
    const std::vector<double> score = draw_scores(rows, tied, rng);
    const SpanBasis basis{raw.view()};
    if (basis.dims() < dims) continue;
    Matrix phi(rows, dims);
    for (std::size_t i = 0; i < rows; ++i) basis.apply(raw.row(i), phi.row(i));
    const ImputedPath path(phi, score, tau);
    for (int query = 0; query < 3; ++query) {
      std::vector<double> fresh(dims), at(dims);
      draw_row(fresh);
      ASSERT_TRUE(basis.apply(fresh, at));
      const auto expected = threshold_by_enumeration(raw, score, fresh, tau);
      const auto found = path.threshold(at);
      ASSERT_EQ(found.has_value(), expected.has_value())
          << "trial " << trial << " rows " << rows << " dims " << dims << " tau " << tau;
      expected ? ++finite : ++infinite;
      if (expected) {
        EXPECT_NEAR(*found, *expected, 1e-8) << "trial " << trial << " tau " << tau;
      }
    }
  }
  EXPECT_GT(finite, draws(2000));
  EXPECT_GT(infinite, draws(2000) / 10);
}

/// A constant alone is the rank of a split, for every n and level.
TEST(ImputedPath, OfAConstantIsTheRankOfASplit) {
  Rng rng(Seed{12});
  for (std::size_t n = 1; n <= 60; ++n) {
    std::vector<double> score = draw_scores(n, false, rng);
    const Matrix phi(n, 1, 1.0);
    std::vector<double> sorted = score;
    std::ranges::sort(sorted);
    for (const double tau : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99}) {
      const std::uint64_t rank = Level(tau).rank(n + 1);
      const std::vector<double> one = {1.0};
      const auto found = ImputedPath(phi, score, tau).threshold(one);
      ASSERT_EQ(found.has_value(), rank <= n) << n << " " << tau;
      if (found) {
        EXPECT_EQ(*found, sorted[rank - 1]) << n << " " << tau;
      }
    }
  }
}

/// The regression with the new row at a score a little below the threshold has a fit at least as
/// high there, and a little above it a lower one: by fit_quantile on n + 1 rows.
TEST(ImputedPath, SeparatesCoveredScoresFromOthers) {
  Rng rng(Seed{13});
  const std::size_t rows = 400;
  const std::size_t dims = 6;
  Matrix raw(rows, dims);
  for (std::size_t i = 0; i < rows; ++i) {
    raw(i, 0) = 1.0;
    for (std::size_t j = 1; j < dims; ++j) raw(i, j) = rng.normal();
  }
  const std::vector<double> score = draw_scores(rows, false, rng);
  const SpanBasis basis{raw.view()};
  Matrix phi(rows, dims);
  for (std::size_t i = 0; i < rows; ++i) basis.apply(raw.row(i), phi.row(i));
  ImputedPath::Effort effort;
  for (const double tau : {0.5, 0.9, 0.95}) {
    const ImputedPath path(phi, score, tau);
    for (int query = 0; query < 10; ++query) {
      std::vector<double> fresh(dims), at(dims);
      fresh[0] = 1.0;
      for (std::size_t j = 1; j < dims; ++j) fresh[j] = rng.normal();
      ASSERT_TRUE(basis.apply(fresh, at));
      const auto threshold = path.threshold(at, &effort);
      ASSERT_TRUE(threshold);
      Matrix more(rows + 1, dims);
      std::ranges::copy(phi.values(), more.values().begin());
      std::ranges::copy(at, more.row(rows).begin());
      std::vector<double> scores = score;
      for (const double by : {-1e-6, 1e-6}) {
        scores.push_back(*threshold + by);
        const QuantileVertex fit = fit_quantile(more, scores, tau);
        ASSERT_TRUE(fit.optimal);
        const double value = dot(at, fit.coefficient);
        if (by < 0.0) {
          EXPECT_GE(value, scores.back() - 1e-9);
        } else {
          EXPECT_LT(value, scores.back());
        }
        scores.pop_back();
      }
    }
  }
  EXPECT_LT(effort.pivots, 30U * 12U);  // a few for each row
}

/// However many rows there are, a pivot looks at few of them.
TEST(ImputedPath, LooksAtFewRows) {
  const auto rows_for_a_query = [](std::size_t rows) {
    Rng rng(Seed{14});
    const std::size_t dims = 4;
    Matrix raw(rows, dims);
    for (std::size_t i = 0; i < rows; ++i) {
      raw(i, 0) = 1.0;
      for (std::size_t j = 1; j < dims; ++j) raw(i, j) = rng.normal();
    }
    const std::vector<double> score = draw_scores(rows, false, rng);
    const SpanBasis basis{raw.view()};
    Matrix phi(rows, dims);
    for (std::size_t i = 0; i < rows; ++i) basis.apply(raw.row(i), phi.row(i));
    const ImputedPath path(phi, score, 0.9);
    ImputedPath::Effort effort;
    for (std::size_t i = 0; i < 100; ++i) path.threshold(phi.row(i), &effort);
    return static_cast<double>(effort.rows) / 100.0;
  };
  const double few = rows_for_a_query(1000);
  const double many = rows_for_a_query(16000);
  EXPECT_LT(few, 500.0);
  EXPECT_LT(many, 500.0);
}

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "model/linear/logistic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

struct Classes {
  Matrix terms;
  std::vector<std::uint8_t> label;
  std::vector<double> weight;

  LabelledRows rows() const { return {label, weight}; }
};

/// Rows whose log-odds are 0.3 + x0 - 0.5 x1 + 0 x2 ...
Classes linear_classes(std::size_t rows, std::size_t columns, Rng& rng) {
  Classes classes{Matrix(rows, columns), {}, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : classes.terms.row(i)) value = rng.normal();
    double t = 0.3 + classes.terms(i, 0);
    if (columns > 1) t -= 0.5 * classes.terms(i, 1);
    classes.label.push_back(rng.uniform() < 1.0 / (1.0 + std::exp(-t)) ? 1 : 0);
    classes.weight.push_back(0.5 + rng.uniform());
  }
  return classes;
}

double loss_of(const Classes& classes, const LogisticFit& fit, double penalty) {
  double sum = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < classes.label.size(); ++i) {
    const double t = fit.log_odds(classes.terms.row(i));
    sum += classes.weight[i] * std::log1p(std::exp(classes.label[i] != 0 ? -t : t));
    all += classes.weight[i];
  }
  double squares = 0.0;
  for (const double slope : fit.slope) squares += slope * slope;
  return sum / all + 0.5 * penalty * squares;
}

/// No step along any axis lowers the loss as it is defined.
TEST(Logistic, IsAtTheLeastLoss) {
  Rng rng(Seed{3});
  for (const std::size_t columns : {1U, 2U, 7U}) {
    const Classes classes = linear_classes(150, columns, rng);
    const std::vector<double> penalties = {1.0, 0.1, 0.001};
    const auto fits = fit_logistic(classes.rows(), classes.terms, penalties);
    ASSERT_EQ(fits.size(), 3U);
    for (std::size_t p = 0; p < 3; ++p) {
      const double least = loss_of(classes, fits[p], penalties[p]);
      for (std::size_t j = 0; j <= columns; ++j) {
        for (const double step : {-0.01, 0.01}) {
          LogisticFit other = fits[p];
          (j == 0 ? other.intercept : other.slope[j - 1]) += step;
          EXPECT_GT(loss_of(classes, other, penalties[p]), least) << columns << " columns";
        }
      }
    }
  }
}

TEST(Logistic, FindsTheOddsOfALargeSample) {
  Rng rng(Seed{4});
  Classes classes = linear_classes(20000, 3, rng);
  classes.weight.assign(20000, 1.0);
  const std::vector<double> penalty = {1e-6};
  const LogisticFit fit = fit_logistic(classes.rows(), classes.terms, penalty)[0];
  // The slopes' standard errors are about 2.2 / sqrt(20000) = 0.016; four of them.
  EXPECT_NEAR(fit.intercept, 0.3, 0.065);
  EXPECT_NEAR(fit.slope[0], 1.0, 0.065);
  EXPECT_NEAR(fit.slope[1], -0.5, 0.065);
  EXPECT_NEAR(fit.slope[2], 0.0, 0.065);
}

/// Classes that can be told apart without error, one class only, and no term: finite all the same.
TEST(Logistic, StaysFinite) {
  Classes classes{Matrix(40, 2), std::vector<std::uint8_t>(40), std::vector<double>(40, 1.0)};
  for (std::size_t i = 0; i < 40; ++i) {
    classes.label[i] = i < 20 ? 0 : 1;
    classes.terms(i, 0) = classes.terms(i, 1) = i < 20 ? -1.0 : 1.0;
  }
  const auto check = [&](MatrixView terms) {
    for (const LogisticFit& fit : fit_logistic(classes.rows(), terms, logistic_penalties())) {
      EXPECT_TRUE(std::isfinite(fit.intercept));
      for (const double slope : fit.slope) EXPECT_TRUE(std::isfinite(slope));
    }
  };
  check(classes.terms);
  check(Matrix(40, 0));
  classes.label.assign(40, 1);
  check(classes.terms);
}

TEST(QuadraticTerms, AreAllProductsWhileTheyAreFew) {
  Rng rng(Seed{5});
  for (const auto& [columns, expected] : {std::pair<std::size_t, std::size_t>{1, 2},
                                          {2, 5},
                                          {12, 90},
                                          {13, 26},
                                          {50, 100},
                                          {51, 51}}) {
    Matrix x(300, columns);
    for (double& value : x.values()) value = 100.0 + 5.0 * rng.normal();
    const QuadraticTerms terms(x);
    ASSERT_EQ(terms.terms(), expected) << columns << " columns";
    std::vector<double> row(expected);
    std::vector<double> mean(expected, 0.0);
    for (std::size_t i = 0; i < 300; ++i) {
      terms.write(x.row(i), row);
      for (std::size_t j = 0; j < expected; ++j) mean[j] += row[j] / 300.0;
    }
    for (const double value : mean) EXPECT_NEAR(value, 0.0, 1e-9);
  }
  // Two columns: a, b, then a a, b a, b b, of which the terms are linear functions.
  Matrix x(4, 2);
  const double values[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  for (std::size_t i = 0; i < 4; ++i) std::ranges::copy(values[i], x.row(i).begin());
  const QuadraticTerms terms(x);
  std::vector<double> row(5);
  for (std::size_t i = 0; i < 4; ++i) {
    terms.write(x.row(i), row);
    EXPECT_EQ(row, (std::vector<double>{values[i][0], values[i][1], 0.0,
                                        values[i][0] * values[i][1], 0.0}));
  }
}

TEST(QuadraticTerms, DoNotFollowARowThatIsFarAway) {
  Rng rng(Seed{6});
  Matrix x(100, 2);
  for (double& value : x.values()) value = rng.normal();
  const QuadraticTerms terms(x);
  std::vector<double> far(5), farther(5);
  terms.write(std::vector<double>{1e3, -1e3}, far);
  terms.write(std::vector<double>{1e300, -1e300}, farther);
  EXPECT_EQ(far, farther);
}

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/averaging.h"
#include "math/pinball.h"

#include <algorithm>
#include <limits>

namespace tare::automatic {
namespace {

constexpr double kWorthIt = 1e-4;  // of the loss

/// The loss of keep * a + (1 - keep) * b.
double blended_loss(const Matrix& a, double keep, const Matrix& b, const Contest& contest) {
  double sum = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < contest.y.size(); ++i) {
    double own = 0.0;
    for (std::size_t j = 0; j < contest.levels.size(); ++j) {
      const double quantile = keep * a(i, j) + (1.0 - keep) * b(i, j);
      const double above = contest.y[i] - quantile;
      const double tau = contest.levels[j].value();
      own += pinball_of_error(above, tau);
    }
    const double w = contest.weight.empty() ? 1.0 : contest.weight[i];
    sum += w * own;
    total += w;
  }
  return sum / total / static_cast<double>(contest.levels.size());
}

}  // namespace

double mean_pinball_loss(const Matrix& quantiles, const Contest& contest) {
  return blended_loss(quantiles, 1.0, quantiles, contest);
}

Averaging average_greedily(const Contest& contest, std::size_t most) {
  Averaging result;
  Matrix& average = result.average;
  average = Matrix(contest.y.size(), contest.levels.size());
  double current = std::numeric_limits<double>::infinity();
  while (result.picks.size() < most) {
    const double taken = static_cast<double>(result.picks.size());
    const double keep = taken / (taken + 1.0);
    std::size_t best = 0;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < contest.quantiles.size(); ++c) {
      const double loss = blended_loss(average, keep, contest.quantiles[c], contest);
      if (loss < lowest) {
        lowest = loss;
        best = c;
      }
    }
    if (!result.picks.empty() && !(lowest < current * (1.0 - kWorthIt))) break;
    const Matrix& own = contest.quantiles[best];
    for (std::size_t k = 0; k < own.values().size(); ++k) {
      average.values()[k] = keep * average.values()[k] + (1.0 - keep) * own.values()[k];
    }
    current = lowest;
    result.picks.push_back(best);
    result.loss.push_back(lowest);
  }
  return result;
}

}  // namespace tare::automatic

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/averaging.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/parallel.h"
#include "data/partition.h"
#include "data/rows.h"
#include "math/pinball.h"

namespace tare::automatic {
namespace {

constexpr double kWorthIt = 1e-4;        // of the loss
constexpr double kSmallestShare = 0.05;  // each candidate kept costs time at every prediction

/// Keeps the largest shares, at most `most`, and of these none that is small but the largest; they
/// then add up to 1.
void drop_small(std::vector<double>& share, std::size_t most) {
  std::vector<std::size_t> order(share.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t c) { return share[c]; });
  double sum = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    double& one = share[order[k]];
    if (k > 0 && (k >= most || one < kSmallestShare)) one = 0.0;
    sum += one;
  }
  for (double& one : share) one /= sum;
}

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

GreedyPicks pick_greedily(const Contest& contest, std::size_t most) {
  GreedyPicks result;
  Matrix average(contest.y.size(), contest.levels.size());
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

Averaging average_in_bags(const Contest& contest, std::size_t most, Seed seed,
                          const Execution& how) {
  constexpr std::size_t kBags = 10;
  constexpr std::size_t kMostBagRows = 1000;
  const std::size_t rows = contest.y.size();
  const std::size_t count = contest.quantiles.size();
  std::vector<GreedyPicks> bags(kBags);
  parallel_for(how, kBags, [&](std::size_t bag) {
    Rng rng(split(seed, bag));
    std::vector<std::size_t> chosen = random_permutation(rows, rng);
    chosen.resize(std::min((rows + 1) / 2, kMostBagRows));
    const std::vector<double> y = take_rows(contest.y, chosen);
    const std::vector<double> weight = take_rows(contest.weight, chosen);
    Contest part{y, weight, contest.levels, {}};
    for (const Matrix& own : contest.quantiles) part.quantiles.push_back(take_rows(own, chosen));
    bags[bag] = pick_greedily(part, most);
  });
  Averaging result{std::vector<double>(count, 0.0), 0.0, Matrix(rows, contest.levels.size())};
  for (const GreedyPicks& bag : bags) {
    for (const std::size_t pick : bag.picks) {
      result.share[pick] += 1.0 / static_cast<double>(bag.picks.size() * kBags);
    }
  }
  drop_small(result.share, most);
  for (std::size_t c = 0; c < count; ++c) {
    if (result.share[c] == 0.0) continue;
    const std::span<const double> own = contest.quantiles[c].values();
    for (std::size_t k = 0; k < own.size(); ++k) {
      result.average.values()[k] += result.share[c] * own[k];
    }
  }
  result.loss = mean_pinball_loss(result.average, contest);
  return result;
}

}  // namespace tare::automatic

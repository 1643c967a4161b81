// SPDX-License-Identifier: BSD-3-Clause
// Slow, plain replicas of the reference methods, from their papers: every quantity is computed anew
// from the whole past.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace tare::online_testing {

inline constexpr double kOracleInfinity = std::numeric_limits<double>::infinity();

/// What a replica gets: all scores, the share of misses, how late targets come, and its options.
struct OracleInput {
  std::vector<double> scores;
  double alpha = 0.1;
  std::size_t delay = 0;
  double step = 0.0;
  std::size_t window = 0;
};

/// Thresholds after 0, 1, ..., n learned rows.
using Thresholds = std::vector<double>;

inline std::vector<double> last_scores(const OracleInput& in, std::size_t learned) {
  const std::size_t first = learned > in.window ? learned - in.window : 0;
  return {in.scores.begin() + static_cast<std::ptrdiff_t>(first),
          in.scores.begin() + static_cast<std::ptrdiff_t>(learned)};
}

/// The threshold with which row i was answered.
inline double answered(const OracleInput& in, const Thresholds& thresholds, std::size_t i) {
  return thresholds[i > in.delay ? i - in.delay : 0];
}

/// By definition: the smallest score that is at least (1 - alpha)(n + 1) of them.
inline double oracle_quantile(const std::vector<double>& scores, double alpha) {
  if (alpha <= 0.0) return kOracleInfinity;
  if (alpha >= 1.0) return -kOracleInfinity;
  double best = kOracleInfinity;
  for (const double candidate : scores) {
    double below = 0.0;
    for (const double score : scores) below += score <= candidate ? 1.0 : 0.0;
    const double wanted = (1.0 - alpha) * (static_cast<double>(scores.size()) + 1.0);
    if (below >= wanted - 1e-9) best = std::min(best, candidate);
  }
  return best;
}

inline Thresholds oracle_aci(const OracleInput& in) {
  Thresholds result;
  double alpha = in.alpha;
  for (std::size_t t = 0; t <= in.scores.size(); ++t) {
    result.push_back(oracle_quantile(last_scores(in, t), alpha));
    if (t == in.scores.size()) break;
    const double miss = in.scores[t] > answered(in, result, t) ? 1.0 : 0.0;
    alpha = alpha + in.step * (in.alpha - miss);
  }
  return result;
}

/// Weights and levels of all experts at all times are kept, and rows look back at those with which
/// they were answered.
inline Thresholds oracle_dtaci(const OracleInput& in, double interval) {
  const std::array<double, 8> steps = {.001, .002, .004, .008, .016, .032, .064, .128};
  std::vector<std::array<double, 8>> levels(1), weights(1), thresholds;
  levels[0].fill(in.alpha);
  weights[0].fill(0.125);
  const double a = in.alpha;
  const double eta =
      std::sqrt(3.0 / interval) *
      std::sqrt((std::log(8.0 * interval) + 2.0) /
                ((1 - a) * (1 - a) * a * a * a + a * a * (1 - a) * (1 - a) * (1 - a)));
  const double sigma = 1.0 / (2.0 * interval);
  Thresholds result;
  for (std::size_t t = 0; t <= in.scores.size(); ++t) {
    const auto recent = last_scores(in, t);
    double mean = 0.0;
    thresholds.emplace_back();
    for (std::size_t i = 0; i < 8; ++i) {
      mean += weights[t][i] * levels[t][i];
      thresholds[t][i] = oracle_quantile(recent, levels[t][i]);
    }
    result.push_back(oracle_quantile(recent, mean));
    if (t == in.scores.size()) break;
    const std::size_t then = t > in.delay ? t - in.delay : 0;
    double not_below = 1.0;
    for (const double score : recent) not_below += score >= in.scores[t] ? 1.0 : 0.0;
    const double beta = not_below / (static_cast<double>(recent.size()) + 1.0);
    std::array<double, 8> next_levels = levels[t];
    std::array<double, 8> next_weights = weights[t];
    double total = 0.0;
    for (std::size_t i = 0; i < 8; ++i) {
      const double level = levels[then][i];
      const double loss = beta >= level ? a * (beta - level) : (1.0 - a) * (level - beta);
      next_weights[i] = weights[t][i] * std::exp(-eta * loss);
      total += next_weights[i];
      const double miss = in.scores[t] > thresholds[then][i] ? 1.0 : 0.0;
      next_levels[i] = levels[t][i] + steps[i] * (a - miss);
    }
    for (double& weight : next_weights) weight = (1.0 - sigma) * weight / total + sigma / 8.0;
    levels.push_back(next_levels);
    weights.push_back(next_weights);
  }
  return result;
}

/// The step of a tracker for row t.
inline double oracle_step(const OracleInput& in, std::size_t t) {
  std::vector<double> all = last_scores(in, t);
  all.push_back(in.scores[t]);
  const double range =
      *std::max_element(all.begin(), all.end()) - *std::min_element(all.begin(), all.end());
  return in.step * (range == 0.0 ? std::fabs(in.scores[t]) : range);
}

/// The sum over all rows before t of step (miss - alpha).
inline double tracked_part(const OracleInput& in, const Thresholds& thresholds, std::size_t t) {
  double sum = 0.0;
  for (std::size_t i = 0; i < t; ++i) {
    const double miss = in.scores[i] > answered(in, thresholds, i) ? 1.0 : 0.0;
    sum += oracle_step(in, i) * (miss - in.alpha);
  }
  return sum;
}

inline Thresholds oracle_tracker(const OracleInput& in) {
  Thresholds result;
  for (std::size_t t = 0; t <= in.scores.size(); ++t) result.push_back(tracked_part(in, result, t));
  return result;
}

/// `gain` below 0: the largest |score| of the window.
inline Thresholds oracle_pid(const OracleInput& in, double saturation, double gain) {
  Thresholds result;
  for (std::size_t t = 0; t <= in.scores.size(); ++t) {
    double misses = 0.0;
    for (std::size_t i = 0; i < t; ++i) {
      misses += in.scores[i] > answered(in, result, i) ? 1.0 : 0.0;
    }
    double largest = 0.0;
    for (const double score : last_scores(in, t)) largest = std::max(largest, std::fabs(score));
    const double rows = static_cast<double>(t);
    // Not a sum of (miss - alpha): for errors of zero the sign of a rounding error would decide.
    const double excess = misses - in.alpha * rows;
    const double angle = t == 0 ? 0.0 : excess * std::log(rows) / (rows * saturation);
    double push = (gain < 0.0 ? largest : gain) * std::tan(angle);
    if (angle >= std::numbers::pi / 2) push = kOracleInfinity;
    if (angle <= -std::numbers::pi / 2) push = -kOracleInfinity;
    result.push_back(tracked_part(in, result, t) + push);
  }
  return result;
}

inline double oracle_feedback(double x) {
  const double s = 1.0 / (1.0 + std::exp(-x));
  return x * s * (1.0 - s);
}

inline Thresholds oracle_eci(const OracleInput& in, const std::string& variant, bool kept) {
  Thresholds result;
  const auto feedback = [&](std::size_t i) {
    const double excess = in.scores[i] - answered(in, result, i);
    if (variant == "cutoff") {
      double low = in.scores[i];
      double high = in.scores[i];
      for (const double score : last_scores(in, i)) {
        low = std::min(low, score);
        high = std::max(high, score);
      }
      if (i > 0 && std::fabs(excess) < high - low) return 0.0;
    }
    return oracle_feedback(excess);
  };
  const auto effective = [&](std::size_t i) {
    if (variant != "integral") return feedback(i);
    double sum = 0.0;
    double weights = 0.0;
    for (std::size_t j = 0; j <= i; ++j) {
      const double weight = std::pow(0.95, static_cast<double>(i - j));
      sum += weight * feedback(j);
      weights += weight;
    }
    return sum / weights;
  };
  double kept_sum = 0.0;
  for (std::size_t t = 0; t <= in.scores.size(); ++t) {
    double threshold = tracked_part(in, result, t);
    if (t > 0) {
      const double last = oracle_step(in, t - 1) * effective(t - 1);
      kept_sum += last;
      threshold += kept ? kept_sum : last;
    }
    result.push_back(threshold);
  }
  return result;
}

}  // namespace tare::online_testing

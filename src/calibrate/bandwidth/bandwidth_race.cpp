// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bandwidth/bandwidth_race.h"

#include <cmath>

namespace tare {
namespace {

constexpr double kClearly = 3.0;      // standard errors
constexpr double kPossibly = 2.0;     // standard errors
constexpr double kImmaterial = 3e-3;  // of the loss, which 20,000 rows tell to about 7e-3

double total_weight(std::span<const double> weight, std::size_t rows) {
  if (weight.empty()) return static_cast<double>(rows);
  double total = 0.0;
  for (const double w : weight) total += w;
  return total;
}

}  // namespace

LossDifference loss_difference(std::span<const double> one, std::span<const double> other,
                               std::span<const double> weight) {
  const double total = total_weight(weight, one.size());
  double sum = 0.0;
  for (std::size_t p = 0; p < one.size(); ++p) sum += one[p] - other[p];
  const double mean = sum / total;
  double squares = 0.0;
  for (std::size_t p = 0; p < one.size(); ++p) {
    const double w = weight.empty() ? 1.0 : weight[p];
    const double beside = one[p] - other[p] - w * mean;
    squares += beside * beside;
  }
  return {mean, std::sqrt(squares) / total};
}

RaceState judge_race(std::span<const Runner> runners, std::span<const double> weight) {
  RaceState state;
  const std::size_t rows = runners.empty() ? 0 : runners[0].loss.size();
  const double total = total_weight(weight, rows);
  if (!(total > 0.0)) {  // rows of no weight say nothing
    for (std::size_t b = 0; b < runners.size(); ++b) state.contenders.push_back(b);
    return state;
  }
  std::vector<double> mean(runners.size(), 0.0);
  for (std::size_t b = 0; b < runners.size(); ++b) {
    for (const double loss : runners[b].loss) mean[b] += loss / total;
    if (mean[b] < mean[state.best]) state.best = b;
  }
  state.decided = true;
  for (std::size_t b = 0; b < runners.size(); ++b) {
    const LossDifference lag = loss_difference(runners[b].loss, runners[state.best].loss, weight);
    if (b != state.best && lag.mean > kClearly * lag.error) continue;
    state.contenders.push_back(b);
    const double gain = kPossibly * lag.error - lag.mean;
    if (b != state.best && gain > kImmaterial * mean[state.best]) state.decided = false;
  }
  return state;
}

}  // namespace tare

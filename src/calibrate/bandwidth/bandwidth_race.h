// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tare {

/// By how much losses of rows exceed others of the same rows, on average.
struct LossDifference {
  double mean = 0.0;
  double error = 0.0;  // standard error of the mean
};
/// Losses are times the rows' weights; `weight` is empty where all are the same.
LossDifference loss_difference(std::span<const double> one, std::span<const double> other,
                               std::span<const double> weight);

/// One of several bandwidths that are compared on the same rows.
struct Runner {
  double bandwidth = 0.0;
  std::vector<double> loss;  // of each row left out so far, times the row's weight and unit
};

/// What the rows so far say.
struct RaceState {
  std::size_t best = 0;                 // the runner with the lowest mean
  std::vector<std::size_t> contenders;  // ascending: the best, and all that are not clearly worse
  bool decided = false;  // no contender could be better than the best by an amount that matters
};

/// Compares the runners on the rows so far by the differences of their losses row by row, which
/// vary far less than the losses. A runner is clearly worse when its mean is above the best one's
/// by more than three standard errors of the difference. The race is decided when no contender's
/// mean, less two standard errors, is below the best one's by more than 3 in 1,000 of it.
/// `weight` has a row's weight; empty: all the same.
RaceState judge_race(std::span<const Runner> runners, std::span<const double> weight);

}  // namespace tare

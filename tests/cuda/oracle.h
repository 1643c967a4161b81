// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "device/cuda_abi.h"

/// A slow second opinion on what a device answers, in double precision and by definition.
namespace tare_cuda_test {

constexpr double kTieTolerance = 1e-9;  // of knn windows

struct Problem {
  std::size_t rows = 0;
  std::size_t dims = 0;
  std::vector<double> columns;  // column by column
  std::vector<double> residuals;
  std::vector<double> weights;  // empty: all 1
  std::vector<double> queries;  // row by row
  std::vector<double> levels;
  int kernel = kTareCudaGaussian;
  double bandwidth = 1.0;
  bool expected = false;

  std::size_t query_count() const { return queries.size() / dims; }
  TareCudaSample sample() const {
    return {columns.data(), residuals.data(), weights.empty() ? nullptr : weights.data(), rows,
            dims};
  }
};

double squared_distance(const Problem& problem, const double* query, std::size_t row);
double kernel_weight(int kernel, double squared, double bandwidth);

/// The window of one query: weights of all rows and what follows from them.
class Window {
 public:
  /// `left_out`: a row without weight; none where it is no row.
  Window(const Problem& problem, const double* query, std::size_t left_out);

  double total() const { return total_; }
  double size() const { return total_ * (total_ / squares_); }
  double nearest() const { return nearest_; }
  /// How far out the window reaches: the bandwidth, or the distance of the last of the k rows.
  double reach() const { return reach_; }
  /// The value of the smallest row with a weight whose cumulated weight is at least `target`.
  double value_at(double target) const;
  /// How far the level of an answer by the paper's rule is from the level asked for.
  double level_error(double level, double answer) const;
  /// By how much levels may be moved so that the rule of expected ranks gives the answer: one of
  /// the steps 1e-7, 1e-6, 1e-5, 1e-4 or 1. `size`: the window's rounded effective size.
  double expected_error(double level, double size, double answer) const;
  double loss(double left_out_residual, const std::vector<double>& levels) const;

 private:
  const Problem& problem_;
  std::vector<double> cumulated_;
  std::vector<std::size_t> rows_;  // with a weight
  double total_ = 0.0;
  double squares_ = 0.0;
  double nearest_ = 0.0;
  double reach_ = 0.0;
};

}  // namespace tare_cuda_test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/input/fit_input.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// Rows in units of their columns' spread, targets in units of theirs, and costs of mean 1.
struct QuantileRows {
  Matrix x;
  std::vector<double> y;
  std::vector<double> cost;

  QuantileRows take(std::span<const std::size_t> chosen) const;
};

void standardise_row(std::span<const double> row, std::span<const Standard> columns,
                     std::span<double> out);

/// exp(-distance^2 / (2 width^2)) between the rows of a and b.
Matrix kernel_of_rows(MatrixView a, MatrixView b, double width, const Execution& how);

/// The median distance between rows that are at different places; 1 if there are none.
double median_distance(MatrixView x);

/// The cost of each row for a penalty of the mean loss.
std::vector<double> costs_for(std::span<const double> cost, double penalty);

}  // namespace tare

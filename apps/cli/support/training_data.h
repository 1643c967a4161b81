// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/schema.h"
#include "support/fit_options.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/calibrate/shift.h"

namespace tare::cli {

/// The user's file as a method takes it.
struct TrainingData {
  std::string source;
  std::shared_ptr<const Schema> schema;
  Encoded encoded;
  std::vector<std::uint8_t> calibrate_rows;  // of --split by:COL=VALUE; empty: the method splits
  std::vector<std::uint32_t> group;          // of --group; empty: none
  std::vector<std::size_t> model_columns;    // as in FitInput
  std::vector<std::size_t> calibrate_columns;
  std::size_t without_window = 0;  // rows left out for want of a past
  ShiftWeights shift;              // of --shift-to; no weights: none

  FitInput input(Seed seed) const;
};

/// Weighs the rows of `data` towards those of the file. Throws kNotFound where a column is not in
/// it.
void shift_training_data(TrainingData& data, const std::string& path, const FitOptions& options,
                         const Execution& how);

/// True for --split by:COL=VALUE, which is about the file and not the method.
bool splits_by_column(const FitOptions& options);

/// Reads and encodes the file, runs the predictor, joins windows. `window` >= 1; `trains` says
/// whether a point model will be trained on the features.
TrainingData read_training_data(const FitOptions& options, std::size_t window, bool trains,
                                std::size_t threads);

}  // namespace tare::cli

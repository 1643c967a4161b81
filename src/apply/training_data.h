// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/schema.h"
#include "tare/apply/fit.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/calibrate/shift.h"

namespace tare {

/// The user's table as the input of a method.
struct TrainingData {
  std::shared_ptr<const Schema> schema;
  Encoded encoded;
  std::vector<std::uint8_t> calibrate_rows;  // of split by:COLUMN=VALUE; empty: the method splits
  std::vector<std::uint32_t> group;          // empty: none
  std::vector<std::size_t> model_columns;    // as in FitInput
  std::vector<std::size_t> calibrate_columns;
  std::size_t without_window = 0;  // rows left out because their window is incomplete
  ShiftWeights shift;              // no weights: none

  FitInput input(Seed seed) const;
};

/// True for split=by:COLUMN=VALUE, which refers to the table, not the method. Throws
/// kInvalidArgument if the text is incomplete.
bool splits_by_column(const FitOptions& options);

/// Whether screening selects the features of the kernel: calibrate_on={"auto"}.
bool finds_columns(const FitOptions& options);

/// How to read each column of a table with this header for a fit. Throws kNotFound and
/// kInvalidArgument.
std::vector<ColumnRequest> fit_requests(const std::string& source,
                                        const std::vector<std::string>& header,
                                        const FitOptions& options);

/// Learns the schema, encodes the rows, calls the outside model, builds windows. The columns must
/// have been read as fit_requests requires. `window` >= 1; `trains` says whether a point model will
/// be trained on the features.
TrainingData make_training_data(const Table& table, const FitOptions& options, std::size_t window,
                                bool trains);

/// Weights the rows of `data` towards those of shift_to, if there are any. Throws kNotFound if they
/// lack a column.
void shift_training_data(TrainingData& data, const FitOptions& options, const Execution& how);

}  // namespace tare

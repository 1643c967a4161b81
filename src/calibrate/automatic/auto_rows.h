// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/automatic/auto_model.h"
#include "calibrate/rows/training_rows.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/model/regressor.h"

namespace tare::automatic {

/// The rows of a fit that count, in the units of the method.
struct AutoRows {
  std::size_t eligible = 0;         // rows of the input that have a weight
  std::vector<std::size_t> usable;  // those in use
  TrainingRows training;
  Units units;
  std::vector<double> y;

  /// At most `most` rows of the input. Throws kBadData where too few have a weight.
  AutoRows(const FitInput& input, std::size_t most);

  RegressionData data() const { return {training.x, y, training.weight}; }
  /// Values that many rows share, in units of y: converting back from units of the method would add
  /// rounding errors.
  std::vector<double> mass_values() const;
  std::vector<double> masses() const;
  bool is_constant() const;

 private:
  AutoRows(const FitInput& input, const std::vector<std::size_t>& counting, std::size_t most);
  double in_units(double value) const { return (value - units.shift) / units.scale; }
};

}  // namespace tare::automatic

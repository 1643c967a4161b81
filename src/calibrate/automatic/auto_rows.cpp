// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/auto_rows.h"

#include <algorithm>

#include "base/fail.h"
#include "calibrate/automatic/point_masses.h"
#include "calibrate/rows/row_split.h"
#include "data/partition.h"

namespace tare::automatic {
namespace {

/// At most `most` of the rows.
std::vector<std::size_t> at_most(std::size_t most, const std::vector<std::size_t>& rows,
                                 const FitInput& input) {
  std::vector<std::size_t> chosen =
      limit_rows(rows.size(), most, input.window, split(input.seed, 7));
  for (std::size_t& row : chosen) row = rows[row];
  return chosen;
}

std::vector<std::size_t> counting_rows(const FitInput& input) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < input.y.size(); ++i) {
    if (input.weight.empty() || input.weight[i] > 0.0) rows.push_back(i);
  }
  if (rows.size() < kMinCalibrationRows) {
    fail(ErrorCode::kBadData, "{} rows with a weight are too few: at least {} are needed",
         rows.size(), kMinCalibrationRows);
  }
  return rows;
}

}  // namespace

AutoRows::AutoRows(const FitInput& input, std::size_t most)
    : AutoRows(input, counting_rows(input), most) {}

AutoRows::AutoRows(const FitInput& input, const std::vector<std::size_t>& counting,
                   std::size_t most)
    : eligible(counting.size()),
      usable(at_most(most, counting, input)),
      training(input, usable),
      units(Units::of(training.y)) {
  for (const double value : training.y) y.push_back(in_units(value));
}

std::vector<double> AutoRows::mass_values() const {
  std::vector<double> values;
  for (const PointMass& mass : find_point_masses(training.y)) values.push_back(mass.value);
  return values;
}

std::vector<double> AutoRows::masses() const {
  std::vector<double> own = mass_values();
  for (double& value : own) value = in_units(value);
  return own;
}

bool AutoRows::is_constant() const {
  return std::ranges::all_of(y, [&](double value) { return value == y.front(); });
}

}  // namespace tare::automatic

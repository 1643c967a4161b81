// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "tare/model/regressor.h"

namespace tare {

/// A model file with more columns than this is damaged; the limit fits the int32 of trees.
inline constexpr std::size_t kMaxFeatures = 1u << 30;

/// Checks the input of a regressor: at least one row, shapes that agree, and no option that
/// `options` does not list. Throws kBadData, kShapeMismatch or kInvalidArgument.
void check_fit_input(std::string_view owner, const RegressionData& data, const Params& params,
                     std::span<const ParamInfo> options);

/// Throws kShapeMismatch unless x has `features` columns and out one element for each row.
void check_query(std::string_view owner, std::size_t features, MatrixView x,
                 std::span<const double> out);

/// Weighted mean and standard deviation of a sample. A sample without spread has scale 1, and its
/// mean is its value exactly.
struct Standard {
  double mean = 0.0;
  double scale = 1.0;
};

/// (value - mean) / scale, also where the difference overflows.
inline double standardised(double value, const Standard& by) {
  const double away = value - by.mean;
  if (std::isfinite(away)) return away / by.scale;
  return (0.5 * value - 0.5 * by.mean) / by.scale * 2.0;
}

/// The standardisation of value(0), ..., value(rows - 1). `weight` may be empty; weights that are
/// all 0 count as equal. Sums are taken of differences from the first value, in units of the
/// largest, so that neither an offset nor the unit of measurement costs digits. Mean and scale are
/// finite for all finite values.
Standard standardise(std::size_t rows, const std::function<double(std::size_t)>& value,
                     std::span<const double> weight);

}  // namespace tare

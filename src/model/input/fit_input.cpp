// SPDX-License-Identifier: BSD-3-Clause
#include "model/input/fit_input.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.h"

namespace tare {

void check_fit_input(std::string_view owner, const RegressionData& data, const Params& params,
                     std::span<const ParamInfo> options) {
  const std::array lists = {options};
  params.check_known(owner, lists);
  const std::size_t rows = data.x.rows();
  if (rows == 0) fail(ErrorCode::kBadData, "{}: there are no rows to learn from", owner);
  if (data.y.size() != rows) {
    fail(ErrorCode::kShapeMismatch, "{}: {} rows but {} targets", owner, rows, data.y.size());
  }
  if (!data.weight.empty() && data.weight.size() != rows) {
    fail(ErrorCode::kShapeMismatch, "{}: {} rows but {} weights", owner, rows, data.weight.size());
  }
}

void check_query(std::string_view owner, std::size_t features, MatrixView x,
                 std::span<const double> out) {
  if (x.cols() != features) {
    fail(ErrorCode::kShapeMismatch, "{}: fitted on {} columns, asked about {}", owner, features,
         x.cols());
  }
  if (out.size() != x.rows()) {
    fail(ErrorCode::kShapeMismatch, "{}: {} rows but room for {} answers", owner, x.rows(),
         out.size());
  }
}

Standard standardise(std::size_t rows, const std::function<double(std::size_t)>& value,
                     std::span<const double> weight) {
  const double first = value(0);
  double unit = 1.0;
  const auto away = [&](std::size_t i) { return unit * value(i) - unit * first; };
  const auto farthest = [&] {
    double reach = 0.0;
    for (std::size_t i = 1; i < rows; ++i) reach = std::max(reach, std::abs(away(i)));
    return reach;
  };
  double reach = farthest();
  if (reach == 0.0) return {first, 1.0};
  if (!std::isfinite(reach)) {  // from one end of double's range to the other: in halves
    unit = 0.5;
    reach = farthest();
  }

  const bool weighted = std::ranges::any_of(weight, [](double w) { return w > 0.0; });
  const auto weight_of = [&](std::size_t i) { return weighted ? weight[i] : 1.0; };
  double total = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    total += weight_of(i);
    sum += weight_of(i) * (away(i) / reach);
  }
  const double mean = sum / total;
  double squares = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double gap = away(i) / reach - mean;
    squares += weight_of(i) * gap * gap;
  }
  // Where one row has nearly all the weight, the others are not put out of single precision.
  constexpr double kNarrowest = 1e-10;
  const double scale = std::max(std::sqrt(squares / total), kNarrowest) * reach / unit;
  return {(unit * first + mean * reach) / unit, scale > 0.0 ? scale : 1.0};
}

}  // namespace tare

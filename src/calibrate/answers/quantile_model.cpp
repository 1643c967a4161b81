// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/quantile_model.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "calibrate/answers/level_order.h"

namespace tare {
namespace {

/// A model file may hold numbers that are finite each, and whose products are not. What is not a
/// number must not reach a model around this one, which puts quantiles in order, nor a user.
void check_numbers(const Matrix& quantiles) {
  const auto values = quantiles.values();
  const auto wrong = std::ranges::find_if(values, [](double value) { return std::isnan(value); });
  if (wrong == values.end()) return;
  const auto row = static_cast<std::size_t>(wrong - values.begin()) / quantiles.cols();
  fail(ErrorCode::kBadData, {.row = row},
       "the model has no number as its answer: the row, or the model, holds numbers too large to "
       "compute with");
}

}  // namespace

void QuantileModel::check_shapes(const Rows& rows) const {
  if (rows.x.cols() != features()) {
    fail(ErrorCode::kShapeMismatch, "predict: the rows have {} features, the model has {}",
         rows.x.cols(), features());
  }
  if (rows.given.cols() != given() || (given() > 0 && rows.given.rows() != rows.x.rows())) {
    fail(ErrorCode::kShapeMismatch,
         "predict: {} rows with {} given predictions for {} rows of features; the model needs {} "
         "each",
         rows.given.rows(), rows.given.cols(), rows.x.rows(), given());
  }
  if (!rows.group.empty() && rows.group.size() != rows.x.rows()) {
    fail(ErrorCode::kShapeMismatch, "predict: {} groups for {} rows of features", rows.group.size(),
         rows.x.rows());
  }
}

Prediction QuantileModel::predict(const Rows& rows, std::span<const Level> levels,
                                  const Execution& how) const {
  check_shapes(rows);
  return in_level_order(levels, [&](std::span<const Level> ascending) {
    Prediction answer = predict_ascending(rows, ascending, how);
    check_numbers(answer.quantiles);
    return answer;
  });
}

}  // namespace tare

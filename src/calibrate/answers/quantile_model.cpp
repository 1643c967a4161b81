// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/quantile_model.h"

#include "base/fail.h"
#include "calibrate/answers/level_order.h"

namespace tare {

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
    return predict_ascending(rows, ascending, how);
  });
}

}  // namespace tare

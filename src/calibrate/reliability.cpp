// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/reliability.h"

namespace tare {

Prediction predict_with_reliability(const QuantileModel& model, const Rows& rows,
                                    std::span<const Level> levels, const Execution& how) {
  Prediction result = model.predict(rows, levels, how);
  model.add_reliability(rows, levels, how, result);
  result.delivered = model.delivered(rows, levels);
  return result;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "data/schema.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The schema of a model that was fitted on plain numbers: x0, x1, ...
inline Schema plain_schema(const QuantileModel& model) {
  if (model.given() == 0) return Schema::plain(model.features());
  return Schema::plain(model.features(), model.given_form());
}

}  // namespace tare

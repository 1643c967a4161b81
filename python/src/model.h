// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tare/calibrate/model_file.h"

namespace tare::python {

/// A fitted model as Python holds it; predictions may run on several threads at once.
struct Model {
  FittedModel fitted;
  const QuantileModel& get() const { return *fitted.model; }
};

}  // namespace tare::python

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tare/calibrate/quantile_model.h"

namespace tare {

/// A model can say that its quantile at a level is the same number, to the bit, whatever other
/// levels it is asked for at the same time. It is not so where quantiles are put in order or are
/// averaged over levels. Who needs few of many levels may then ask for these alone.
class EachLevelAlone {
 public:
  virtual bool answers_each_level_alone() const = 0;

 protected:
  ~EachLevelAlone() = default;
};

/// False for a model that does not say.
inline bool answers_each_level_alone(const QuantileModel& model) {
  const auto* says = dynamic_cast<const EachLevelAlone*>(&model);
  return says != nullptr && says->answers_each_level_alone();
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tare/base/params.h"
#include "tare/calibrate/methods.h"

namespace tare {

/// Options with which a method is fitted in moments. Promises hold from the first epoch on; what a
/// long training reaches is tested elsewhere.
inline Params quick_params(const Method& method) {
  Params params;
  for (const ParamInfo& option : method.options) {
    if (option.name == "epochs") params.set("epochs", "3");
    if (option.name == "inducing") params.set("inducing", "16");
    if (option.name == "trees") params.set("trees", "20");
  }
  if (method.name == "ngboost") params.set("rounds", "30");
  if (method.name == "auto") params.merge(Params::parse("steps=20 folds=2 guarantee=none"));
  return params;
}

inline std::vector<std::string> all_method_names() {
  std::vector<std::string> names;
  for (const Method& method : methods()) names.emplace_back(method.name);
  return names;
}

}  // namespace tare

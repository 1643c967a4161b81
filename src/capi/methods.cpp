// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/methods.h"

#include <nlohmann/json.hpp>

#include "capi/handles.h"
#include "tare/model/regressor.h"

namespace {

using MethodsJson = nlohmann::ordered_json;

MethodsJson options_json(std::span<const tare::ParamInfo> options) {
  MethodsJson json = MethodsJson::array();
  for (const tare::ParamInfo& option : options) {
    json.push_back({{"name", option.name},
                    {"default", option.fallback},
                    {"help", option.help},
                    {"grid", option.grid}});
  }
  return json;
}

}  // namespace

tare_status tare_methods(char** json) {
  return tare::capi::guarded([&] {
    char*& out = tare::capi::needed(json, "json");
    MethodsJson all;
    for (const tare::Method& method : tare::methods()) {
      all["methods"].push_back({{"name", method.name},
                                {"paper", method.paper},
                                {"summary", method.summary},
                                {"guarantee", method.guarantee},
                                {"citation", method.citation},
                                {"defaults", method.defaults},
                                {"options", options_json(method.options)}});
    }
    all["common_options"] = options_json(tare::common_options());
    for (const tare::RegressorKind& kind : tare::regressors()) {
      all["regressors"].push_back({{"name", kind.name},
                                   {"summary", kind.summary},
                                   {"options", options_json(kind.options)}});
    }
    out = tare::capi::copy_text(all.dump());
  });
}

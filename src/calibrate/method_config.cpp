// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/method_config.h"

#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "io/files/whole_file.h"
#include "io/json_text.h"
#include "tare/calibrate/methods.h"

namespace tare {

MethodConfig parse_config(std::string_view text, std::string_view source) {
  if (is_nested_too_deeply(text)) {
    fail(ErrorCode::kInvalidArgument, {.source = std::string(source)},
         "has more than {} brackets within brackets", kMostJsonDepth);
  }
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    MethodConfig config;
    config.method = find_method(json.at("method").get<std::string>()).name;
    const nlohmann::json options = json.value("options", nlohmann::json::object());
    if (!options.is_object()) {
      fail(ErrorCode::kInvalidArgument, {.source = std::string(source)},
           "\"options\" must be an object of names and values");
    }
    for (const auto& [name, value] : options.items()) {
      config.params.set(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    config.data = json.value("data", "");
    config.experiment = json.value("experiment", "");
    return config;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kInvalidArgument, {.source = std::string(source)},
         "is not a configuration of 'tare tune' (an object with \"method\" and \"options\"): {}",
         error.what());
  }
}

MethodConfig read_config(const std::string& path) {
  return parse_config(read_text_file(path), path);
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "support/warning_text.h"

#include <fmt/format.h>

#include "support/bar.h"

namespace tare::cli {

void warn_about_answers(const std::vector<PredictionWarning>& warnings, const Common& common) {
  for (const PredictionWarning& warning : warnings) {
    warn(common, fmt::format("{} [{}]", warning.text, warning_name(warning.code)));
  }
}

nlohmann::ordered_json warnings_json(const std::vector<PredictionWarning>& warnings) {
  auto list = nlohmann::ordered_json::array();
  for (const PredictionWarning& warning : warnings) {
    list.push_back({{"code", warning_name(warning.code)},
                    {"rows", warning.rows},
                    {"levels", warning.levels},
                    {"text", warning.text}});
  }
  return list;
}

}  // namespace tare::cli

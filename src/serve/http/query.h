// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tare::serve {

/// The parts of a request target: "/v1/predict?levels=0.5" has a path, which is compared as sent,
/// and parameters, which are decoded.
struct Target {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;

  std::optional<std::string_view> parameter(std::string_view name) const;
};

/// Throws Refusal 400 for an invalid escape, a parameter that is not in `known`, or a repeated one.
Target parse_target(std::string_view target, std::span<const std::string_view> known);

/// true: "true", "1" or empty; false: "false" or "0". Throws Refusal 400 for other texts.
bool parse_truth(std::string_view text, std::string_view name);

}  // namespace tare::serve

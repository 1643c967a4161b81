// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tare::serve {

/// The target of a request, taken apart: "/v1/predict?levels=0.5" to a path, which is compared as
/// it was sent, and parameters, which are decoded.
struct Target {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;

  std::optional<std::string_view> parameter(std::string_view name) const;
};

/// Throws Refusal 400 for a broken escape, a parameter that is not among `known`, or one twice.
Target parse_target(std::string_view target, std::span<const std::string_view> known);

/// true, 1 or nothing; false or 0. Throws Refusal 400.
bool parse_truth(std::string_view text, std::string_view name);

}  // namespace tare::serve

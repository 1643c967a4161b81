// SPDX-License-Identifier: BSD-3-Clause
#include "base/unknown_name.h"

#include <vector>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {

void fail_unknown_name(ErrorCode code, std::string_view what, std::string_view name,
                       std::span<const std::string> known) {
  const std::vector<std::string> near = closest_names(name, known);
  const std::string hint = near.empty() ? "" : fmt::format("did you mean {}? ", join(near, " or "));
  fail(code, "there is no {} '{}' ({}known: {})", what, name, hint, join(known, ", "));
}

}  // namespace tare

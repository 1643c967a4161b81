// SPDX-License-Identifier: BSD-3-Clause
#include "base/unknown_name.h"

#include <vector>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {

void fail_unknown_name(ErrorCode code, std::string_view what, std::string_view name,
                       std::span<const std::string> known, std::string_view option) {
  const std::vector<std::string> near = closest_names(name, known);
  const std::string hint = near.empty() ? "" : fmt::format("did you mean {}? ", join(near, " or "));
  ErrorDetails details;
  details.option = option;
  details.value = name;
  details.remedies = {advice(fmt::format("{}known: {}", hint, join(known, ", ")))};
  details.named_in_problem = true;
  fail(code, std::move(details), "there is no {} '{}'", what, name);
}

}  // namespace tare

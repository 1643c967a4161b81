// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/reference_options.h"

#include <array>
#include <string>

#include "base/fail.h"

namespace tare {

void check_options(const OnlineMethodInfo& method, const OnlineSetup& setup) {
  const std::array<std::span<const ParamInfo>, 1> known = {method.options};
  setup.params.check_known(method.name, known);
  if (setup.levels.empty()) {
    fail(ErrorCode::kInvalidArgument, "{} needs at least one quantile level", method.name);
  }
}

ScoreKind score_kind(const Params& params) {
  const std::string name = params.text("scores", "absolute");
  if (name == "absolute") return ScoreKind::kAbsolute;
  if (name == "signed") return ScoreKind::kSigned;
  fail_option("scores", name, "must be absolute or signed");
}

std::size_t window_option(const Params& params, std::size_t fallback) {
  return params.count("window", fallback, 1, kMostScores);
}

}  // namespace tare

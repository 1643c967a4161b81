// SPDX-License-Identifier: BSD-3-Clause
#include "base/stages.h"

namespace tare {

Execution part_of(const Execution& how, std::size_t k, std::size_t parts) {
  Execution part = how;
  if (how.progress) {
    part.progress = [&how, k, parts](std::string_view stage, double share) {
      how.progress(stage, (static_cast<double>(k) + share) / static_cast<double>(parts));
    };
  }
  return part;
}

Execution quietly(const Execution& how) {
  return {.threads = how.threads, .diagnostics = false, .progress = {}, .stop = how.stop};
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "base/stages.h"

#include <algorithm>

#include "base/parallel.h"

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

void ParallelProgress::report(std::size_t part, double share) {
  if (!how_.progress) return;
  const std::lock_guard lock(guard_);
  sum_ += share - share_[part];
  share_[part] = share;
  how_.progress(stage_, std::min(1.0, sum_ / static_cast<double>(share_.size())));
}

Execution ParallelProgress::of(std::size_t part) {
  Execution own = how_;
  own.threads = std::max<std::size_t>(1, thread_count(how_) / share_.size());
  if (how_.progress) {
    own.progress = [this, part](std::string_view, double share) { report(part, share); };
  }
  return own;
}

}  // namespace tare

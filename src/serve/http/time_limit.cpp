// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/time_limit.h"

#include "serve/http/refusal.h"

namespace tare::serve {

void TimeLimit::check() const {
  const bool told = stop_ != nullptr && stop_->load(std::memory_order_relaxed);
  if (!told && Clock::now() <= end_) return;
  refuse(503, "the request was not answered within the time limit (send fewer rows)");
}

}  // namespace tare::serve

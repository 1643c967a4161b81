// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "serve/http/time_limit.h"
#include "serve/model/model_holder.h"
#include "serve/monitor/observations.h"
#include "serve/online/online_teacher.h"
#include "serve/rows_request.h"

namespace tare::serve {

struct OnlineOutcome {
  std::size_t learned = 0;
  Observations::Outcome watched;
};

/// Teaches the rows of a request in their order, one at a time, so that predictions are answered
/// in between, and counts the coverage of the monitored interval. Throws Refusal; its detail says
/// how many rows were learned before.
OnlineOutcome observe_online(const ObserveRequest& asked, const NumberedModel& now,
                             std::uint32_t lineage, OnlineTeacher& teacher,
                             Observations& observations, const TimeLimit& time);

}  // namespace tare::serve

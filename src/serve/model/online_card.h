// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/online/online_model.h"
#include "data/schema.h"

namespace tare::serve {

/// A central interval between two levels that the stream keeps.
struct OnlineInterval {
  double confidence = 0.0;
  double coverage = 0.0;  // so far; NaN before the first answer
  double bound = 1.0;     // proven, on |coverage - confidence|
};

/// What an online model has come to, as of now.
struct OnlineStatus {
  std::uint64_t rows = 0;      // learned
  std::uint64_t answered = 0;  // of these, after the warm-up
  std::vector<OnlineInterval> intervals;
  double drift_log_e = 0.0;
  double drift_threshold = 0.0;  // log e from which on there is an alarm
  std::optional<DriftAlarm> alarm;
};
OnlineStatus online_status(const OnlineModel& model);

/// The member "online" of a model's card: a JSON object.
std::string online_card_json(const OnlineModel& model, const Schema& schema);

}  // namespace tare::serve

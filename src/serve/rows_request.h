// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/answer.h"
#include "serve/http/limits.h"
#include "serve/http/message.h"
#include "serve/http/query.h"
#include "serve/model/served_model.h"
#include "tare/io/table.h"

namespace tare::serve {

/// What POST /v1/predict asks, whichever format it came in.
struct PredictRequest {
  BodyFormat format = BodyFormat::kJson;
  Predictor predictor;
  Table table;
};

/// `watch` is the interval whose coverage is watched. Bytes to rows: no clock, no sockets, no model
/// but its columns. Throws Refusal, with 400, 413, 415 or 422; nothing else, whatever the bytes
/// are.
PredictRequest parse_predict(const Request& request, const Target& target, const ServedModel& model,
                             const Limits& limits, double watch);

/// What POST /v1/observe brings: targets for rows that were predicted before, or rows with targets.
struct ObserveRequest {
  bool by_id = false;
  std::vector<std::string> ids;
  std::vector<double> targets;  // of ids
  Table table;                  // without ids
};
ObserveRequest parse_observe(const Request& request, const ServedModel& model,
                             const Limits& limits);

}  // namespace tare::serve

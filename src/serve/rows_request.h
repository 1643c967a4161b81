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

/// A request to POST /v1/predict, in any format.
struct PredictRequest {
  BodyFormat format = BodyFormat::kJson;
  Predictor predictor;
  Table table;
};

/// `watch` is the interval whose coverage is monitored. Converts bytes to rows; uses no sockets,
/// and only the columns of the model. For any bytes it throws only Refusal, with 400, 413, 415 or
/// 422, and with 503 after the request's time.
PredictRequest parse_predict(const Request& request, const Target& target, const ServedModel& model,
                             const Limits& limits, double watch);

/// A request to POST /v1/observe: targets of rows that were predicted before, or rows with targets.
struct ObserveRequest {
  bool by_id = false;
  std::vector<std::string> ids;  // by_id: of the targets; else of the rows, or empty
  std::vector<double> targets;   // by_id
  Table table;                   // not by_id
};
ObserveRequest parse_observe(const Request& request, const Target& target, const ServedModel& model,
                             const Limits& limits);

}  // namespace tare::serve

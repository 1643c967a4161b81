// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/online_card.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tare::serve {
namespace {

using CardJson = nlohmann::ordered_json;

OnlineStatus stream_status(const OnlineStream& stream) {
  constexpr double kRoundingOfLevels = 1e-9;
  OnlineStatus status;
  status.rows = stream.time();
  status.answered = stream.answered();
  const std::vector<Level>& levels = stream.options().levels;
  for (std::size_t i = 0; i < levels.size() / 2; ++i) {
    for (std::size_t j = levels.size() - 1; j > i; --j) {
      const double low = levels[i].value();
      if (std::abs(low + levels[j].value() - 1.0) > kRoundingOfLevels) continue;
      const double confidence = levels[j].value() - low;
      status.intervals.push_back(
          {.confidence = std::round(confidence / kRoundingOfLevels) * kRoundingOfLevels,
           .coverage = stream.share_between(i, j),
           .bound = std::min(1.0, stream.bound(i) + stream.bound(j))});
    }
  }
  status.drift_log_e = stream.drift().log_e();
  status.drift_threshold = -std::log(stream.options().drift_rate);
  status.alarm = stream.drift().alarm();
  if (status.alarm) {  // the watch counts from the end of the warm-up
    status.alarm->row += stream.options().start;
    status.alarm->change += stream.options().start;
  }
  return status;
}

CardJson number_or_null(double value) {
  return std::isfinite(value) ? CardJson(value) : CardJson();
}

CardJson alarm_json(const DriftAlarm& alarm, const std::vector<DriftCause>& causes,
                    const std::vector<std::string>& names) {
  CardJson json = {{"row", alarm.row},
                   {"change", alarm.change},
                   {"scale", number_or_null(alarm.scale)},
                   {"shift", number_or_null(alarm.shift)},
                   {"causes", CardJson::array()}};
  for (const DriftCause& cause : causes) {
    if (names.empty()) break;
    json["causes"].push_back({{"column", names[cause.feature % names.size()]},
                              {"from", cause.low},
                              {"to", cause.high},
                              {"kind", cause.kind == DriftKind::kSpread ? "spread" : "location"},
                              {"p", cause.adjusted}});
  }
  return json;
}

}  // namespace

OnlineStatus online_status(const OnlineModel& model) {
  OnlineStatus status;
  model.look([&](const OnlineStream& stream) { status = stream_status(stream); });
  return status;
}

std::string online_card_json(const OnlineModel& model, const Schema& schema) {
  OnlineStatus status;
  std::vector<DriftCause> causes;
  CardJson levels = CardJson::array();
  model.look([&](const OnlineStream& stream) {
    status = stream_status(stream);
    if (status.alarm) causes = stream.drift().explain();
    for (std::size_t j = 0; j < stream.options().levels.size(); ++j) {
      levels.push_back({{"level", stream.options().levels[j].value()},
                        {"share_below", number_or_null(stream.share_below(j))},
                        {"bound", stream.bound(j)}});
    }
  });
  const StreamOptions& options = model.stream().options();  // never change
  CardJson json = {
      {"method", options.method},
      {"source", model.base() != nullptr ? "model"
                 : model.given() > 0     ? "column"
                                         : "own"},
      {"base_method", model.base() != nullptr ? CardJson(model.base()->method) : CardJson()},
      {"rows", status.rows},
      {"answered", status.answered},
      {"start", options.start},
      {"delay", options.delay},
      {"levels", std::move(levels)},
      {"intervals", CardJson::array()}};
  for (const OnlineInterval& interval : status.intervals) {
    json["intervals"].push_back({{"confidence", interval.confidence},
                                 {"coverage", number_or_null(interval.coverage)},
                                 {"bound", interval.bound}});
  }
  json["drift"] = {
      {"rate", options.drift_rate},
      {"log_e", number_or_null(status.drift_log_e)},
      {"threshold", status.drift_threshold},
      {"alarm",
       status.alarm ? alarm_json(*status.alarm, causes, schema.feature_names()) : CardJson()}};
  return json.dump();
}

}  // namespace tare::serve

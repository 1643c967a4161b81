// SPDX-License-Identifier: BSD-3-Clause
#include "serve/rows_request.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "apply/level_columns.h"
#include "base/strings.h"
#include "io/byte_source.h"
#include "io/csv.h"
#include "serve/http/refusal.h"
#include "serve/model/predict_rows.h"
#include "serve/rows/json_body.h"

namespace tare::serve {
namespace {

using Requests = std::function<std::vector<ColumnRequest>(const std::vector<std::string>& header)>;

/// Rows of a CSV body, with the columns that are asked for.
Table parse_csv_body(const std::string& body, const Requests& requests, std::size_t most_rows) {
  constexpr std::size_t kLeastBlock = 4'096;
  try {
    CsvReader reader(bytes_in_memory("body", body),
                     std::clamp(body.size() + 1, kLeastBlock, CsvReader::kBlockBytes));
    reader.use_threads(1);
    reader.select(requests(reader.header()));
    Table table;
    reader.read(table, most_rows + 1);
    if (table.rows() > most_rows) {
      refuse(413, "more than {} rows in one request (send them in several)", most_rows);
    }
    return table;
  } catch (const Error& error) {
    const Refusal refusal = refusal_of(error, RowNames::kLines);
    // A column to keep is asked for in the query, not in the body.
    if (error.details().option == "keep") throw Refusal(400, refusal.detail());
    throw refusal;
  }
}

/// The levels in the body or in the query.
void ask_levels(const Target& target, const JsonBody& body, std::size_t most,
                PredictOptions& options) {
  const auto list = [&](const std::optional<std::vector<double>>& in_body, const char* name) {
    return in_body ? *in_body : parse_level_list(target.parameter(name).value_or(""), name);
  };
  options.levels = list(body.levels, "levels");
  options.intervals = list(body.intervals, "interval");
  const std::size_t count = options.levels.size() + 2 * options.intervals.size();
  if (count > most) {
    refuse(413,
           "{} levels were requested, but at most {} are allowed (request the rest separately)",
           count, most);
  }
  if (count == 0) options.levels.assign(usual_levels().begin(), usual_levels().end());
}

PredictOptions asked_options(const Target& target, const JsonBody& body, const Limits& limits,
                             double watch) {
  PredictOptions options;
  ask_levels(target, body, limits.levels, options);
  if (body.diagnostics) {
    options.diagnostics = *body.diagnostics;
  } else if (const auto asked = target.parameter("diagnostics")) {
    options.diagnostics = parse_truth(*asked, "diagnostics");
  }
  options.keep = split_names(target.parameter("keep").value_or(""));
  options.unnamed_levels = interval_ends(watch);
  return options;
}

Predictor predictor_for(const ServedModel& model, const Target& target, const JsonBody& body,
                        const Limits& limits, double watch) {
  try {
    return Predictor(model.fitted(), asked_options(target, body, limits, watch));
  } catch (const Error& error) {
    throw refusal_of(error);
  }
}

void check_cells(const PredictRequest& request, const Limits& limits) {
  const std::size_t per_row = request.predictor.names().size();
  if (request.table.rows() * per_row <= limits.cells) return;
  refuse(413,
         "{} rows with {} numbers each exceed the {} numbers that an answer may have (send the "
         "rows in several requests)",
         request.table.rows(), per_row, limits.cells);
}

}  // namespace

PredictRequest parse_predict(const Request& request, const Target& target, const ServedModel& model,
                             const Limits& limits, double watch) {
  const BodyFormat format = parse_body_format(request.content_type);
  if (target.parameter("keep") && format != BodyFormat::kCsv) {
    refuse(400, "keep works only with CSV (a client that sends JSON already has its columns)");
  }
  JsonBody body;
  if (format == BodyFormat::kJson) {
    body = parse_json_body(
        request.body,
        {model.features(), limits.rows, {"rows", "levels", "interval", "diagnostics"}});
    if (!body.table)
      refuse(400, "the body has no 'rows' (send for example {{\"rows\": [{{\"a\": 1}}]}})");
  }
  PredictRequest out{format, predictor_for(model, target, body, limits, watch), {}};
  if (format == BodyFormat::kJson) {
    out.table = std::move(*body.table);
  } else if (format == BodyFormat::kNdjson) {
    out.table = parse_ndjson_body(request.body, model.features(), limits.rows);
  } else {
    const auto requests = [&](const std::vector<std::string>& header) {
      return out.predictor.requests("body", header);
    };
    out.table = parse_csv_body(request.body, requests, limits.rows);
  }
  check_cells(out, limits);
  return out;
}

ObserveRequest parse_observe(const Request& request, const ServedModel& model,
                             const Limits& limits) {
  ObserveRequest out;
  const BodyFormat format = parse_body_format(request.content_type);
  if (format == BodyFormat::kNdjson) {
    out.table = parse_ndjson_body(request.body, model.features_and_target(), limits.rows);
    return out;
  }
  if (format == BodyFormat::kCsv) {
    const auto requests = [&](const std::vector<std::string>& header) {
      return model.schema().requests("body", header, Need::kFeaturesAndTarget);
    };
    out.table = parse_csv_body(request.body, requests, limits.rows);
    return out;
  }
  JsonBody body = parse_json_body(
      request.body, {model.features_and_target(), limits.rows, {"rows", "ids", "targets"}});
  out.by_id = body.ids.has_value();
  if (out.by_id == body.table.has_value() || out.by_id != body.targets.has_value()) {
    refuse(400, "the body must have either 'rows' with their target '{}', or 'ids' and 'targets'",
           model.schema().target());
  }
  if (!out.by_id) {
    out.table = std::move(*body.table);
    return out;
  }
  out.ids = std::move(*body.ids);
  out.targets = std::move(*body.targets);
  if (out.ids.size() != out.targets.size()) {
    refuse(422, "there are {} ids but {} targets (each id needs one target)", out.ids.size(),
           out.targets.size());
  }
  return out;
}

}  // namespace tare::serve

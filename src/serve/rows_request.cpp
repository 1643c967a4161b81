// SPDX-License-Identifier: BSD-3-Clause
#include "serve/rows_request.h"

#include <algorithm>
#include <utility>

#include "apply/kept_columns.h"
#include "base/strings.h"
#include "io/byte_source.h"
#include "io/csv.h"
#include "serve/http/problem.h"
#include "serve/rows/json_body.h"

namespace tare::serve {
namespace {

std::vector<std::string> columns_to_keep(const std::string& text, const CsvReader& reader) {
  std::vector<std::string> named;
  if (trim(text).empty()) return named;
  for (const std::string& item : split_text(text, ',')) named.emplace_back(trim(item));
  try {
    return kept_columns(reader.source(), reader.header(), named);
  } catch (const Error& error) {
    throw Problem(400, problem_of(error).detail());
  }
}

/// Rows of a CSV body, with the cells of the columns to keep. An empty text keeps none; what is
/// kept is written to `kept`.
Table parse_csv_body(const std::string& body, const Schema& schema, Need need,
                     const std::string& keep, std::vector<std::string>& kept,
                     std::size_t most_rows) {
  constexpr std::size_t kLeastBlock = 4'096;
  try {
    CsvReader reader(bytes_in_memory("body", body),
                     std::clamp(body.size() + 1, kLeastBlock, CsvReader::kBlockBytes));
    reader.use_threads(1);
    kept = columns_to_keep(keep, reader);
    std::vector<ColumnRequest> requests = schema.requests("body", reader.header(), need);
    keep_raw(reader.header(), kept, requests);
    reader.select(std::move(requests));
    Table table;
    reader.read(table, most_rows + 1);
    if (table.rows() > most_rows) {
      refuse(413, "more than {} rows in one request (send them in several)", most_rows);
    }
    return table;
  } catch (const Error& error) {
    throw problem_of(error, RowNames::kLines);
  }
}

/// The levels in the body or in the query.
LevelColumns asked_levels(const Target& target, const JsonBody& body, std::size_t most) {
  const auto list = [&](const std::optional<std::vector<double>>& in_body, const char* name) {
    return in_body ? *in_body : parse_level_list(target.parameter(name).value_or(""), name);
  };
  try {
    const std::vector<double> levels = list(body.levels, "levels");
    const std::vector<double> intervals = list(body.intervals, "interval");
    if (levels.size() + 2 * intervals.size() > most) {
      refuse(413,
             "{} levels were asked for, and {} is the most (ask for the rest in another request)",
             levels.size() + 2 * intervals.size(), most);
    }
    return level_columns(levels, intervals);
  } catch (const Error& error) {
    throw problem_of(error);
  }
}

}  // namespace

PredictRequest parse_predict(const Request& request, const Target& target, const ServedModel& model,
                             const Limits& limits) {
  PredictRequest out;
  out.format = parse_body_format(request.content_type);
  const auto keep = target.parameter("keep");
  if (keep && out.format != BodyFormat::kCsv) {
    refuse(400, "keep is for CSV (a client that sends JSON has its columns already)");
  }
  JsonBody body;
  if (out.format == BodyFormat::kJson) {
    body = parse_json_body(
        request.body,
        {model.features(), limits.rows, {"rows", "levels", "interval", "diagnostics"}});
    if (!body.table) refuse(400, "the body has no 'rows' (such as {{\"rows\": [{{\"a\": 1}}]}})");
    out.table = std::move(*body.table);
  } else if (out.format == BodyFormat::kNdjson) {
    out.table = parse_ndjson_body(request.body, model.features(), limits.rows);
  } else {
    out.table = parse_csv_body(request.body, model.schema(), Need::kFeatures,
                               std::string(keep.value_or("")), out.keep, limits.rows);
  }
  out.levels = asked_levels(target, body, limits.levels);
  if (body.diagnostics) {
    out.diagnostics = *body.diagnostics;
  } else if (const auto asked = target.parameter("diagnostics")) {
    out.diagnostics = parse_truth(*asked, "diagnostics");
  }
  const std::size_t per_row = out.levels.levels.size() * (out.diagnostics ? 3 : 1);
  if (out.table.rows() * per_row > limits.cells) {
    refuse(413,
           "{} rows with {} numbers each are more than the {} that an answer may have (send "
           "them in several requests)",
           out.table.rows(), per_row, limits.cells);
  }
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
    std::vector<std::string> kept;
    out.table = parse_csv_body(request.body, model.schema(), Need::kFeaturesAndTarget, "", kept,
                               limits.rows);
    return out;
  }
  JsonBody body = parse_json_body(
      request.body, {model.features_and_target(), limits.rows, {"rows", "ids", "targets"}});
  out.by_id = body.ids.has_value();
  if (out.by_id == body.table.has_value() || out.by_id != body.targets.has_value()) {
    refuse(400, "the body has either 'rows' with their target '{}', or 'ids' and 'targets'",
           model.schema().target());
  }
  if (!out.by_id) {
    out.table = std::move(*body.table);
    return out;
  }
  out.ids = std::move(*body.ids);
  out.targets = std::move(*body.targets);
  if (out.ids.size() != out.targets.size()) {
    refuse(422, "there are {} ids and {} targets (each id needs one)", out.ids.size(),
           out.targets.size());
  }
  return out;
}

}  // namespace tare::serve

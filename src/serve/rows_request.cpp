// SPDX-License-Identifier: BSD-3-Clause
#include "serve/rows_request.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "io/byte_source.h"
#include "io/csv.h"
#include "serve/json_body.h"
#include "serve/problem.h"

namespace tare::serve {
namespace {

std::vector<std::string> columns_to_keep(const std::string& text, const CsvReader& reader) {
  if (trim(text).empty()) return {};
  const std::vector<std::string>& header = reader.header();
  std::vector<std::string> keep;
  for (const std::string& item : split_text(text, ',')) keep.emplace_back(trim(item));
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(header, name) != header.end();
  };
  if (keep.size() == 1 && keep.front() == "all" && !is_there("all")) return header;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!is_there(keep[i])) {
      refuse(400, "keep: the body has no column '{}' (keep=all keeps every one there is)", keep[i]);
    }
    if (std::find(keep.begin(), keep.begin() + static_cast<std::ptrdiff_t>(i), keep[i]) !=
        keep.begin() + static_cast<std::ptrdiff_t>(i)) {
      refuse(400, "keep: '{}' is there twice (once is enough)", keep[i]);
    }
  }
  return keep;
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
    for (std::size_t j = 0; j < requests.size(); ++j) {
      const bool is_kept = std::ranges::find(kept, reader.header()[j]) != kept.end();
      requests[j].raw = requests[j].raw || is_kept;
    }
    reader.select(std::move(requests));
    Table table;
    reader.read(table, most_rows + 1);
    if (table.rows() > most_rows) {
      refuse(413, "more than {} rows in one request (send them in several)", most_rows);
    }
    return table;
  } catch (const Error& error) {
    throw problem_of(error);
  }
}

std::vector<double> list_of(const Target& target, const std::optional<std::vector<double>>& in_body,
                            std::string_view name) {
  if (in_body) return *in_body;
  return parse_level_list(target.parameter(name).value_or(""), name);
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
  out.levels = level_columns(list_of(target, body.levels, "levels"),
                             list_of(target, body.intervals, "interval"), limits.levels);
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

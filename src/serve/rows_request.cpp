// SPDX-License-Identifier: BSD-3-Clause
#include "serve/rows_request.h"

#include <algorithm>
#include <utility>

#include "apply/kept_columns.h"
#include "apply/level_columns.h"
#include "base/strings.h"
#include "online/journal/journal_row.h"
#include "serve/http/refusal.h"
#include "serve/model/predict_rows.h"
#include "serve/rows/csv_body.h"
#include "serve/rows/json_body.h"
#include "tare/calibrate/shortest_sets.h"

namespace tare::serve {
namespace {

/// The levels in the body or in the query.
void ask_levels(const Target& target, const JsonBody& body, std::size_t most,
                PredictOptions& options) {
  const auto list = [&](const std::optional<std::vector<double>>& in_body, const char* name) {
    return in_body ? *in_body : parse_level_list(target.parameter(name).value_or(""), name);
  };
  options.levels = list(body.levels, "levels");
  options.intervals = list(body.intervals, "interval");
  options.set("set", body.set ? *body.set : target.parameter("set").value_or(""));
  const bool shortest = options.form == SetForm::kShortest;
  const std::size_t count =
      options.levels.size() + (shortest ? kSetColumns : 2) * options.intervals.size();
  if (count > most) {
    refuse(413,
           "{} levels were requested, but at most {} are allowed (request the rest separately)",
           count, most);
  }
  if (count == 0 && !options.cost && !shortest)
    options.levels.assign(usual_levels().begin(), usual_levels().end());
}

/// The costs of a body. Throws Refusal, and Error as Cost does.
Cost cost_of(const CostBody& body) {
  const bool is_pair = body.over || body.under;
  const bool is_table = body.action || body.outcome || body.cost;
  if (is_pair == is_table) {
    refuse(400,
           "'cost' must have either 'over' and 'under', or the lists 'action', 'outcome' and "
           "'cost'");
  }
  if (is_pair) {
    if (!body.over || !body.under) {
      refuse(400, "'cost' has no '{}' (send both)", body.over ? "under" : "over");
    }
    return Cost::over_under(*body.over, *body.under);
  }
  if (!body.action || !body.outcome || !body.cost) {
    refuse(400, "'cost' has no '{}' (a table has the lists 'action', 'outcome' and 'cost')",
           !body.action    ? "action"
           : !body.outcome ? "outcome"
                           : "cost");
  }
  const std::size_t count = body.action->size();
  if (body.outcome->size() != count || body.cost->size() != count) {
    refuse(422, "'cost' has {} actions, {} outcomes and {} costs (send one of each per entry)",
           count, body.outcome->size(), body.cost->size());
  }
  std::vector<Cost::Entry> entries(count);
  for (std::size_t i = 0; i < count; ++i) {
    entries[i] = {(*body.action)[i], (*body.outcome)[i], (*body.cost)[i]};
  }
  return Cost::table(entries);
}

PredictOptions asked_options(const Target& target, const JsonBody& body, const Limits& limits,
                             double watch) {
  PredictOptions options;
  if (body.cost) {
    options.cost = cost_of(*body.cost);
  } else if (const auto asked = target.parameter("cost")) {
    options.cost = Cost::parse_over_under(*asked);  // a path would be a file of the service's
  }
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

RowLimits row_limits(const Request& request, const Limits& limits) {
  return {limits.rows, limits.columns, request.time};
}

/// A window of a series repeats its rows, and a category takes a column for each of its values: a
/// short body may become many numbers.
void check_input_cells(const Table& table, const ServedModel& model, const Limits& limits) {
  const std::size_t per_row = std::max<std::size_t>(model.cells_per_row(), 1);
  if (table.rows() <= limits.input_cells / per_row) return;
  refuse(413,
         "{} rows become {} numbers each for this model, more than the {} that a request may have "
         "(send the rows in several requests)",
         table.rows(), per_row, limits.input_cells);
}

void check_cells(const PredictRequest& request, const Limits& limits) {
  const std::size_t per_row = request.predictor.names().size();
  if (request.table.rows() * per_row <= limits.cells) return;
  refuse(413,
         "{} rows with {} numbers each exceed the {} numbers that an answer may have (send the "
         "rows in several requests)",
         request.table.rows(), per_row, limits.cells);
}

/// Ids of rows tell which have been learned; a model that does not learn has no use for them.
void need_learner(const ServedModel& model) {
  if (model.online()) return;
  refuse(400,
         "ids of rows are for a model that learns, and this one does not (send the rows "
         "without ids)");
}

void request_ids(const std::vector<std::string>& header, std::string_view column,
                 std::vector<ColumnRequest>& requests) {
  if (std::ranges::find(header, column) == header.end()) {
    refuse(400, "the body has no column '{}', which the parameter id names",
           column.substr(0, kLongestRowId));
  }
  keep_raw(header, {std::string(column)}, requests);
}

std::vector<std::string> texts_of_column(const Table& table, std::string_view column) {
  std::vector<std::string> texts;
  const Column* const found = table.find(column);
  for (std::size_t i = 0; found != nullptr && i < table.rows(); ++i) {
    texts.emplace_back(found->raw[i]);
  }
  return texts;
}

void check_counts(std::size_t count, const char* name, std::size_t wanted, const char* of) {
  if (count == wanted) return;
  refuse(422, "there are {} {} but {} {} (each needs its own)", count, name, wanted, of);
}

void check_ids(const std::vector<std::string>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].size() <= kLongestRowId) continue;
    refuse_cell({.row = i}, "its id has {} bytes, but at most {} are allowed", ids[i].size(),
                kLongestRowId);
  }
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
    body =
        parse_json_body(request.body, {model.features(),
                                       row_limits(request, limits),
                                       {"rows", "levels", "interval", "set", "cost", "diagnostics"},
                                       limits.costs});
    if (!body.table)
      refuse(400, "the body has no 'rows' (send for example {{\"rows\": [{{\"a\": 1}}]}})");
  }
  PredictRequest out{format, predictor_for(model, target, body, limits, watch), {}};
  if (format == BodyFormat::kJson) {
    out.table = std::move(*body.table);
  } else if (format == BodyFormat::kNdjson) {
    out.table = parse_ndjson_body(request.body, model.features(), row_limits(request, limits));
  } else {
    const auto requests = [&](const std::vector<std::string>& header) {
      return out.predictor.requests("body", header);
    };
    out.table =
        parse_csv_body(request.body, requests, row_limits(request, limits), limits.input_cells);
  }
  check_cells(out, limits);
  check_input_cells(out.table, model, limits);
  return out;
}

ObserveRequest parse_observe(const Request& request, const Target& target, const ServedModel& model,
                             const Limits& limits) {
  ObserveRequest out;
  const RowLimits rows = row_limits(request, limits);
  const BodyFormat format = parse_body_format(request.content_type);
  const std::optional<std::string_view> id_column = target.parameter("id");
  if (id_column) need_learner(model);
  std::optional<ColumnPlan> with_ids;
  if (id_column) with_ids = model.features_and_target().with_ids(std::string(*id_column));
  const ColumnPlan& plan = with_ids ? *with_ids : model.features_and_target();
  if (format == BodyFormat::kNdjson) {
    out.table = parse_ndjson_body(request.body, plan, rows);
  } else if (format == BodyFormat::kCsv) {
    const auto requests = [&](const std::vector<std::string>& header) {
      auto wanted = model.schema().requests("body", header, Need::kFeaturesAndTarget);
      if (id_column) request_ids(header, *id_column, wanted);
      return wanted;
    };
    out.table = parse_csv_body(request.body, requests, rows, limits.input_cells);
  } else {
    JsonBody body = parse_json_body(request.body, {plan, rows, {"rows", "ids", "targets"}, 0});
    out.by_id = body.targets.has_value();
    if (out.by_id == body.table.has_value() || (out.by_id && !body.ids)) {
      refuse(400, "the body must have either 'rows' with their target '{}', or 'ids' and 'targets'",
             model.schema().target());
    }
    if (body.ids) out.ids = std::move(*body.ids);
    if (out.by_id) {
      out.targets = std::move(*body.targets);
      check_counts(out.ids.size(), "ids", out.targets.size(), "targets");
      return out;
    }
    out.table = std::move(*body.table);
    if (body.ids) {
      need_learner(model);
      if (id_column) refuse(400, "both 'ids' and the parameter id name the rows (use one of them)");
      check_counts(out.ids.size(), "ids", out.table.rows(), "rows");
    }
  }
  if (id_column) out.ids = texts_of_column(out.table, *id_column);
  check_ids(out.ids);
  check_input_cells(out.table, model, limits);
  return out;
}

}  // namespace tare::serve

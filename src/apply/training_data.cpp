// SPDX-License-Identifier: BSD-3-Clause
#include "apply/training_data.h"

#include <utility>

#include "apply/quantile_columns.h"
#include "base/fail.h"
#include "data/windows.h"
#include "io/csv.h"
#include "io/select_columns.h"

namespace tare {
namespace {

/// split=by:COLUMN=VALUE is about a column of the table; every other form is the method's.
struct ColumnSplit {
  std::string column;
  std::string value;
};

ColumnSplit parse_column_split(const std::string& text) {
  constexpr std::string_view kMark = "by:";
  if (!text.starts_with(kMark)) return {};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == kMark.size()) {
    fail_option("split", text, "by:COLUMN=VALUE calibrates on the rows where COLUMN is VALUE");
  }
  return {text.substr(kMark.size(), equals - kMark.size()), text.substr(equals + 1)};
}

std::vector<std::uint8_t> flag_rows(const Table& table, const ColumnSplit& by,
                                    const std::vector<std::size_t>& rows) {
  const Column& column = *table.find(by.column);
  std::vector<std::uint8_t> flag;
  std::size_t flagged = 0;
  for (const std::size_t i : rows) {
    const std::int32_t code = column.codes[i];
    const bool calibrates =
        code >= 0 && column.vocabulary[static_cast<std::size_t>(code)] == by.value;
    flagged += calibrates ? 1 : 0;
    flag.push_back(calibrates ? 1 : 0);
  }
  if (flagged == 0 || flagged == rows.size()) {
    fail(ErrorCode::kBadData, {.source = table.source, .option = "split", .named_in_problem = true},
         "{} of {} rows have {}={}; the calibration part and the training part both need rows",
         flagged, rows.size(), by.column, by.value);
  }
  return flag;
}

/// Columns of x for the point model; empty where it may use all.
std::vector<std::size_t> model_columns(const Schema& schema, bool has_regressor) {
  const auto columns = schema.model_columns();
  const std::size_t all = schema.feature_names().size();
  if (columns.empty() && all > 0 && has_regressor) {
    fail(
        ErrorCode::kInvalidArgument,
        {.option = "features",
         .remedies = {{"leave it at least one by", "features", "", ""},
                      use("method", "pure_kernel")},
         .named_in_problem = true},
        "no feature is left for the point model: all remaining columns are features of the kernel");
  }
  return columns.size() < all ? columns : std::vector<std::size_t>{};
}

Roles roles_of(const FitOptions& options, const std::string& source,
               const std::vector<std::string>& header) {
  Roles roles;
  roles.target = options.target;
  roles.weight = options.weight;
  roles.prediction = options.prediction;
  roles.prediction_sd = options.prediction_sd;
  roles.split = parse_column_split(options.split).column;
  roles.group = options.group;
  roles.features = options.features;
  roles.drop = options.drop;
  roles.categorical = options.categorical;
  if (!finds_columns(options)) roles.calibrate_on = options.calibrate_on;
  if (!options.prediction_quantiles.empty()) {
    // A pattern leaves alone what already has a part.
    std::vector<std::string> taken = roles.drop;
    for (const std::string& name : {roles.target, roles.weight, roles.split}) taken.push_back(name);
    roles.prediction_quantiles =
        find_quantile_columns(options.prediction_quantiles, source, header, taken);
  }
  return roles;
}

/// The rows of shift_to with the columns that the model sees.
Table rows_to_come(const Schema& schema, const FitOptions& options, std::size_t threads) {
  if (options.shift_to) {
    const Table& table = *options.shift_to;
    return select_columns(table, schema.requests(table.source, table.names(), Need::kFeatures));
  }
  CsvReader reader(options.shift_to_file);
  reader.use_threads(threads);
  reader.select(schema.requests(reader.source(), reader.header(), Need::kFeatures));
  return read_all(reader);
}

}  // namespace

FitInput TrainingData::input(Seed seed) const {
  FitInput input{.x = encoded.x, .y = encoded.y, .weight = encoded.weight, .given = encoded.given};
  input.given_form = schema->given_form();
  input.names = schema->feature_names();
  input.model_columns = model_columns;
  input.calibrate_columns = calibrate_columns;
  input.calibrate_rows = calibrate_rows;
  input.group = group;
  input.window = schema->window();
  if (shift.shift) {
    input.weight = shift.weight;
    input.shift = shift.shift;
  }
  input.seed = seed;
  return input;
}

bool splits_by_column(const FitOptions& options) {
  return !parse_column_split(options.split).column.empty();
}

bool finds_columns(const FitOptions& options) {
  return options.calibrate_on.size() == 1 && options.calibrate_on.front() == "auto";
}

std::vector<ColumnRequest> fit_requests(const std::string& source,
                                        const std::vector<std::string>& header,
                                        const FitOptions& options) {
  auto requests = Schema::fit_requests(source, header, roles_of(options, source, header));
  if (options.outside_model) {
    for (ColumnRequest& request : requests) {
      request.raw = request.raw || request.kind != ColumnKind::kSkip;
    }
  }
  return requests;
}

TrainingData make_training_data(const Table& table, const FitOptions& options, std::size_t window,
                                bool trains) {
  const ColumnSplit by = parse_column_split(options.split);
  const Roles roles = roles_of(options, table.source, table.names());
  auto schema = std::make_shared<Schema>(Schema::learn(table, roles));
  schema->set_missing(options.missing);
  schema->set_window(window);
  schema->set_predictor(options.predictor);
  TrainingData data;
  data.encoded = schema->encode(table, Need::kFeaturesAndTarget, options.missing);
  if (options.outside_model) {
    const auto predicted = options.outside_model(table, schema->model_inputs(), data.encoded.rows);
    if (predicted.size() != data.encoded.rows.size()) {
      fail(ErrorCode::kShapeMismatch, "the outside model returned {} predictions for {} rows",
           predicted.size(), data.encoded.rows.size());
    }
    data.encoded.given = Matrix(predicted, predicted.size(), 1);
  }
  const std::size_t width = data.encoded.x.cols();
  Windows windows(window);
  windows.apply(data.encoded);
  data.without_window = windows.left_out();
  if (!by.column.empty()) data.calibrate_rows = flag_rows(table, by, data.encoded.rows);
  if (!options.group.empty()) {
    schema->set_group(GroupColumn(table, options.group, data.encoded.rows));
    data.group = schema->group().codes(table, data.encoded.rows);
  }
  data.model_columns = at_every_step(model_columns(*schema, trains), width, window);
  data.calibrate_columns = at_last_step(schema->columns_of(roles.calibrate_on), width, window);
  data.schema = std::move(schema);
  return data;
}

void shift_training_data(TrainingData& data, const FitOptions& options, const Execution& how) {
  constexpr std::uint64_t kSeedPart = 3003;
  if (!options.shift_to && options.shift_to_file.empty()) return;
  const Table fresh = rows_to_come(*data.schema, options, how.threads);
  Encoded rows = data.schema->encode(fresh, Need::kFeatures, options.missing);
  Windows windows(data.schema->window());
  windows.apply(rows);
  try {
    data.shift = weigh_towards(data.encoded.x, data.encoded.weight, rows.x,
                               split(options.seed, kSeedPart), how);
  } catch (const Error& error) {
    ErrorDetails details = error.details();
    details.source = fresh.source;
    details.option = "shift_to";
    fail(error.code(), std::move(details), "{}", error.problem());
  }
}

}  // namespace tare

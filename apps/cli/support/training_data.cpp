// SPDX-License-Identifier: BSD-3-Clause
#include "support/training_data.h"

#include <chrono>
#include <utility>

#include "base/fail.h"
#include "data/external_model.h"
#include "data/windows.h"
#include "io/csv.h"
#include "support/levels.h"
#include "support/quantile_columns.h"

namespace tare::cli {
namespace {

/// --split by:COL=VALUE is about a column of the file; every other form is the method's.
struct ColumnSplit {
  std::string column;
  std::string value;
};

ColumnSplit parse_column_split(const std::string& text) {
  constexpr std::string_view kMark = "by:";
  if (!text.starts_with(kMark)) return {};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == kMark.size()) {
    fail(ErrorCode::kInvalidArgument,
         "--split by:COL=VALUE calibrates on the rows whose COL is VALUE, got '{}'", text);
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
    fail(ErrorCode::kBadData, "{}: {} of {} rows have {}={}; both parts need rows", table.source,
         flagged, rows.size(), by.column, by.value);
  }
  return flag;
}

/// Columns of x for the point model; empty where it may use all.
std::vector<std::size_t> model_columns(const Schema& schema, bool has_regressor) {
  const auto columns = schema.model_columns();
  const std::size_t all = schema.feature_names().size();
  if (columns.empty() && all > 0 && has_regressor) {
    fail(ErrorCode::kInvalidArgument,
         "--features and --drop leave no feature for the point model, only columns to calibrate on "
         "(leave it at least "
         "one, or use --method pure_kernel)");
  }
  return columns.size() < all ? columns : std::vector<std::size_t>{};
}

Roles roles_of(const FitOptions& options, const ColumnSplit& by, const CsvReader& reader) {
  Roles roles;
  roles.target = options.target;
  roles.weight = options.weight;
  roles.prediction = options.prediction;
  roles.prediction_sd = options.prediction_sd;
  roles.split = by.column;
  roles.group = options.group;
  roles.features = parse_names(options.features);
  roles.drop = parse_names(options.drop);
  roles.categorical = parse_names(options.categorical);
  if (!finds_columns(options)) roles.calibrate_on = parse_names(options.calibrate_on);
  if (!options.prediction_quantiles.empty()) {
    // A pattern leaves alone what already has a part.
    std::vector<std::string> taken = roles.drop;
    for (const std::string& name : {roles.target, roles.weight, roles.split}) taken.push_back(name);
    roles.prediction_quantiles = find_quantile_columns(options.prediction_quantiles,
                                                       reader.source(), reader.header(), taken);
  }
  return roles;
}

Table read_table(CsvReader& reader, const FitOptions& options, const Roles& roles) {
  auto requests = Schema::fit_requests(reader.source(), reader.header(), roles);
  if (!options.predictor.empty()) {
    for (ColumnRequest& request : requests) {
      request.raw = request.raw || request.kind != ColumnKind::kSkip;
    }
  }
  reader.select(std::move(requests));
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

void shift_training_data(TrainingData& data, const std::string& path, const FitOptions& options,
                         const Execution& how) {
  constexpr std::uint64_t kSeedPart = 3003;
  CsvReader reader(path);
  reader.use_threads(how.threads);
  reader.select(data.schema->requests(reader.source(), reader.header(), Need::kFeatures));
  const Table table = read_all(reader);
  Encoded fresh =
      data.schema->encode(table, Need::kFeatures, parse_missing_policy(options.missing));
  Windows windows(data.schema->window());
  windows.apply(fresh);
  try {
    data.shift = weigh_towards(data.encoded.x, data.encoded.weight, fresh.x,
                               split(Seed{options.seed}, kSeedPart), how);
  } catch (const Error& error) {
    throw error.in_source("--shift-to " + reader.source());
  }
}

bool splits_by_column(const FitOptions& options) {
  return !parse_column_split(options.split).column.empty();
}

TrainingData read_training_data(const FitOptions& options, std::size_t window, bool trains,
                                std::size_t threads) {
  const MissingPolicy missing = parse_missing_policy(options.missing);
  const ColumnSplit by = parse_column_split(options.split);
  CsvReader reader(options.data);
  reader.use_threads(threads);
  const Roles roles = roles_of(options, by, reader);
  const Table table = read_table(reader, options, roles);

  auto schema = std::make_shared<Schema>(Schema::learn(table, roles));
  schema->set_missing(missing);
  schema->set_window(window);
  schema->set_predictor(options.predictor);
  TrainingData data;
  data.source = table.source;
  data.encoded = schema->encode(table, Need::kFeaturesAndTarget, missing);
  if (!options.predictor.empty()) {
    const ExternalModel external{
        options.predictor,
        std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000.0))};
    const auto predicted = run_external_model(external, *schema, table, data.encoded.rows);
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

}  // namespace tare::cli

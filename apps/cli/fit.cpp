// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "bar.h"
#include "base/fail.h"
#include "base/strings.h"
#include "command.h"
#include "data/external_model.h"
#include "data/schema.h"
#include "io/atomic_file.h"
#include "io/csv.h"
#include "io/tensor_store.h"
#include "levels.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"
#include "text_table.h"

namespace tare::cli {
namespace {

/// Options whose names and meanings are the method's own; they travel as Params.
constexpr const char* kMethodOptions[][2] = {
    {"regressor", "Point model f: ridge, forest, boosting, zero"},
    {"reducer", "Features of the kernel: none, projection, correlation"},
    {"dims", "Features left by the reducer [4]"},
    {"scale", "Of the kernel's features: standard, none [standard]"},
    {"kernel", "naive, epanechnikov, triangular, tricube, gaussian, laplace, knn [gaussian]"},
    {"bandwidth", "auto, rate, rate:C, a number in units of the scaled features (of rows for knn), infinite [auto]"},
    {"folds", "Folds of --split cross [5]"},
    {"fallback", "Where no calibration row is in reach: nearest, marginal [nearest]"},
    {"min-support", "Rows of the nearest fallback [20]"},
};

struct FitOptions {
  std::string data;
  std::string output;
  std::string method;
  std::string target, prediction, predictor, weight;
  std::string features, drop, categorical, calibrate_on;
  std::string missing = "error";
  std::string split;
  std::vector<std::string> settings;  // --set name=value
  std::vector<std::string> method_options = std::vector<std::string>(std::size(kMethodOptions));
  double timeout_s = 60.0;
  std::uint64_t seed = 0;
  bool force = false;
};

Params params_of(const FitOptions& options) {
  Params params;
  for (std::size_t k = 0; k < std::size(kMethodOptions); ++k) {
    if (!options.method_options[k].empty()) {
      params.set(canonical_name(kMethodOptions[k][0]), options.method_options[k]);
    }
  }
  for (const std::string& setting : options.settings) {
    const std::size_t mark = setting.find('=');
    if (mark == std::string::npos || mark == 0) {
      fail(ErrorCode::kInvalidArgument, "--set takes NAME=VALUE, got '{}'", setting);
    }
    params.set(canonical_name(setting.substr(0, mark)), setting.substr(mark + 1));
  }
  return params;
}

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
    fail(ErrorCode::kInvalidArgument, "--split by:COL=VALUE calibrates on the rows whose COL is VALUE, got '{}'",
         text);
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
    const bool calibrates = code >= 0 && column.vocabulary[static_cast<std::size_t>(code)] == by.value;
    flagged += calibrates ? 1 : 0;
    flag.push_back(calibrates ? 1 : 0);
  }
  if (flagged == 0 || flagged == rows.size()) {
    fail(ErrorCode::kBadData, "{}: {} of {} rows have {}={}; both parts need rows", table.source, flagged,
         rows.size(), by.column, by.value);
  }
  return flag;
}

void check_output(const FitOptions& options) {
  struct stat status {};
  const bool exists = ::stat(options.output.c_str(), &status) == 0;
  // Who reads from a pipe must not see it open and close twice.
  if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return;
  const AtomicFile probe(options.output, options.force ? Overwrite::kAllow : Overwrite::kRefuse);
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

/// Fits, and puts the file's name before what is wrong with its rows.
std::unique_ptr<QuantileModel> fit_rows(const std::string& source, const Method& method,
                                        const FitInput& input, const Params& params,
                                        const Execution& how) {
  try {
    return fit_method(method, input, params, how);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData) throw;
    fail(error.code(), "{}: {}", source, error.what());
  }
}

std::string chosen_method(const FitOptions& options) {
  if (!options.method.empty()) return options.method;
  const bool given = !options.prediction.empty() || !options.predictor.empty();
  return given ? "nrc" : "nrc_rf";
}

void run_fit(const FitOptions& options, const Common& common) {
  const auto start = std::chrono::steady_clock::now();
  // What can be known to be wrong is said before any work.
  check_output(options);
  const Method& method = find_method(chosen_method(options));
  const MissingPolicy missing = parse_missing_policy(options.missing);
  const ColumnSplit by = parse_column_split(options.split);
  Params params = params_of(options);
  if (!options.split.empty() && by.column.empty()) params.set("split", options.split);
  if (!options.prediction.empty() && !options.predictor.empty()) {
    fail(ErrorCode::kInvalidArgument, "--prediction and --predictor both name a point model; give one");
  }

  Bar bar(common);
  bar.show("reading", 0.0);
  Roles roles;
  roles.target = options.target;
  roles.weight = options.weight;
  roles.prediction = options.prediction;
  roles.split = by.column;
  roles.features = parse_names(options.features);
  roles.drop = parse_names(options.drop);
  roles.categorical = parse_names(options.categorical);
  roles.calibrate_on = parse_names(options.calibrate_on);
  CsvReader reader(options.data);
  auto requests = Schema::fit_requests(reader.source(), reader.header(), roles);
  if (!options.predictor.empty()) {
    for (ColumnRequest& request : requests) request.raw = request.kind != ColumnKind::kSkip;
  }
  reader.select(std::move(requests));
  const Table table = read_all(reader);

  auto schema = std::make_shared<Schema>(Schema::learn(table, roles));
  schema->set_missing(missing);
  Encoded encoded = schema->encode(table, Need::kFeaturesAndTarget, missing);
  if (!options.predictor.empty()) {
    schema->set_predictor(options.predictor);
    const ExternalModel external{
        options.predictor, std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000.0))};
    const auto predicted = run_external_model(external, *schema, table, encoded.rows);
    encoded.given = Matrix(predicted, predicted.size(), 1);
  }
  std::vector<std::uint8_t> calibrate_rows;
  if (!by.column.empty()) calibrate_rows = flag_rows(table, by, encoded.rows);

  FitInput input{.x = encoded.x, .y = encoded.y, .weight = encoded.weight, .given = encoded.given};
  input.names = schema->feature_names();
  const std::string regressor =
      params.text("regressor", Params::parse(method.defaults).text("regressor", "given"));
  input.model_columns = model_columns(
      *schema, canonical_name(regressor) != "given" && canonical_name(regressor) != "zero");
  input.calibrate_columns = schema->columns_of(roles.calibrate_on);
  input.calibrate_rows = calibrate_rows;
  input.seed = Seed{options.seed};
  FittedModel fitted{.method = std::string(method.name), .params = params, .seed = input.seed,
                     .rows = encoded.y.size(), .model = {}, .schema = schema};
  fitted.model = fit_rows(table.source, method, input, params, bar.execution());
  bar.show("saving", 1.0);
  save_model(options.output, fitted, options.force ? Replace::kReplace : Replace::kKeep);
  bar.show_text("");

  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (encoded.dropped > 0) {
    warn(common, fmt::format("{}: {} rows with a missing value were left out", table.source, encoded.dropped));
  }
  if (encoded.imputed > 0) {
    warn(common, fmt::format("{}: {} missing values were imputed", table.source, encoded.imputed));
  }
  if (common.json) {
    const Json result = {{"model", options.output},        {"method", fitted.method},
                         {"rows", fitted.rows},            {"features", input.names.size()},
                         {"dropped_rows", encoded.dropped}, {"imputed_cells", encoded.imputed},
                         {"seconds", seconds}};
    fmt::print("{}\n", result.dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  note(common, fmt::format("{}: {} on {} rows with {} features, in {} s ('tare inspect {}' shows what was chosen)",
                           options.output, fitted.method, fitted.rows, input.names.size(),
                           short_number(seconds), options.output));
}

}  // namespace

void add_fit(CLI::App& app, Common& common) {
  auto options = std::make_shared<FitOptions>();
  CLI::App* command = app.add_subcommand("fit", "Train or take a point model, calibrate it, and save the result");
  command->footer(
      "Examples:\n"
      "  tare fit cars.csv --target mpg -o cars.tare\n"
      "  tare fit cal.csv --target y --prediction yhat -o cal.tare        (your own model's column)\n"
      "  tare fit cal.csv --target y --predictor 'python3 model.py' -o cal.tare\n"
      "  tare fit sales.csv --target units --split time --calibrate-on store,weekday -o sales.tare");
  command->add_option("data", options->data, "CSV or TSV file, also .gz; - is standard input")->required();
  command->add_option("--target", options->target, "Column to be predicted")->required();
  command->add_option("-o,--output", options->output, "Model file to write")->required();
  command->add_option("--method", options->method,
                      "A row of 'tare methods' [nrc_rf, or nrc where a prediction is given]");
  command->add_option("--prediction", options->prediction, "Column with the predictions of a model that exists");
  command->add_option("--predictor", options->predictor,
                      "Program that predicts: feature rows as CSV on its input, a number a line on its output");
  command->add_option("--timeout", options->timeout_s, "Seconds the predictor may take")
      ->capture_default_str()
      ->check(seconds());
  for (std::size_t k = 0; k < std::size(kMethodOptions); ++k) {
    command->add_option(std::string("--") + kMethodOptions[k][0], options->method_options[k],
                        kMethodOptions[k][1]);
  }
  command->add_option("--split", options->split,
                      "Rows that calibrate: a share [0.3], cross, time, time:SHARE, or by:COL=VALUE");
  command->add_option("--set", options->settings, "NAME=VALUE for an option of the regressor, such as trees=300");
  command->add_option("--features", options->features, "Columns to use, with commas [all others]");
  command->add_option("--drop", options->drop, "Columns not to use");
  command->add_option("--categorical", options->categorical, "Columns of numbers that are names of categories");
  command->add_option("--calibrate-on", options->calibrate_on,
                      "Columns against which to calibrate: the kernel's features [all features]");
  command->add_option("--weight", options->weight, "Column of sample weights, 0 or more");
  command->add_option("--missing", options->missing, "Missing values: error, drop, impute")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Same seed, same bytes")
      ->capture_default_str()
      ->check(whole_number());
  command->add_flag("--force", options->force, "Replace the model file if it exists");
  add_common(*command, common);
  command->callback([options, &common] { run_fit(*options, common); });
}

}  // namespace tare::cli

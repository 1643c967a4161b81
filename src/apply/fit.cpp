// SPDX-License-Identifier: BSD-3-Clause
#include "tare/apply/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apply/training_data.h"
#include "base/fail.h"
#include "base/strings.h"
#include "io/csv.h"
#include "io/select_columns.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

bool takes_prediction(const FitOptions& options) {
  return !options.prediction.empty() || !options.prediction_quantiles.empty() ||
         options.outside_model;
}

/// The options of the method, those among them that have a field of their own.
Params method_params(const FitOptions& options) {
  Params params = options.params;
  if (finds_columns(options) && !params.has("screen")) params.set("screen", "yes");
  if (!options.split.empty() && !splits_by_column(options)) params.set("split", options.split);
  return params;
}

/// Whether `auto` has every option that the caller sets.
bool auto_knows(const FitOptions& options) {
  if (options.window > 1 || !options.split.empty()) return false;
  const auto known = [](std::string_view name) {
    const auto has = [&](const ParamInfo& option) { return option.name == name; };
    return std::ranges::any_of(find_method("auto").options, has) ||
           std::ranges::any_of(common_options(), has);
  };
  return std::ranges::all_of(method_params(options).all(),
                             [&](const auto& option) { return known(option.first); });
}

/// Whether the given predictions include a spread, which `nrc` uses and `auto` does not.
bool gives_spread(const FitOptions& options) {
  return !options.prediction_sd.empty() || !options.prediction_quantiles.empty();
}

[[noreturn]] void fail_two(const std::string& one, const std::string& other) {
  fail(ErrorCode::kInvalidArgument,
       {.option = one,
        .remedies = {{"leave out", one, "", ""}, {"leave out", other, "", ""}},
        .named_in_problem = true},
       "two options name the source of the model's predictions");
}

/// Checks that exactly one option names the source of given predictions.
void check_prediction(const FitOptions& options) {
  const bool in_columns = !options.prediction.empty() || !options.prediction_quantiles.empty();
  if (in_columns && options.outside_model) {
    fail_two(options.prediction.empty() ? "prediction_quantiles" : "prediction", "predictor");
  }
  if (!options.prediction.empty() && !options.prediction_quantiles.empty()) {
    fail_two("prediction", "prediction_quantiles");
  }
  if (!options.prediction_sd.empty() && options.prediction.empty()) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "prediction_sd", .remedies = {{"name the mean by", "prediction", "", ""}}},
         "is the standard deviation of a mean, but no option names the mean");
  }
}

std::vector<Notice> notices_of(const FitSummary& summary, std::size_t rows) {
  constexpr double kFew = 100.0;
  std::vector<Notice> all;
  const auto add = [&](const char* code, std::size_t count, std::string_view what) {
    if (count > 0) all.push_back({code, count, fmt::format("{} {}", count, what)});
  };
  add("dropped_rows", summary.dropped, "rows with a missing value were left out");
  add("imputed_values", summary.imputed, "missing values were imputed");
  add("left_out_rows", summary.without_window,
      "rows at the start have no full window and were left out");
  const double left = summary.shifted_rows;
  if (left > 0.0 && (left < kFew || left < 0.1 * static_cast<double>(rows))) {
    all.push_back({"few_shifted_rows", static_cast<std::size_t>(left),
                   "few rows of the fit resemble the rows to predict, so the answers depend on "
                   "these few rows"});
  }
  return all;
}

/// Fits, and puts the table's name before what is wrong with its rows.
std::unique_ptr<QuantileModel> fit_rows(const std::string& source, const Method& method,
                                        const FitInput& input, const Params& params,
                                        const Execution& how) {
  try {
    return fit_method(method, input, params, how);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData || source.empty()) throw;
    throw error.in_source(source);
  }
}

}  // namespace

std::string_view choose_method(const FitOptions& options) {
  if (!options.method.empty()) return find_method(options.method).name;
  if (auto_knows(options) && !gives_spread(options)) return "auto";
  return takes_prediction(options) ? "nrc" : "nrc_rf";
}

void check_fit_options(const FitOptions& options) {
  if (options.target.empty()) {
    fail(ErrorCode::kInvalidArgument, {.option = "target"}, "must name the column to predict");
  }
  const Method& method = find_method(choose_method(options));
  check_prediction(options);
  const Params all = effective_params(method, options.params);
  if (!options.group.empty() && canonical_name(all.text("guarantee", "none")) == "none") {
    fail(ErrorCode::kInvalidArgument,
         {.option = "group",
          .remedies = {{"add", "guarantee", "split", ""}, {"add", "guarantee", "cross", ""}}},
         "names the groups of a guarantee, but there is no guarantee");
  }
}

FittedModel fit(const Table& table, const FitOptions& options, const Execution& how,
                FitSummary* summary) {
  check_fit_options(options);
  const auto requests = fit_requests(table.source, table.names(), options);
  if (!is_selected(table, requests)) {
    return fit(select_columns(table, requests), options, how, summary);
  }
  const Method& method = find_method(choose_method(options));
  FittedModel fitted;
  fitted.method = method.name;
  fitted.params = method_params(options);
  fitted.seed = options.seed;
  const std::string regressor = effective_params(method, fitted.params).text("regressor", "");
  const bool trains = !takes_prediction(options) && canonical_name(regressor) != "zero";
  const std::size_t window = options.window > 0 ? options.window : method.window;
  TrainingData data = make_training_data(table, options, window, trains);
  shift_training_data(data, options, how);
  fitted.rows = data.encoded.y.size();
  fitted.schema = data.schema;
  Params params = fitted.params;
  if (!params.has("bands")) params.set("bands", "auto");
  fitted.model = fit_rows(table.source, method, data.input(fitted.seed), params, how);
  if (summary != nullptr) {
    *summary = {.features = data.schema->feature_names().size(),
                .dropped = data.encoded.dropped,
                .imputed = data.encoded.imputed,
                .without_window = data.without_window,
                .shifted_rows = data.shift.shift ? data.shift.effective_rows : 0.0,
                .notices = {}};
    summary->notices = notices_of(*summary, fitted.rows);
  }
  return fitted;
}

Table read_csv(const std::string& path, const FitOptions& options, std::size_t threads) {
  CsvReader reader(path);
  reader.use_threads(threads);
  reader.select(fit_requests(reader.source(), reader.header(), options));
  return read_all(reader);
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/bands/banded_model.h"
#include "calibrate/bounds/bounded_model.h"
#include "calibrate/guarantee/guarantee.h"
#include "io/atomic_file.h"
#include "io/tensor_store.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/fit_options.h"
#include "support/guarantee_text.h"
#include "support/model_facts.h"
#include "support/text_table.h"
#include "support/training_data.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"

namespace tare::cli {
namespace {

void check_output(const FitOptions& options) {
  struct stat status {};
  const bool exists = ::stat(options.output.c_str(), &status) == 0;
  // Who reads from a pipe must not see it open and close twice.
  if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return;
  const AtomicFile probe(options.output, options.force ? Overwrite::kAllow : Overwrite::kRefuse);
}

/// One way to say what the model gives.
void check_prediction(const FitOptions& options) {
  const bool in_columns = !options.prediction.empty() || !options.prediction_quantiles.empty();
  if (in_columns && !options.predictor.empty()) {
    fail(ErrorCode::kInvalidArgument, "{} and --predictor both name a point model; give one",
         options.prediction.empty() ? "--prediction-quantiles" : "--prediction");
  }
  if (!options.prediction.empty() && !options.prediction_quantiles.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "--prediction and --prediction-quantiles both say what the model gives; use one");
  }
  if (!options.prediction_sd.empty() && options.prediction.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "--prediction-sd is the standard deviation of a mean: name that with --prediction");
  }
}

/// Fits, and puts the file's name before what is wrong with its rows.
std::unique_ptr<QuantileModel> fit_rows(const std::string& source, const Method& method,
                                        const FitInput& input, const Params& params,
                                        const Execution& how) {
  try {
    return fit_method(method, input, params, how);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData) throw;
    throw error.in_source(source);
  }
}

void warn_about(const TrainingData& data, const Common& common) {
  const auto tell = [&](std::size_t count, std::string_view what) {
    if (count > 0) warn(common, fmt::format("{}: {} {}", data.source, count, what));
  };
  tell(data.encoded.dropped, "rows with a missing value were left out");
  tell(data.encoded.imputed, "missing values were imputed");
  tell(data.without_window, "rows at the start have no full window and were left out");
}

/// What weighting towards other rows leaves of those of the fit.
void tell_shift(const TrainingData& data, const Common& common) {
  if (!data.shift.shift) return;
  constexpr double kFew = 100.0;
  const double left = data.shift.effective_rows;
  const auto rows = static_cast<double>(data.encoded.y.size());
  note(common, fmt::format("shift: weights leave {:.0f} effective rows of {:.0f} ({:.3g} %)", left,
                           rows, 100.0 * left / rows));
  if (left < kFew || left < 0.1 * rows) {
    warn(common,
         "few rows of the fit resemble those of --shift-to: what is learned for them rests "
         "on these few");
  }
}

void print_result(const FitOptions& options, const FittedModel& fitted, const TrainingData& data,
                  double seconds, const Common& common) {
  const std::size_t features = data.schema->feature_names().size();
  const auto* guaranteed = guarantee_of(*fitted.model);
  if (guaranteed != nullptr) warn_about_guarantee(*guaranteed, data.schema->group(), common);
  if (common.json) {
    Json result = {{"model", options.output},
                   {"method", fitted.method},
                   {"rows", fitted.rows},
                   {"features", features},
                   {"dropped_rows", data.encoded.dropped},
                   {"imputed_cells", data.encoded.imputed},
                   {"rows_without_window", data.without_window},
                   {"seconds", seconds}};
    if (data.shift.shift) result["shift"] = {{"effective_rows", data.shift.effective_rows}};
    if (guaranteed != nullptr) result["guarantee"] = guarantee_json(*guaranteed, fitted.rows);
    if (const BoundedModel* bounded = bounded_model_of(*fitted.model)) {
      result["bounds"] = bounded->bounds().text();
    }
    fmt::print("{}\n", result.dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  note(common,
       fmt::format(
           "{}: {} on {} rows with {} features, in {} s ('tare inspect {}' shows what was chosen)",
           options.output, fitted.method, fitted.rows, features, short_number(seconds),
           options.output));
  if (guaranteed != nullptr) note(common, guarantee_note(*guaranteed, fitted.rows));
  if (const std::string text = series_guarantee(fitted); !text.empty()) {
    note(common, "guarantee: " + text);
  }
  if (const BoundedModel* bounded = bounded_model_of(*fitted.model)) {
    const bool given = parse_bounds(fitted.params).find == false;
    note(common, fmt::format("bounds: answers are kept within {}{}", bounds_text(bounded->bounds()),
                             given ? "" : ", as the targets are (--bounds none leaves them free)"));
  }
  if (parse_bands(fitted.params) == BandRule::kOn && bands_of(*fitted.model) == nullptr) {
    note(common, "bands: " + bands_text(fitted));
  }
  const bool asked = fitted.params.has("guarantee");
  if (guaranteed == nullptr && fitted.method == "auto" && !asked) {
    note(common,
         fmt::format("guarantee: none, as {} rows are too few to hold any out; --guarantee cross "
                     "gives one, for some sharpness and time",
                     fitted.rows));
  }
}

void run_fit(const FitOptions& options, const Common& common) {
  const auto start = std::chrono::steady_clock::now();
  // What can be known to be wrong is said before any work.
  check_output(options);
  const Method& method = find_method(chosen_method(options));
  Params params = params_of(options);
  if (!options.split.empty() && !splits_by_column(options)) params.set("split", options.split);
  check_prediction(options);
  const std::string guarantee = canonical_name(
      params.text("guarantee", Params::parse(method.defaults).text("guarantee", "none")));
  if (!options.group.empty() && guarantee == "none") {
    fail(ErrorCode::kInvalidArgument,
         "--group is what a guarantee holds within: add --guarantee split or cross");
  }
  const std::string regressor =
      params.text("regressor", Params::parse(method.defaults).text("regressor", ""));
  const bool trains = !takes_prediction(options) && canonical_name(regressor) != "zero";

  Bar bar(common);
  bar.show("reading", 0.0);
  const std::size_t window = options.window > 0 ? options.window : method.window;
  TrainingData data = read_training_data(options, window, trains, common.threads);
  if (!options.shift_to.empty()) {
    shift_training_data(data, options.shift_to, options, bar.execution());
  }
  if (const std::size_t rows = data.encoded.y.size();
      method.many_rows > 0 && rows > method.many_rows) {
    warn(common, fmt::format("{}: {} rows are many for method '{}', and fitting takes long",
                             data.source, rows, method.name));
  }
  FittedModel fitted;
  fitted.method = method.name;
  fitted.params = params;
  fitted.seed = Seed{options.seed};
  fitted.rows = data.encoded.y.size();
  fitted.schema = data.schema;
  if (!params.has("bands")) params.set("bands", "auto");
  fitted.model = fit_rows(data.source, method, data.input(fitted.seed), params, bar.execution());
  bar.show("saving", 1.0);
  save_model(options.output, fitted, options.force ? Replace::kReplace : Replace::kKeep);
  bar.show_text("");
  warn_about(data, common);
  tell_shift(data, common);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print_result(options, fitted, data, seconds, common);
}

}  // namespace

void add_fit(CLI::App& app, Common& common) {
  auto options = std::make_shared<FitOptions>();
  CLI::App* command =
      app.add_subcommand("fit", "Train or take a point model, calibrate it, and save the result");
  add_fit_options(*command, *options);
  add_common(*command, common);
  command->callback([options, &common] { run_fit(*options, common); });
}

}  // namespace tare::cli

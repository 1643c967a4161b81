// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "calibrate/bounds/bounds.h"
#include "io/files/atomic_file.h"
#include "io/tensor_store.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/fit_options.h"
#include "support/guarantee_text.h"
#include "support/input_options.h"
#include "support/model_facts.h"
#include "support/text_table.h"
#include "tare/apply/fit.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"

namespace tare::cli {
namespace {

void check_output(const FitArguments& arguments) {
  struct stat status {};
  const bool exists = ::stat(arguments.output.c_str(), &status) == 0;
  // The reader of a named pipe must not see it opened and closed twice.
  if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return;
  const AtomicFile probe(arguments.output,
                         arguments.force ? Overwrite::kAllow : Overwrite::kRefuse);
}

/// Warns about a long fit before it starts.
void warn_about_many_rows(const Method& method, const Table& table, const Common& common) {
  if (method.many_rows == 0 || table.rows() <= method.many_rows) return;
  warn(common, fmt::format("{}: fitting method '{}' on {} rows takes long", table.source,
                           method.name, table.rows()));
}

/// What a limit of time led to; empty without one.
std::string time_note(const FittedModel& fitted, const Description& model) {
  if (!fitted.params.has("time") || !model.trail || model.trail->budget.empty()) return {};
  std::string text = fmt::format("time: the answers are those of --budget {}", model.trail->budget);
  const bool folds = model.guarantee && model.guarantee->form == GuaranteeForm::kCross;
  const bool loose = model.guarantee && model.guarantee->form == GuaranteeForm::kLoose;
  std::size_t held_out = model.guarantee && !loose ? model.guarantee->rows : 0;
  if (model.guarantee && model.guarantee->local) held_out += model.guarantee->local->tuned_on;
  if (folds || model.trail->trained + held_out == fitted.rows) return text;
  return text + fmt::format(", fitted on {} of {} rows{}", model.trail->trained, fitted.rows,
                            held_out > 0 ? fmt::format(" with {} more held out", held_out) : "");
}

/// Says so where there are more rows than the method learns from.
std::string some_rows_note(const Description& model) {
  if (!model.trail || model.trail->eligible <= model.trail->trained) return {};
  return fmt::format("rows: learned from {} of {} (--set most_rows=N for another number)",
                     model.trail->trained, model.trail->eligible);
}

/// Why method auto has no guarantee. Rows of weight 0 do not count.
std::string no_guarantee_note(const FittedModel& fitted, const Description& model) {
  const std::size_t counting = model.trail->eligible;
  std::string why = fmt::format("{} rows in time order permit no proof", fitted.rows);
  if (counting < find_method(fitted.method).loose_from) {
    why = fmt::format("{} rows{} are too few to hold some out", counting,
                      counting < fitted.rows ? " of positive weight" : "");
  }
  return fmt::format(
      "guarantee: none, because {}; --guarantee cross adds one at the cost of wider intervals and "
      "more time",
      why);
}

void print_result(const FitArguments& arguments, const FittedModel& fitted,
                  const FitSummary& summary, double seconds, const Common& common) {
  const std::size_t features = summary.features;
  if (summary.shifted_rows > 0.0) {
    const auto rows = static_cast<double>(fitted.rows);
    note(common, fmt::format("shift: weights leave {:.0f} effective rows of {:.0f} ({:.3g} %)",
                             summary.shifted_rows, rows, 100.0 * summary.shifted_rows / rows));
  }
  const Description model = describe(fitted);
  if (model.guarantee) warn_about_guarantee(*model.guarantee, common);
  if (common.json) {
    Json result = {{"model", arguments.output},
                   {"method", fitted.method},
                   {"rows", fitted.rows},
                   {"features", features},
                   {"dropped_rows", summary.dropped},
                   {"imputed_cells", summary.imputed},
                   {"rows_without_window", summary.without_window},
                   {"seconds", seconds}};
    if (summary.shifted_rows > 0.0) result["shift"] = {{"effective_rows", summary.shifted_rows}};
    if (model.guarantee) result["guarantee"] = guarantee_json(model);
    if (model.trail) {
      result["budget"] = model.trail->budget;
      result["trained_rows"] = model.trail->trained;
    }
    if (model.bounds) {
      result["bounds"] = TargetBounds{model.bounds->low, model.bounds->high}.text();
    }
    fmt::print("{}\n", result.dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  note(common,
       fmt::format(
           "{}: {} on {} rows with {} features, in {} s ('tare inspect {}' shows what was chosen)",
           arguments.output, fitted.method, fitted.rows, features, short_number(seconds),
           arguments.output));
  for (const std::string& text : {time_note(fitted, model), some_rows_note(model)}) {
    if (!text.empty()) note(common, text);
  }
  if (model.guarantee) {
    note(common, guarantee_note(model));
    const std::string text = series_guarantee(*model.guarantee);
    if (!text.empty()) note(common, "guarantee: " + text);
  }
  if (model.bounds) {
    const bool given = parse_bounds(fitted.params).find == false;
    note(common,
         fmt::format("bounds: answers are limited to {}{}", bounds_text(*model.bounds),
                     given ? "" : ", the range of the targets (--bounds none removes the limit)"));
  }
  const BandsAbsence absence = model.bands.absence;
  if (absence != BandsAbsence::kNone && absence != BandsAbsence::kNotAsked) {
    note(common, "bands: " + bands_text(model.bands));
  }
  const bool asked = fitted.params.has("guarantee");
  if (!model.guarantee && model.trail && !asked) note(common, no_guarantee_note(fitted, model));
}

void run_fit(const FitArguments& arguments, const Common& common) {
  const auto start = std::chrono::steady_clock::now();
  // Errors that can be detected early are reported before any work.
  check_output(arguments);
  const FitOptions options = fit_options(arguments);
  check_fit_options(options);

  Bar bar(common);
  bar.show("reading", 0.0);
  const Table table = read_csv(arguments.data, options, common.threads);
  warn_about_many_rows(find_method(choose_method(options)), table, common);
  FitSummary summary;
  const FittedModel fitted = fit(table, options, bar.execution(), &summary);
  bar.show("saving", 1.0);
  save_model(arguments.output, fitted, arguments.force ? Replace::kReplace : Replace::kKeep);
  bar.show_text("");
  warn_about(summary.notices, table.source, common);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print_result(arguments, fitted, summary, seconds, common);
}

}  // namespace

void add_fit(CLI::App& app, Common& common) {
  auto options = std::make_shared<FitArguments>();
  CLI::App* command = app.add_subcommand(
      "fit", "Train a point model or use a given one, calibrate it, and save the result");
  add_fit_options(*command, *options);
  add_common(*command, common);
  command->callback([options, &common] { run_fit(*options, common); });
}

}  // namespace tare::cli

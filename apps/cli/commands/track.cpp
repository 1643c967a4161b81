// SPDX-License-Identifier: BSD-3-Clause
#include "tare/apply/track.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "apply/answer_columns.h"
#include "apply/answer_text.h"
#include "base/fail.h"
#include "base/strings.h"
#include "io/files/atomic_file.h"
#include "online/methods/method_table.h"
#include "report/pages/track_report.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/csv_output.h"
#include "support/help.h"
#include "support/input_options.h"
#include "support/model_facts.h"
#include "support/terminal.h"
#include "tare/base/version.h"
#include "tare/calibrate/description.h"

namespace tare::cli {
namespace {

struct TrackArguments {
  std::string data;
  std::string model;
  std::string output = "-";
  std::string save;
  std::string report;
  std::string keep;
  std::vector<std::pair<std::string, std::string>> set;  // by name
  std::vector<std::string> options;                      // name=value
  bool diagnostics = false;
  bool force = false;
};

TrackOptions asked(const TrackArguments& arguments) {
  TrackOptions options;
  for (const auto& [name, text] : arguments.set) {
    if (!text.empty()) options.set(name, text);
  }
  for (const std::string& option : arguments.options) options.params.merge(Params::parse(option));
  options.diagnostics = arguments.diagnostics;
  if (!arguments.model.empty()) options.model = load_model(arguments.model);
  return options;
}

std::string summary_text(const Tracked& tracked, const Table& table) {
  std::string text = fmt::format("{} rows answered\n", tracked.rows.size());
  for (const Tracked::Interval& interval : tracked.intervals) {
    if (std::isnan(interval.coverage)) continue;
    text +=
        fmt::format("{} interval: coverage {:.3f}, mean width {:.4g}, mean Winkler score {:.4g}",
                    interval.confidence, interval.coverage, interval.mean_width, interval.winkler);
    if (!std::isnan(interval.worst_stretch)) {
      text += fmt::format(", lowest coverage of 100 rows {:.2f}", interval.worst_stretch);
    }
    text += interval.bound < 1.0 ? fmt::format("; proven: within {:.3f} of {}\n", interval.bound,
                                               interval.confidence)
                                 : "\n";
  }
  for (const TrackAlarm& alarm : tracked.alarms) {
    text += fmt::format(
        "drift: alarm at line {}, change from about line {} (spread x {:.2g}, shift "
        "{:.2g} sd)",
        table.lines[alarm.row], table.lines[alarm.change], alarm.scale, alarm.shift);
    for (const std::string& cause : alarm.causes) text += "; mostly where " + cause;
    text += "\n";
  }
  text.pop_back();  // a note ends its line
  return text;
}

std::string page_of(const Tracked& tracked, const TrackOptions& options, const Table& table) {
  const Description model = describe(tracked.model);
  TrackReport report;
  report.data_name = table.source == "<stdin>"
                         ? "standard input"
                         : std::filesystem::path(table.source).filename().string();
  report.target = model.target;
  report.provenance =
      fmt::format("tare {}, method {}, target {}, {} rows to warm up, seed {}", kVersion,
                  options.method, model.target, options.start, options.seed.value);
  report.drift_rate = options.drift_rate;
  report.facts = model_facts(model);
  return track_report_html(report, tracked, table.lines);
}

void run_track(const TrackArguments& arguments, const Common& common) {
  TrackOptions options = asked(arguments);
  check_csv_output(arguments.output);
  const Table table = read_csv(arguments.data);
  const Overwrite overwrite = arguments.force ? Overwrite::kAllow : Overwrite::kRefuse;
  AtomicFile file(arguments.output, overwrite);
  std::optional<AtomicFile> page;
  if (!arguments.report.empty()) page.emplace(arguments.report, overwrite);
  Bar bar(common);
  const Tracked tracked = track(table, options, bar.execution());
  bar.show_text("");

  const AnswerColumns columns(tracked.names);
  AnswerText text(columns);
  text.keep(arguments.keep == "all" ? table.names() : split_names(arguments.keep));
  std::string out;
  if (common.json) {
    text.append_json(out, table, tracked.rows, tracked.values, "\n");
    if (!out.empty()) out += '\n';
  } else {
    text.append_csv_header(out);
    text.append_csv(out, table, tracked.rows, tracked.values);
  }
  if (!arguments.save.empty()) {
    save_model(arguments.save, tracked.model, arguments.force ? Replace::kReplace : Replace::kKeep);
  }
  if (page) page->write(page_of(tracked, options, table));
  file.write(out);
  file.commit();
  if (page) page->commit();
  warn_about(tracked.notices, table.source, common);
  note(common, summary_text(tracked, table));
  if (page) note(common, fmt::format("report: {}", arguments.report));
}

std::string method_help() {
  std::string text = "Online method: ";
  for (const OnlineMethodInfo& method : online_methods()) {
    if (text.back() != ' ') text += ", ";
    text += method.name;
  }
  return text + " [snq]";
}

}  // namespace

void add_track(CLI::App& app, Common& common) {
  auto options = std::make_shared<TrackArguments>();
  CLI::App* command = app.add_subcommand(
      "track", "Follow the rows of a file in time order: answer each, then learn its target");
  command->footer(
      "Examples:\n"
      "  tare track load.csv --target y --prediction forecast --interval 0.9 > intervals.csv\n"
      "  tare track load.csv --target y --model load.tare --start 300 --save online.tare\n"
      "  tare track prices.csv --target price --drop date --delay 24 --known-later volume\n"
      "Each row is answered before its target is seen; no answer depends on a later row. Rows\n"
      "without a target are answered only. Without --prediction and --model the predictions are\n"
      "those of trees on the columns, fitted after 100 rows and again whenever a tenth more rows\n"
      "have come. A summary and alarms of drift go to standard error.");
  command
      ->add_option("data", options->data, "CSV or TSV file, plain or .gz; - reads standard input")
      ->required();
  const auto add = [&](const char* flag, const char* name, const std::string& help) {
    command->add_option_function<std::string>(
        flag, [options, name](const std::string& text) { options->set.emplace_back(name, text); },
        help);
  };
  add("--target", "target", "Column to predict; with --model its own target is the default");
  add("--prediction", "prediction", "Column with the predictions whose errors are calibrated");
  command->add_option("--model", options->model,
                      "Model file of 'tare fit': errors are those of its median");
  add("--levels", "levels", "Quantile levels, separated by commas: columns q0.05, q0.5, ...");
  add("--interval", "interval",
      "Confidence of central intervals: columns lower_0.9, upper_0.9, ... [0.9]");
  add("--start", "start",
      "Rows to warm up: learned and not answered; with a delay, at least 2 more than it [100]");
  add("--delay", "delay",
      "Rows that are answered after a row before its target is known [0]: the target of a row is "
      "known to the next one");
  add("--known-later", "known_later",
      "Columns that are known only with the target, separated by commas; answers use their last "
      "known values");
  add("--period", "period",
      "Rows of a season: auto (by the autocorrelation of errors), none, or a number [auto]");
  add("--lags", "lags",
      "Past errors that explain the next one: auto, or numbers of rows with commas [auto]");
  add("--features", "features", "Columns to use, separated by commas [every other column]");
  add("--drop", "drop", "Columns to leave out, separated by commas");
  add("--categorical", "categorical", "Columns whose numbers are category codes");
  add("--missing", "missing", "Rows with a missing value: error, drop or impute [error]");
  add("--method", "method", method_help());
  command->add_option("--set", options->options, "Option of the method, as name=value");
  add("--drift-rate", "drift_rate",
      "Probability of a false alarm of drift over all rows, if errors are exchangeable [0.01]");
  add("--seed", "seed", "Seed of everything random [0]");
  command->add_option("--keep", options->keep,
                      "Input columns to copy to the output, separated by commas, or 'all'");
  command->add_flag("--diagnostics", options->diagnostics,
                    "Add columns: prediction, effective_n (number of equally weighted rows that "
                    "would determine the answer as well), coverage_0.9 (so far), drift_log_e "
                    "(evidence of drift; an alarm from log(1 / drift rate) on)");
  command->add_option("-o,--output", options->output, "File to write; - is standard output")
      ->capture_default_str();
  command->add_option("--save", options->save,
                      "Model file to write after the last row, for predict, update and serve");
  command->add_option("--report", options->report,
                      "HTML page to write: coverage, width and drift over time, the level that was "
                      "needed, the last rows");
  command->add_flag("--force", options->force, "Replace files that exist");
  put_in_group(*command, kAnswers,
               {"--levels", "--interval", "--diagnostics", "--start", "--delay"});
  put_in_group(*command, kColumns,
               {"--target", "--prediction", "--known-later", "--features", "--drop",
                "--categorical", "--missing", "--keep"});
  put_in_group(*command, kOutput, {"--output", "--save", "--report", "--force"});
  add_common(*command, common);
  command->callback([options, &common] { run_track(*options, common); });
}

}  // namespace tare::cli

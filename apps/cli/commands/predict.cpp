// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "io/files/atomic_file.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/csv_output.h"
#include "support/help.h"
#include "support/input_options.h"
#include "tare/apply/predictor.h"
#include "tare/calibrate/model_file.h"

namespace tare::cli {
namespace {

/// Rows in memory at a time: enough to keep every core busy and to contain neighbours, which share
/// work; few enough to stream a file of any length in a few tens of megabytes. The first batches
/// are smaller, so that a stream gets its first answers soon.
std::size_t rows_at_a_time(std::size_t columns, std::size_t rows_so_far) {
  const std::size_t most = std::clamp<std::size_t>(1'000'000 / columns, 4'096, 65'536);
  return std::clamp<std::size_t>(rows_so_far, 4'096, most);
}

struct PredictArguments {
  std::string model;
  std::string data;
  std::string output = "-";
  std::string levels;
  std::string intervals;
  std::string set;
  std::string cost;
  std::string keep;
  InputOptions input;
  bool diagnostics = false;
  bool force = false;
};

PredictOptions asked(const PredictArguments& arguments) {
  PredictOptions options;
  options.set("levels", arguments.levels);
  options.set("interval", arguments.intervals);
  options.set("set", arguments.set);
  options.set("cost", arguments.cost);
  options.set("keep", arguments.keep);
  options.diagnostics = arguments.diagnostics;
  options.missing = arguments.input.policy();
  options.outside_model = arguments.input.outside_model();
  return options;
}

void run_predict(const PredictArguments& arguments, const Common& common) {
  PredictOptions options = asked(arguments);
  check_predict_options(options);  // before any work
  check_csv_output(arguments.output);
  Predictor predictor(load_model(arguments.model), std::move(options));
  TableReader reader(arguments.data, predictor);
  AtomicFile file(arguments.output, arguments.force ? Overwrite::kAllow : Overwrite::kRefuse);

  Bar bar(common);
  Execution how;
  how.threads = common.threads;
  std::string text;
  Table table;
  if (!common.json) predictor.append_csv_header(text);
  while (reader.read(table, rows_at_a_time(predictor.names().size(), reader.rows_read()))) {
    const Answers answers = predictor.answer(table, how);
    if (!common.json) {
      predictor.append_csv(text, table, answers);
    } else if (!answers.rows.empty()) {
      predictor.append_json(text, table, answers, "\n");
      text += '\n';
    }
    file.write(text);
    text.clear();
    bar.show_text(fmt::format("{} rows", reader.rows_read()));
  }
  file.write(text);
  file.commit();
  bar.show_text("");
  warn_about(predictor.notices(), reader.source(), common);
}

}  // namespace

void add_predict(CLI::App& app, Common& common) {
  auto options = std::make_shared<PredictArguments>();
  CLI::App* command =
      app.add_subcommand("predict", "Predict quantiles or intervals for the rows of a file");
  command->footer(
      "Examples:\n"
      "  tare predict cars.tare new.csv --levels 0.05,0.5,0.95 > quantiles.csv\n"
      "  tare predict cars.tare new.csv --interval 0.9 --keep id --diagnostics -o intervals.csv\n"
      "  tare predict cars.tare new.csv --interval 0.9 --set shortest\n"
      "  tare predict cars.tare new.csv --cost over=1,under=4 --keep id\n"
      "  gzip -dc big.csv.gz | tare predict cars.tare - --interval 0.5,0.9 | head\n"
      "With --json each row is an object on its own line. Warnings go to standard error, with a "
      "code\n"
      "in brackets: infinite_answer, beyond_kept_levels, fallback, set_without_guarantee, and with "
      "--cost\n"
      "infinite_tail and outside_cost_table. With --diagnostics there are also few_effective_rows "
      "and outside,\n"
      "and columns that show the rows concerned.");
  command->add_option("model", options->model, "Model file of 'tare fit'")->required();
  command
      ->add_option("data", options->data, "CSV or TSV file, plain or .gz; - reads standard input")
      ->required();
  command->add_option("-o,--output", options->output, "File to write; - is standard output")
      ->capture_default_str();
  command->add_option("--levels", options->levels,
                      "Quantile levels, separated by commas, in any order; the columns are q0.05, "
                      "q0.5, ... [0.05,0.5,0.95]");
  command->add_option("--interval", options->intervals,
                      "Confidence of central intervals, for example 0.9 or a list with commas; the "
                      "columns are lower_0.9, upper_0.9, ...");
  command->add_option(
      "--set", options->set,
      "interval (central intervals, the default) or shortest: for each coverage of --interval "
      "[0.9] a set of highest density that has it under the row's predicted distribution. It is an "
      "interval, "
      "or two where the distribution has two clear modes. The columns are lower_0.9, upper_0.9, "
      "lower2_0.9 and upper2_0.9, with --json set_0.9: [[low, high], ...]. With a guarantee of the "
      "split form the sets cover at least their share of new rows");
  command->add_option(
      "--cost", options->cost,
      "Costs, for a decision about each row: over=1,under=4 (for each unit by which the action is "
      "more or less than the target), or a CSV file with the columns action, outcome and cost. The "
      "columns are action (with the least expected cost under the row's predicted distribution), "
      "cost (its expected cost) and cost_of_mean (that of acting on the distribution's mean)");
  command->add_option("--keep", options->keep,
                      "Input columns to copy to the output, separated by commas, or 'all'");
  command->add_flag(
      "--diagnostics", options->diagnostics,
      "Add columns about the reliability of each answer: effective_n (number of independent draws "
      "from the row's conditional distribution that would determine its quantiles equally well), "
      "nearest (distance to the nearest calibration row), fallback (1: no calibration row within "
      "the bandwidth), outside (1: farther from the calibration rows than 99 % of these are from "
      "each other), q0.05_low and q0.05_high, ... (90 % band for the true quantile), and with a "
      "guarantee delivered_q0.05 or delivered_0.9 (the level that its ranks keep). effective_n and "
      "bands are empty unless the model was fitted with bands");
  command->add_flag("--force", options->force, "Replace the output file if it exists");
  add_input_options(*command, options->input);
  put_in_group(*command, kAnswers, {"--levels", "--interval", "--set", "--cost", "--diagnostics"});
  put_in_group(*command, kColumns, {"--keep"});
  put_in_group(*command, kOutput, {"--output", "--force"});
  add_common(*command, common);
  command->callback([options, &common] { run_predict(*options, common); });
}

}  // namespace tare::cli

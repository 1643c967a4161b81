// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/fail.h"
#include "base/strings.h"
#include "io/files/atomic_file.h"
#include "report/pages/report_maker.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/help.h"
#include "support/input_options.h"
#include "support/model_facts.h"
#include "support/report_json.h"
#include "support/warning_text.h"
#include "tare/calibrate/description.h"
#include "tare/decide/cost.h"

namespace tare::cli {
namespace {

constexpr std::size_t kReportBatchRows = 16'384;

struct ReportOptions {
  std::string model;
  std::string data;
  std::string output;
  std::string groups;
  std::string cost;
  std::string set;
  InputOptions input;
  std::uint64_t seed = 0;
  bool force = false;
};

/// A summary of the number of regions with wrong calibration.
std::string verdict_line(const ModelReport& report) {
  if (report.regions.found == 0) return "no region where calibration is off by more than chance";
  return fmt::format("{} of {} regions tested are off by more than chance", report.regions.found,
                     report.regions.looked_at);
}

void run_report(const ReportOptions& options, const Common& common) {
  std::optional<Cost> cost;
  if (!options.cost.empty()) cost = Cost::parse(options.cost);
  const FittedModel fitted = load_model(options.model);
  ReportMaker maker(fitted, options.model, split_names(options.groups));
  ModelInput input = measured_rows(fitted, options.data, options.input, maker.groups());
  maker.check_groups(input);
  if (cost) maker.compare_costs(*cost);
  if (wants_shortest_sets(options.set)) maker.compare_sets();
  AtomicFile file(options.output, options.force ? Overwrite::kAllow : Overwrite::kRefuse);
  Bar bar(common);
  Execution how;
  how.threads = common.threads;
  while (input.read(kReportBatchRows)) {
    maker.add(input, how);
    bar.show_text(fmt::format("{} rows", input.rows_read()));
  }
  input.check_any_row();
  const ModelReport report = maker.finish(input, model_facts(describe(fitted)), Seed{options.seed});
  file.write(model_report_html(report, maker.outcomes()));
  file.commit();
  bar.show_text("");
  warn_about(input.notices(), input.source(), common);
  warn_about_answers(report.warnings, common);
  if (common.json) {
    // The cells of a group's column may be in any encoding.
    fmt::print("{}\n", report_json(report, maker.outcomes())
                           .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  note(common, fmt::format("report: {} ({} rows; {})", options.output, report.scores.rows,
                           verdict_line(report)));
}

}  // namespace

void add_report(CLI::App& app, Common& common) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand(
      "report",
      "Write a page with figures: how reliable a model is, and in which regions it is not");
  command->footer(
      "Examples:\n"
      "  tare report cars.tare test.csv -o report.html\n"
      "  tare report cars.tare test.csv -o report.html --group origin,year --force\n"
      "  tare report shop.tare test.csv -o report.html --cost over=1,under=4\n"
      "The page is one file and needs no network. --json also prints its numbers.");
  command->add_option("model", options->model, "Model file of 'tare fit'")->required();
  command->add_option("data", options->data, "File with the model's columns and its target")
      ->required();
  command->add_option("-o,--output", options->output, "HTML file to write; - is standard output")
      ->required();
  command->add_option("--group", options->groups,
                      "Columns by whose values the page also shows coverage, separated by commas; "
                      "they need not be features");
  command->add_option("--cost", options->cost,
                      "Costs as in 'tare predict': the page then shows what acting on the rows' "
                      "distributions costs, beside acting on their means");
  command->add_option("--set", options->set,
                      "shortest: the page also draws the shortest 90 % set of rows, and has its "
                      "coverage and mean length beside those of central intervals [interval]");
  command
      ->add_option("--seed", options->seed,
                   "Seed of the random groups of AGCE and of the folds of --cost")
      ->capture_default_str()
      ->check(whole_number());
  command->add_flag("--force", options->force, "Replace the page if it exists");
  add_input_options(*command, options->input);
  put_in_group(*command, kOutput, {"--output", "--force"});
  add_common(*command, common);
  command->callback([options, &common] { run_report(*options, common); });
}

}  // namespace tare::cli

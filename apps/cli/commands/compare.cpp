// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/fail.h"
#include "base/strings.h"
#include "evaluate/experiment/ranking.h"
#include "evaluate/experiment/runner.h"
#include "evaluate/experiment/summary.h"
#include "io/files/atomic_file.h"
#include "report/pages/contest_report.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/file_case.h"
#include "support/help.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tare/base/version.h"
#include "tare/calibrate/methods.h"

namespace tare::cli {
namespace {

constexpr const char* kScore = "CheckScore";

struct CompareOptions {
  FileCase file;
  std::string methods = "all";
  std::string out;
  std::string report;
  std::vector<std::string> settings;
  std::size_t repeats = 10;
  double test_share = 0.1;
  double calibrate_share = 0.3;
  std::uint64_t seed = 1;
  bool force = false;
};

/// The named methods, or all methods that are not for series.
std::vector<ExperimentMethod> chosen_methods(const CompareOptions& options) {
  Params extra;
  for (const std::string& setting : options.settings) extra.merge(Params::parse(setting));
  std::vector<ExperimentMethod> chosen;
  if (canonical_name(options.methods) == "all") {
    for (const Method& method : methods()) {
      if (method.window == 1) chosen.push_back({std::string(method.name), extra});
    }
  } else {
    for (const std::string& name : split_names(options.methods)) {
      chosen.push_back({std::string(find_method(name).name), extra});
    }
  }
  return chosen;
}

ExperimentPlan plan_of(const CompareOptions& options) {
  const ExperimentCase one = case_of(options.file);
  ExperimentPlan plan;
  plan.name = "compare";
  plan.title = one.name;
  plan.cases = {one};
  plan.methods = chosen_methods(options);
  plan.repeats = options.repeats;
  plan.seed = Seed{options.seed};
  plan.test_share = options.test_share;
  plan.calibrate_share = options.calibrate_share;
  return plan;
}

/// Every ranked method has a row.
const SummaryRow& summary_of(const SummaryTable& table, const RankedMethod& row) {
  return *std::ranges::find_if(table.rows, [&](const SummaryRow& one) {
    return one.method == row.method && one.options == row.options;
  });
}

double metric_of(const SummaryTable& table, const RankedMethod& row, std::string_view metric) {
  const auto place = std::ranges::find(table.metrics, metric) - table.metrics.begin();
  return summary_of(table, row).cells.at(static_cast<std::size_t>(place)).mean;
}

std::string interval_text(const RankedMethod& row) {
  if (!std::isfinite(row.behind_low)) return "";
  return fmt::format("[{:.3g}, {:.3g}]", row.behind_low, row.behind_high);
}

void print_ranking(const SummaryTable& table, const Ranking& all, const ExperimentPlan& plan) {
  const std::vector<RankedMethod>& ranking = all.methods;
  std::vector<std::vector<std::string>> rows = {{"method", "CheckScore", "behind", "95 % interval",
                                                 "", "p, corrected", "MACE", "Coverage", "Length",
                                                 "s"}};
  for (const RankedMethod& row : ranking) {
    rows.push_back({row.method, fmt::format("{:.4g}", row.score), fmt::format("{:.3g}", row.behind),
                    &row == ranking.data() ? "" : interval_text(row),
                    &row == ranking.data() ? "best" : (row.tied ? "tied" : ""),
                    &row == ranking.data() || !std::isfinite(row.behind_low)
                        ? ""
                        : fmt::format("{:.2g}", row.adjusted),
                    fmt::format("{:.3g}", metric_of(table, row, "MACE")),
                    fmt::format("{:.3f}", metric_of(table, row, "Coverage")),
                    fmt::format("{:.4g}", metric_of(table, row, "Length")),
                    fmt::format("{:.3g}", summary_of(table, row).seconds)});
  }
  say("{}", text_table(rows));
  say("\n"
      "Means over {} random splits with {:.0f} % test rows, the same for all methods. A smaller "
      "CheckScore is better.\n"
      "'behind' is the difference from the best CheckScore. [low, high] is its 95 % confidence "
      "interval. A method is 'tied' if this\n"
      "interval contains 0. A perfect forecaster has a MACE of {:.3g} on as many rows. Coverage "
      "and Length are those of the\n"
      "90 % prediction interval. 's' is the mean time of one fit and its test in seconds.\n",
      plan.repeats, 100.0 * plan.test_share, table.floors.at(0).value_or(0.0));
  const std::string comparisons = comparisons_text(ranking, all.comparisons);
  if (!comparisons.empty()) say("{}\n", comparisons);
}

void print_json(const Ranking& ranking, const SummaryTable& table) {
  auto list = nlohmann::ordered_json::array();
  for (const RankedMethod& row : ranking.methods) {
    nlohmann::ordered_json one = {{"method", row.method},           {"options", row.options},
                                  {"repeats", row.repeats},         {"check_score", row.score},
                                  {"behind", row.behind},           {"behind_low", row.behind_low},
                                  {"behind_high", row.behind_high}, {"tied", row.tied}};
    one["p"] = row.p;
    one["p_corrected"] = row.adjusted;
    one["survives"] = row.survives();
    one["comparisons"] = ranking.comparisons;
    for (const char* metric : {"MACE", "AGCE", "Coverage", "Length"}) {
      one[metric] = metric_of(table, row, metric);
    }
    for (const MetricValue& counted : summary_of(table, row).counted) {
      one[counted.metric] = counted.value;
    }
    list.push_back(std::move(one));
  }
  fmt::print("{}\n", list.dump(2));
}

std::string contest_page(const CompareOptions& options, const ExperimentPlan& plan,
                         const SummaryTable& table, const Ranking& ranking, const RunReport& run) {
  ContestReport report;
  report.title = fmt::format("Which method is best on {}", plan.title);
  report.provenance = fmt::format("tare {}, {} random splits of {}, target {}, seed {}", kVersion,
                                  plan.repeats, plan.title, options.file.target, options.seed);
  report.table = table;
  report.ranking = {plan.title, kScore, ranking.methods, ranking.comparisons};
  report.repeats = plan.repeats;
  report.test_share = plan.test_share;
  report.failed = run.failed;
  return contest_html(report);
}

void run_compare(const CompareOptions& options, const Common& common) {
  const ExperimentPlan plan = plan_of(options);
  check_plan(plan);  // before any file is made
  std::optional<AtomicFile> page;
  if (!options.report.empty()) {
    page.emplace(options.report, options.force ? Overwrite::kAllow : Overwrite::kRefuse);
  }
  ResultFile results = options.out.empty() ? ResultFile() : ResultFile(options.out);
  RunReport report;
  {
    Bar bar(common);
    report = run_plan(plan, "", results, with_time_left(bar));
  }
  if (!report.absent.empty()) fail(ErrorCode::kNotFound, "{}", report.absent.front());
  for (const std::string& text : report.failed) warn(common, text);
  const Summary summary = summarise(plan, results.results());
  if (summary.tables.empty()) {
    fail(ErrorCode::kBadData, "{}: no method could be fitted: {}", options.file.data,
         report.failed.empty() ? "" : report.failed.front());
  }
  const Ranking ranking = rank_methods(plan, plan.cases[0], results.results(), kScore);
  if (common.json) {
    print_json(ranking, summary.tables[0]);
  } else {
    print_ranking(summary.tables[0], ranking, plan);
  }
  if (page) {
    page->write(contest_page(options, plan, summary.tables[0], ranking, report));
    page->commit();
    note(common, fmt::format("report: {}", options.report));
  }
}

}  // namespace

void add_compare(CLI::App& app, Common& common) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Compare methods on a file, and tell which differences exceed the noise");
  command->footer(
      "Examples:\n"
      "  tare compare cars.csv --target mpg\n"
      "  tare compare cars.csv --target mpg --methods nrc_rf,cqr,deep_ensemble --repeats 20\n"
      "  tare compare cars.csv --target mpg --methods nrc_rf,cqr --report ranking.html\n"
      "The confidence interval of a difference holds for that comparison alone. 'p, corrected' is\n"
      "corrected for all pairs of methods by Holm's method. A target that equals a predicted "
      "quantile\n"
      "(a tie) counts in MACE and Coverage by the share of its jump. --json also has "
      "MACE_counted,\n"
      "AGCE_counted and Coverage_counted, in which a tie counts as below and as inside.");
  command
      ->add_option("data", options->file.data,
                   "CSV or TSV file, plain or .gz; - reads standard input")
      ->required();
  command->add_option("--target", options->file.target, "Column to predict")->required();
  command
      ->add_option("--methods", options->methods,
                   "Names of methods in 'tare methods', separated by commas, or all")
      ->capture_default_str();
  command->add_option("--repeats", options->repeats, "Number of random splits")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}));
  command->add_option("--test-share", options->test_share, "Share of the rows used for testing")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 0.9));
  command
      ->add_option(
          "--calibrate-share", options->calibrate_share,
          "Share of the remaining rows used for calibration, in methods with a calibration step")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 0.9));
  command->add_option("--set", options->settings, "NAME=VALUE sets an option of every method");
  add_column_options(*command, options->file);
  command->add_option("--out", options->out,
                      "CSV file for all results; an interrupted run continues from it");
  command->add_option("--report", options->report,
                      "Also write the ranking with figures to this HTML file");
  command->add_flag("--force", options->force, "Replace the page if it exists");
  command->add_option("--seed", options->seed, "Seed of the splits and the methods")
      ->capture_default_str()
      ->check(whole_number());
  put_in_group(*command, kColumns, {"--features", "--drop", "--categorical", "--missing"});
  put_in_group(*command, kOutput, {"--out", "--report", "--force"});
  add_common(*command, common);
  command->callback([options, &common] { run_compare(*options, common); });
}

}  // namespace tare::cli

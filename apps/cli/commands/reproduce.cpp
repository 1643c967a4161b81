// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/fail.h"
#include "base/strings.h"
#include "base/unknown_name.h"
#include "commands/reproduce_bands.h"
#include "commands/reproduce_failures.h"
#include "commands/reproduce_theory.h"
#include "evaluate/experiment/ranking.h"
#include "evaluate/experiment/runner.h"
#include "evaluate/experiment/study/figure_data.h"
#include "evaluate/experiment/summary.h"
#include "io/files/atomic_file.h"
#include "io/files/whole_file.h"
#include "report/figures/band_figure.h"
#include "report/html/result_tables.h"
#include "report/pages/contest_report.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/data_folder.h"
#include "support/help.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tare/base/version.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare::cli {
namespace {

struct ReproduceOptions {
  std::string plan;  // a name, or a file
  std::string data;
  std::string out = "results";
  std::string methods;
  std::string cases;
  std::size_t repeats = 0;  // 0: the plan's
  std::string configs;
  std::vector<std::string> settings;
  bool untuned = false;
  bool quick = false;
  std::string report;
  bool force = false;
  std::uint64_t seed = 1;  // of `bands`
};

// Not plans of trials.
constexpr const char* kTheory = "theory";
constexpr const char* kFailures = "failures";
constexpr const char* kBands = "bands";

std::vector<std::string> experiment_names() {
  std::vector<std::string> names = built_in_plan_names();
  names.insert(names.end(), {kTheory, kFailures, kBands});
  std::ranges::sort(names);
  return names;
}

ExperimentPlan read_plan(const std::string& name) {
  if (name.ends_with(".json")) return parse_plan(read_text_file(name), name);
  const std::vector<std::string> known = experiment_names();
  if (std::ranges::find(known, name) == known.end()) {
    fail_unknown_name(ErrorCode::kNotFound, "experiment", name, known);
  }
  return built_in_plan(name);
}

/// Every configuration of 'tare tune' in a folder.
void add_configs(ExperimentPlan& plan, const std::string& folder) {
  if (folder.empty()) return;
  if (!std::filesystem::is_directory(folder)) {
    fail(ErrorCode::kNotFound, "{}: there is no such folder", folder);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    add_tuned(plan, read_text_file(entry.path().string()), entry.path().string());
  }
}

/// The plan with the changes from the command line.
ExperimentPlan chosen_plan(const ReproduceOptions& options) {
  ExperimentPlan plan = read_plan(options.plan);
  if (options.quick) {
    plan.repeats = 1;
    std::erase_if(plan.methods, [](const ExperimentMethod& one) {
      return one.method == "dgp" || one.method == "auto";
    });
  }
  if (options.repeats > 0) plan.repeats = options.repeats;
  if (!options.methods.empty()) {
    std::vector<ExperimentMethod> chosen;
    for (const std::string& name : split_names(options.methods)) {
      const std::string method(find_method(name).name);
      const auto known = std::ranges::find(plan.methods, method, &ExperimentMethod::method);
      chosen.push_back(known == plan.methods.end() ? ExperimentMethod{method, {}} : *known);
    }
    plan.methods = std::move(chosen);
  }
  if (!options.cases.empty()) {
    const auto wanted = split_names(options.cases);
    for (const std::string& name : wanted) {
      if (std::ranges::find(plan.cases, name, &ExperimentCase::name) == plan.cases.end()) {
        fail(ErrorCode::kNotFound, "the plan '{}' has no case '{}'", plan.name, name);
      }
    }
    std::erase_if(plan.cases, [&](const ExperimentCase& one) {
      return std::ranges::find(wanted, one.name) == wanted.end();
    });
  }
  if (options.untuned) plan.tuned.clear();
  add_configs(plan, options.configs);
  Params extra;
  for (const std::string& setting : options.settings) extra.merge(Params::parse(setting));
  for (ExperimentMethod& method : plan.methods) method.params.merge(extra);
  return plan;
}

/// The figure of a plan, if it has one. Empty if its data does not exist.
std::string draw_figure(const ExperimentPlan& plan, const ReproduceOptions& options,
                        const Common& common) {
  if (plan.figure.empty()) return {};
  Bar bar(common);
  try {
    const FigureData figure = figure_data(plan, data_folder(options.data), bar.execution());
    bar.show_text("");
    for (const std::string& text : figure.failed) warn(common, text);
    return band_figure(figure);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    return {};  // run_plan() has reported it
  }
}

void print_tables(const Summary& summary) {
  for (const SummaryTable& table : summary.tables) {
    say("\n{}\n{}", table.case_name, text_table(result_cells(table)));
  }
  if (summary.overall) {
    say("\n{}\n{}", summary.overall->case_name, text_table(result_cells(*summary.overall)));
  }
  if (!summary.tables.empty()) say("\n{}\n", kResultsLegend);
}

/// Ranks known-law cases by ICE, which has no noise, and the others by CheckScore.
std::vector<CaseRanking> rank_cases(const ExperimentPlan& plan, const Results& results) {
  const auto metric_of = [](const ExperimentCase& one) {
    return one.test == TestRows::kLaw ? "ICE" : "CheckScore";
  };
  std::vector<Ranking> rankings;
  std::vector<Ranking*> all;
  for (const ExperimentCase& one : plan.cases) {
    rankings.push_back(rank_methods(plan, one, results, metric_of(one)));
  }
  for (Ranking& ranking : rankings) all.push_back(&ranking);
  correct_comparisons(all);  // of all cases together
  std::vector<CaseRanking> cases;
  for (std::size_t k = 0; k < rankings.size(); ++k) {
    cases.push_back({plan.cases[k].name, metric_of(plan.cases[k]), std::move(rankings[k].methods),
                     rankings[k].comparisons});
  }
  return cases;
}

/// Returns the page.
std::string run_plan_of(const ReproduceOptions& options, const std::filesystem::path& folder,
                        const Common& common) {
  const ExperimentPlan plan = chosen_plan(options);
  check_plan(plan);  // before any file is made
  std::filesystem::create_directories(folder);
  ResultFile results((folder / (plan.name + ".csv")).string());
  RunReport report;
  {
    Bar bar(common);
    report = run_plan(plan, data_folder(options.data), results, with_time_left(bar));
  }
  for (const std::string& text : report.absent) warn(common, text);
  for (const std::string& text : report.failed) warn(common, text);

  const Summary summary = summarise(plan, results.results());
  const std::string provenance = fmt::format("tare {}, `tare reproduce {}`, {} repeats, seed {}",
                                             kVersion, options.plan, plan.repeats, plan.seed.value);
  const std::string figure = draw_figure(plan, options, common);
  write_result(folder / (plan.name + ".md"), results_markdown(summary, provenance));
  std::string page = results_html(summary, provenance, figure, rank_cases(plan, results.results()));
  write_result(folder / (plan.name + ".html"), page);
  if (!figure.empty()) write_result(folder / (plan.name + ".svg"), figure);
  if (!common.json) print_tables(summary);
  note(common,
       fmt::format("results: {} (and .md, .html{})", (folder / (plan.name + ".csv")).string(),
                   figure.empty() ? "" : ", .svg"));
  if (summary.tables.empty()) fail(ErrorCode::kNotFound, "no case could be run");
  return page;
}

/// A case of the study of bands is a problem and a number of rows: hetero_1_n1000.
void choose_band_cases(const std::string& cases, BandStudy& study) {
  std::vector<std::string> problems;
  std::vector<std::size_t> rows;
  const auto add = [](auto& list, const auto& value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  };
  for (const std::string& name : split_names(cases)) {
    const std::size_t cut = name.rfind("_n");
    const auto count = cut == std::string::npos ? std::nullopt : parse_count(name.substr(cut + 2));
    if (!count) {
      fail(ErrorCode::kNotFound,
           "a case of 'bands' is a problem and its number of rows, for example hetero_1_n1000; got "
           "'{}'",
           name);
    }
    add(problems, find_problem(name.substr(0, cut)).name);
    add(rows, static_cast<std::size_t>(*count));
  }
  study.problems = std::move(problems);
  study.rows = std::move(rows);
}

BandStudy chosen_band_study(const ReproduceOptions& options) {
  BandStudy study = BandStudy::standard();
  if (options.quick) study.draws = 5;
  if (options.repeats > 0) study.draws = options.repeats;
  if (!options.methods.empty()) {
    study.methods.clear();
    for (const std::string& name : split_names(options.methods)) {
      study.methods.emplace_back(find_method(name).name);
    }
  }
  if (!options.cases.empty()) choose_band_cases(options.cases, study);
  for (const std::string& setting : options.settings) study.params.merge(Params::parse(setting));
  study.seed = Seed{options.seed};
  return study;
}

std::string run_experiment(const ReproduceOptions& options, const Common& common) {
  const std::filesystem::path folder = options.out;
  if (options.plan == kBands) {
    const BandStudy study = chosen_band_study(options);
    std::filesystem::create_directories(folder);
    return run_reproduce_bands(study, folder, common);
  }
  if (options.plan != kTheory && options.plan != kFailures) {
    return run_plan_of(options, folder, common);
  }
  if (!options.methods.empty() || !options.cases.empty() || !options.settings.empty()) {
    fail(ErrorCode::kInvalidArgument, "{} does not have the options --methods, --cases and --set",
         options.plan);
  }
  std::filesystem::create_directories(folder);
  if (options.plan == kFailures) return run_reproduce_failures(folder, common);
  return run_reproduce_theory(options.repeats, folder, common);
}

void run_reproduce(const ReproduceOptions& options, const Common& common) {
  if (options.report.empty()) {
    run_experiment(options, common);
    return;
  }
  AtomicFile page(options.report, options.force ? Overwrite::kAllow : Overwrite::kRefuse);
  page.write(run_experiment(options, common));
  page.commit();
}

}  // namespace

void add_reproduce(CLI::App& app, Common& common) {
  auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = app.add_subcommand(
      "reproduce", "Run an experiment of the paper and print the results beside the paper's");
  command->footer(
      "Examples:\n"
      "  tare reproduce uci --data ~/uci --methods nrc,hnn --repeats 2 --out results\n"
      "  tare reproduce oracle                      (known-law problems: needs no data)\n"
      "  tare reproduce bands --methods nrc_boost --cases hetero_5_n1000,sine_n1000\n"
      "  tare reproduce my_plan.json\n"
      "An interrupted run continues where it stopped when it is started again.");
  command
      ->add_option(
          "experiment", options->plan,
          fmt::format("{}, or a plan of your own: FILE.json", join(experiment_names(), ", ")))
      ->required();
  command->add_option("--data", options->data,
                      "Folder with the datasets [$TARE_DATA, else ./data]");
  command->add_option("--out", options->out, "Folder for the results")->capture_default_str();
  command->add_option("--methods", options->methods,
                      "Methods, separated by commas [those of the plan]");
  command->add_option("--cases", options->cases, "Cases, separated by commas [those of the plan]");
  command->add_option("--repeats", options->repeats, "Number of repeats [that of the plan]")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}));
  command->add_flag("--quick", options->quick, "One repeat, without the slow methods dgp and auto");
  command->add_option("--configs", options->configs,
                      "Folder with configurations of 'tare tune' for the plan's cases");
  command->add_flag(
      "--untuned", options->untuned,
      "Use the defaults of every method, not the options that were tuned for the case");
  command->add_option("--seed", options->seed, "Seed of the random draws (only 'bands')")
      ->capture_default_str();
  command->add_option("--set", options->settings, "NAME=VALUE sets an option of every method");
  command->add_option("--report", options->report,
                      "Also write the page of results to this HTML file");
  command->add_flag("--force", options->force, "Replace the file of --report if it exists");
  put_in_group(*command, kOutput, {"--out", "--report", "--force"});
  add_common(*command, common);
  command->callback([options, &common] { run_reproduce(*options, common); });
}

}  // namespace tare::cli

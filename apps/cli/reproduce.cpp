// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "bar.h"
#include "base/fail.h"
#include "base/strings.h"
#include "command.h"
#include "data_folder.h"
#include "evaluate/experiment/runner.h"
#include "evaluate/experiment/summary.h"
#include "io/atomic_file.h"
#include "levels.h"
#include "report/result_tables.h"
#include "tare/base/version.h"
#include "tare/calibrate/methods.h"
#include "text_table.h"

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
};

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorCode::kNotFound, "{}: there is no such file", path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ExperimentPlan read_plan(const std::string& name) {
  return name.ends_with(".json") ? parse_plan(read_text(name), name) : built_in_plan(name);
}

/// Every configuration of 'tare tune' in a folder.
void add_configs(ExperimentPlan& plan, const std::string& folder) {
  if (folder.empty()) return;
  if (!std::filesystem::is_directory(folder)) {
    fail(ErrorCode::kNotFound, "{}: there is no such folder", folder);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    add_tuned(plan, read_text(entry.path().string()), entry.path().string());
  }
}

/// The plan with what the command line changes about it.
ExperimentPlan chosen_plan(const ReproduceOptions& options) {
  ExperimentPlan plan = read_plan(options.plan);
  if (options.repeats > 0) plan.repeats = options.repeats;
  if (!options.methods.empty()) {
    std::vector<ExperimentMethod> chosen;
    for (const std::string& name : parse_names(options.methods)) {
      const std::string method(find_method(name).name);
      const auto known = std::ranges::find(plan.methods, method, &ExperimentMethod::method);
      chosen.push_back(known == plan.methods.end() ? ExperimentMethod{method, {}} : *known);
    }
    plan.methods = std::move(chosen);
  }
  if (!options.cases.empty()) {
    const auto wanted = parse_names(options.cases);
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

void write_file(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path.string(), Overwrite::kAllow);
  file.write(text);
  file.commit();
}

void run_reproduce(const ReproduceOptions& options, const Common& common) {
  const ExperimentPlan plan = chosen_plan(options);
  const std::filesystem::path folder = options.out;
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
  write_file(folder / (plan.name + ".md"), results_markdown(summary, provenance));
  write_file(folder / (plan.name + ".html"), results_html(summary, provenance));
  if (!common.json) {
    for (const SummaryTable& table : summary.tables) {
      fmt::print("\n{}\n{}", table.case_name, text_table(result_cells(table)));
    }
  }
  note(common,
       fmt::format("results: {} (and .md, .html)", (folder / (plan.name + ".csv")).string()));
  if (summary.tables.empty()) fail(ErrorCode::kNotFound, "no case could be run");
}

}  // namespace

void add_reproduce(CLI::App& app, Common& common) {
  auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = app.add_subcommand(
      "reproduce", "Run an experiment of the paper and print it beside the paper's figures");
  command->footer(
      "Examples:\n"
      "  tare reproduce uci --data ~/uci --methods nrc,hnn --repeats 2 --out results\n"
      "  tare reproduce my_plan.json\n"
      "A run that is stopped goes on where it was when it is started again.");
  command
      ->add_option(
          "experiment", options->plan,
          fmt::format("{}, or a plan of your own: FILE.json", join(built_in_plan_names(), ", ")))
      ->required();
  command->add_option("--data", options->data,
                      "Folder with the datasets [$TARE_DATA, else ./data]");
  command->add_option("--out", options->out, "Folder for the results")->capture_default_str();
  command->add_option("--methods", options->methods, "Methods, with commas [the plan's]");
  command->add_option("--cases", options->cases, "Cases, with commas [the plan's]");
  command->add_option("--repeats", options->repeats, "Repeats [the plan's]")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}));
  command->add_option("--configs", options->configs,
                      "Folder with configurations of 'tare tune' for the plan's cases");
  command->add_flag("--untuned", options->untuned,
                    "Every method with its defaults, and not with what was tuned for the case");
  command->add_option("--set", options->settings, "NAME=VALUE for an option of every method");
  add_common(*command, common);
  command->callback([options, &common] { run_reproduce(*options, common); });
}

}  // namespace tare::cli

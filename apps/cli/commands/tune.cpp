// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fail.h"
#include "base/strings.h"
#include "data/partition.h"
#include "data/rows.h"
#include "evaluate/experiment/case_data.h"
#include "evaluate/experiment/tune.h"
#include "io/files/atomic_file.h"
#include "support/bar.h"
#include "support/command.h"
#include "support/data_folder.h"
#include "support/file_case.h"
#include "support/help.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tare/base/version.h"

namespace tare::cli {
namespace {

struct TuneCommand {
  FileCase file;  // or, in place of the file, the name of an experiment
  std::string methods;
  std::string cases;
  std::string output;
  std::string folder;
  std::vector<std::string> grid, settings;
  std::size_t random = 0;
  std::size_t splits = 9;
  std::uint64_t seed = 1;
  bool force = false;
};

/// "dropout=0.05,0.1": an option and its values.
GridAxis parse_axis(const std::string& text) {
  const std::size_t mark = text.find('=');
  if (mark == std::string::npos || mark == 0 || mark + 1 == text.size()) {
    fail(ErrorCode::kInvalidArgument, "--grid requires NAME=VALUE,VALUE,..., got '{}'", text);
  }
  return {canonical_name(text.substr(0, mark)), split_names(text.substr(mark + 1))};
}

TuneOptions options_for(const TuneCommand& command, const Method& method) {
  TuneOptions options;
  for (const std::string& setting : command.settings) options.fixed.merge(Params::parse(setting));
  options.random = command.random;
  options.splits = command.splits;
  options.seed = Seed{command.seed};
  options.grid = default_grid(method, options.fixed);
  for (const std::string& text : command.grid) {
    GridAxis axis = parse_axis(text);
    std::erase_if(options.grid, [&](const GridAxis& known) { return known.name == axis.name; });
    options.grid.push_back(std::move(axis));
  }
  return options;
}

std::string config_text(const Method& method, const Tuned& tuned, const TuneOptions& options,
                        const ExperimentCase& one, const std::string& experiment) {
  nlohmann::ordered_json json = {{"method", method.name}, {"options", nlohmann::json::object()}};
  Params all = options.fixed;
  all.merge(tuned.params);
  for (const auto& [name, value] : all.all()) json["options"][name] = value;
  json["data"] = one.name;
  if (!experiment.empty()) json["experiment"] = experiment;
  json["found"] = {{"tare", kVersion},
                   {"seed", options.seed.value},
                   {"validation_check_score", tuned.trail.front().score},
                   {"splits", tuned.trail.front().splits},
                   {"settings_tried", tuned.trail.size()}};
  return json.dump(2) + "\n";
}

void print_trail(const ExperimentCase& one, const Method& method, const Tuned& tuned) {
  constexpr std::size_t kShown = 5;
  std::vector<std::vector<std::string>> rows = {{"options", "CheckScore", "splits"}};
  for (std::size_t k = 0; k < std::min(kShown, tuned.trail.size()); ++k) {
    const TuneTrial& trial = tuned.trail[k];
    rows.push_back(
        {trial.params.text(), fmt::format("{:.5g}", trial.score), std::to_string(trial.splits)});
  }
  say("\n"
      "{} {}: the best of {} settings; CheckScore is the mean over the splits on which a setting "
      "was scored\n"
      "{}",
      one.name, method.name, tuned.trail.size(), text_table(rows));
}

struct TuneCase {
  const ExperimentCase& one;
  const CaseData& data;
  std::string experiment;
};

void tune_one(const TuneCommand& command, const Method& method, const TuneCase& chosen,
              const std::string& output, const Common& common) {
  const TuneOptions options = options_for(command, method);
  Tuned tuned;
  {
    Bar bar(common);
    tuned = tune_method(method, chosen.data.rows.x, chosen.data.rows.y, options, bar.execution());
  }
  AtomicFile file(output, command.force ? Overwrite::kAllow : Overwrite::kRefuse);
  file.write(config_text(method, tuned, options, chosen.one, chosen.experiment));
  file.commit();
  if (!common.quiet) print_trail(chosen.one, method, tuned);
}

void tune_file(const TuneCommand& command, const Common& common) {
  if (command.file.target.empty()) fail(ErrorCode::kInvalidArgument, "--target is missing");
  const auto names = split_names(command.methods);
  if (names.size() != 1)
    fail(ErrorCode::kInvalidArgument, "--methods: a file needs exactly one method");
  const ExperimentCase one = case_of(command.file);
  const Method& method = find_method(names[0]);
  {
    const AtomicFile probe(command.output, command.force ? Overwrite::kAllow : Overwrite::kRefuse);
  }
  const CaseData data = read_case(one, "");
  tune_one(command, method, {one, data, ""}, command.output, common);
}

/// Only rows that no repeat uses for testing, so that nothing is tuned on a test row.
CaseData without_test_rows(const ExperimentPlan& plan, const CaseData& all) {
  std::set<std::size_t> tested;
  for (std::size_t repeat = 0; repeat < plan.repeats; ++repeat) {
    const Seed seed = split(plan.seed, repeat);
    const Partition parts = random_partition(all.rows.y.size(), plan.test_share, split(seed, 0));
    tested.insert(parts.second.begin(), parts.second.end());
  }
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < all.rows.y.size(); ++i) {
    if (!tested.contains(i)) kept.push_back(i);
  }
  CaseData data;
  data.rows.x = take_rows(all.rows.x, kept);
  data.rows.y = take_rows(all.rows.y, kept);
  return data;
}

void tune_experiment(const TuneCommand& command, const Common& common) {
  const ExperimentPlan plan = built_in_plan(command.file.data);
  const auto cases = split_names(command.cases);
  std::vector<std::string> names = split_names(command.methods);
  if (names.empty()) {
    for (const ExperimentMethod& method : plan.methods) names.push_back(method.method);
  }
  std::filesystem::create_directories(command.output);
  for (const ExperimentCase& one : plan.cases) {
    if (!cases.empty() && std::ranges::find(cases, one.name) == cases.end()) continue;
    if (one.test != TestRows::kRandom) continue;
    const CaseData data = without_test_rows(plan, read_case(one, data_folder(command.folder)));
    for (const std::string& name : names) {
      const Method& method = find_method(name);
      const std::string output = (std::filesystem::path(command.output) /
                                  fmt::format("{}.{}.{}.json", plan.name, one.name, method.name))
                                     .string();
      if (!command.force && std::filesystem::exists(output)) continue;  // goes on where it was
      try {
        tune_one(command, method, {one, data, plan.name}, output, common);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kBadData) throw;
        // There are too few rows for this method; the other methods can still be tuned.
        warn(common,
             fmt::format("{}, {}: not tuned: {}", one.name, method.name, error_words(error)));
      }
    }
  }
}

}  // namespace

void add_tune(CLI::App& app, Common& common) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App* command = app.add_subcommand(
      "tune", "Search the options of a method on validation rows, and write the best");
  command->footer(
      "Examples:\n"
      "  tare tune cars.csv --target mpg --methods hnn -o hnn.json\n"
      "  tare fit cars.csv --target mpg --config hnn.json -o cars.tare\n"
      "  tare tune uci --data ~/uci --methods hnn,cqr -o tuned      (a file for each case and "
      "method;\n"
      "                                                      test rows of all repeats are left "
      "out)");
  command
      ->add_option("data", options->file.data,
                   "CSV or TSV file, or the name of an experiment in 'tare reproduce'")
      ->required();
  command->add_option("--target", options->file.target, "Column to predict (for a file)");
  command->add_option(
      "--methods", options->methods,
      "The method; for an experiment one or more, separated by commas [those of the plan]");
  command
      ->add_option("-o,--output", options->output,
                   "Configuration file to write, or a folder for an experiment")
      ->required();
  command->add_option("--grid", options->grid,
                      "NAME=VALUE,VALUE,...: values to try [those in 'tare methods -v']");
  command->add_option("--random", options->random,
                      "Number of grid points to try, drawn at random [all]");
  command
      ->add_option("--splits", options->splits,
                   "Number of splits on which the finalists are scored")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}));
  command->add_option("--set", options->settings, "NAME=VALUE sets an option in all trials");
  command->add_option("--cases", options->cases,
                      "Cases of the experiment, separated by commas [all]");
  command->add_option("--data-folder", options->folder,
                      "Folder with the datasets [$TARE_DATA, else ./data]");
  add_column_options(*command, options->file);
  command->add_option("--seed", options->seed, "Seed of the splits and the methods")
      ->capture_default_str()
      ->check(whole_number());
  command->add_flag("--force", options->force, "Replace files that exist");
  put_in_group(*command, kColumns, {"--features", "--drop", "--categorical", "--missing"});
  put_in_group(*command, kOutput, {"--output", "--force"});
  add_common(*command, common);
  command->callback([options, &common] {
    const auto names = built_in_plan_names();
    if (std::ranges::find(names, options->file.data) != names.end()) {
      tune_experiment(*options, common);
    } else {
      tune_file(*options, common);
    }
  });
}

}  // namespace tare::cli

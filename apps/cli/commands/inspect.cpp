// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "io/safetensors.h"
#include "report/figures/choice_figures.h"
#include "support/command.h"
#include "support/model_facts.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "support/warning_text.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/model_file.h"

namespace tare::cli {
namespace {

/// The bandwidths that were tried, with a mark at the chosen one.
void print_path(const BandwidthChoice& choice) {
  if (choice.path.empty()) return;
  double best = choice.path.front().loss;
  for (const BandwidthTrial& trial : choice.path) best = std::min(best, trial.loss);
  say("\nbandwidths tried, by leave-one-out pinball loss over {} rows:\n", choice.rows_left_out);
  std::vector<std::vector<std::string>> rows = {{"bandwidth", "loss", "above best", ""}};
  for (const BandwidthTrial& trial : choice.path) {
    rows.push_back({short_number(trial.bandwidth), fmt::format("{:.6g}", trial.loss),
                    best > 0.0 ? fmt::format("{:.2f} %", 100.0 * (trial.loss / best - 1.0)) : "",
                    trial.bandwidth == choice.bandwidth ? "<- taken" : ""});
  }
  say("{}", text_table(rows));
}

/// The tested columns, the kept ones first.
void print_screened(std::vector<ScreenedColumnDescription> screened) {
  if (screened.empty()) return;
  std::ranges::stable_sort(screened, std::greater<>{}, &ScreenedColumnDescription::strength);
  say("\n"
      "columns tested: does the distribution of the residual depend on them?\n");
  std::vector<std::vector<std::string>> rows = {{"column", "strength", "p", ""}};
  for (const ScreenedColumnDescription& column : screened) {
    rows.push_back({column.name, fmt::format("{:.1f}", column.strength),
                    fmt::format("{:.3f}", column.p_value),
                    column.kept ? "<- feature of the kernel" : ""});
  }
  say("{}", text_table(rows));
}

/// The candidates of `auto`, their losses on left-out rows, and their shares of the average.
void print_trail(const AutoTrail& trail) {
  say("\n"
      "candidates{}, by pinball loss on {} left-out rows{}:\n",
      trail.budget.empty() ? "" : fmt::format(" of budget {}", trail.budget), trail.rows,
      trail.rounds > 1
          ? fmt::format(", mean of {} rounds of training (bandwidths of the first)", trail.rounds)
          : "");
  std::vector<std::vector<std::string>> rows = {{"candidate", "loss", "bandwidth", "share"}};
  for (const AutoTrail::Step& step : trail.steps) {
    rows.push_back({step.name, fmt::format("{:.6g}", step.loss), short_number(step.bandwidth),
                    step.share > 0.0 ? fmt::format("{:.0f} %", 100.0 * step.share) : ""});
  }
  rows.push_back({"average", fmt::format("{:.6g}", trail.average_loss), "", ""});
  say("{}", text_table(rows));
  if (!trail.masses.empty()) say("{}\n", mass_words(trail));
}

void print_text(const std::string& path, const Description& model) {
  say("{}\n", path);
  for (const auto& [name, text] : model_facts(model)) {
    if (!text.empty()) say("{:<12} {}\n", name, text);
  }
  if (model.kernel) print_path(model.kernel->bandwidth);
  if (model.trail) print_trail(*model.trail);
  print_screened(model.screened);
}

/// The description of the model, and the raw contents of the file.
void print_json(const Description& model, const TensorStore& store) {
  Json json = {{"format_version", kFormatVersion},
               {"values", Json::object()},
               {"tensors", Json::object()},
               {"description", Json::parse(description_json(model))},
               {"warnings", warnings_json(model.warnings)}};
  for (const auto& [name, value] : store.values) json["values"][name] = value;
  for (const auto& [name, tensor] : store.tensors) {
    json["tensors"][name] = {{"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}};
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_inspect(CLI::App& app, Common& common) {
  auto path = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("inspect", "Show the contents of a model file and what the fit chose");
  command->footer("Example:\n  tare inspect cars.tare");
  command->add_option("model", *path, "Model file of 'tare fit' or 'tare track --save'")
      ->required();
  add_common(*command, common);
  command->callback([path, &common] {
    const Description model = describe(load_model(*path));  // with all checks of the file
    if (common.json) {
      print_json(model, read_safetensors(*path));
    } else {
      print_text(*path, model);
    }
  });
}

}  // namespace tare::cli

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "calibrate/features/screening.h"
#include "data/schema.h"
#include "io/safetensors.h"
#include "support/command.h"
#include "support/model_facts.h"
#include "support/text_table.h"
#include "support/warning_text.h"
#include "tare/calibrate/model_file.h"

namespace tare::cli {
namespace {

/// The bandwidths that were tried, with a mark at the one that was taken.
void print_path(const BandwidthPath& path) {
  double best = path.trials.front().loss;
  for (const BandwidthPath::Trial& trial : path.trials) best = std::min(best, trial.loss);
  fmt::print("\nbandwidths tried, by leave-one-out pinball loss over {} rows:\n", path.rows);
  std::vector<std::vector<std::string>> rows = {{"bandwidth", "loss", "above best", ""}};
  for (const BandwidthPath::Trial& trial : path.trials) {
    rows.push_back({short_number(trial.bandwidth), fmt::format("{:.6g}", trial.loss),
                    best > 0.0 ? fmt::format("{:.2f} %", 100.0 * (trial.loss / best - 1.0)) : "",
                    trial.bandwidth == path.taken ? "<- taken" : ""});
  }
  fmt::print("{}", text_table(rows));
}

/// The columns that were tested, those that are kept first.
void print_screened(const Json& screened, const std::vector<std::string>& names) {
  std::vector<std::vector<Json>> sorted = screened.get<std::vector<std::vector<Json>>>();
  std::ranges::stable_sort(sorted, std::greater<>{},
                           [](const auto& row) { return row[1].template get<double>(); });
  fmt::print("\ncolumns tested for dependence of the residual's law:\n");
  std::vector<std::vector<std::string>> rows = {{"column", "strength", "p", ""}};
  for (const auto& row : sorted) {
    const auto column = row[0].get<std::size_t>();
    const double p = row[2].get<double>();
    rows.push_back({column < names.size() ? names[column] : std::to_string(column),
                    fmt::format("{:.1f}", row[1].get<double>()), fmt::format("{:.3f}", p),
                    p <= kScreenLevel ? "<- seen by the kernel" : ""});
  }
  fmt::print("{}", text_table(rows));
}

/// What `auto` tried, what each scored on rows left out, and what it kept.
void print_trail(const AutoTrail& trail) {
  fmt::print("\ntried, by pinball loss of {} rows left out:\n", trail.rows);
  std::vector<std::vector<std::string>> rows = {{"candidate", "loss", "bandwidth", "share"}};
  for (const AutoTrail::Step& step : trail.steps) {
    rows.push_back({step.name, fmt::format("{:.6g}", step.loss), short_number(step.bandwidth),
                    step.share > 0.0 ? fmt::format("{:.0f} %", 100.0 * step.share) : ""});
  }
  rows.push_back({"average", fmt::format("{:.6g}", trail.average_loss), "", ""});
  fmt::print("{}", text_table(rows));
  if (!trail.masses.empty()) fmt::print("{}\n", mass_words(trail));
}

void print_text(const std::string& path, const FittedModel& fitted, const TensorStore& store) {
  fmt::print("{}\n", path);
  for (const auto& [name, text] : model_facts(fitted, store)) {
    if (!text.empty()) fmt::print("{:<12} {}\n", name, text);
  }
  if (const auto tried = bandwidth_path(store)) print_path(*tried);
  if (const auto trail = auto_trail(store)) print_trail(*trail);
  for (const char* part : {"model", "model.fold0"}) {
    const TensorReader in = TensorReader(store).part(part);
    if (in.has_value("screened"))
      print_screened(in.value("screened"), fitted.schema->feature_names());
  }
}

void print_json(const FittedModel& fitted, const TensorStore& store) {
  Json json = {{"format_version", kFormatVersion},
               {"values", Json::object()},
               {"tensors", Json::object()},
               {"warnings", warnings_json(model_warnings(*fitted.model))}};
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
      app.add_subcommand("inspect", "Show what a model file holds and what was chosen at fit");
  command->footer("Example:\n  tare inspect cars.tare");
  command->add_option("model", *path, "Model file of 'tare fit'")->required();
  add_common(*command, common);
  command->callback([path, &common] {
    const FittedModel fitted = load_model(*path);  // with all its checks
    const TensorStore store = read_safetensors(*path);
    if (common.json) {
      print_json(fitted, store);
    } else {
      print_text(*path, fitted, store);
    }
  });
}

}  // namespace tare::cli

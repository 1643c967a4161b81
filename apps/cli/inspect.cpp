// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/strings.h"
#include "calibrate/guarantee.h"
#include "calibrate/screening.h"
#include "command.h"
#include "data/schema.h"
#include "io/safetensors.h"
#include "tare/calibrate/model_file.h"
#include "text_table.h"

namespace tare::cli {
namespace {

std::string joined_options(const Params& params) {
  std::vector<std::string> items;
  for (const auto& [name, value] : params.all()) items.push_back(name + "=" + value);
  return items.empty() ? "the method's defaults" : join(items, " ");
}

std::string column_list(const Schema& schema) {
  std::vector<std::string> names;
  for (const InputColumn& input : schema.inputs()) {
    std::string name = input.name;
    if (input.categorical) name += fmt::format(" ({} categories)", input.vocabulary.size());
    if (!input.for_model) name += " (kernel only)";
    names.push_back(std::move(name));
  }
  return join(names, ", ");
}

/// What an outside model gives, and in which columns.
std::string given_list(const Schema& schema) {
  const std::vector<std::string>& names = schema.given_columns();
  if (names.empty() || schema.given_form().kind == GivenKind::kPoint) return join(names, ", ");
  if (schema.given_form().kind == GivenKind::kMeanSd) {
    return fmt::format("mean {}, standard deviation {}", names[0], names[1]);
  }
  std::vector<std::string> items;
  for (std::size_t j = 0; j < names.size(); ++j) {
    items.push_back(fmt::format("{} (level {})", names[j], schema.given_form().levels[j]));
  }
  return "quantiles " + join(items, ", ");
}

/// The bandwidths that were tried, with a mark at the one that was taken.
void print_path(const TensorReader& in) {
  const auto& path = in.value("model.bandwidth_path");
  if (path.empty()) return;
  const Json& taken = in.value("model.snq.bandwidth");
  double best = path[0][1].get<double>();
  for (const Json& trial : path) best = std::min(best, trial[1].get<double>());
  fmt::print("\nbandwidths tried, by leave-one-out pinball loss over {} rows:\n",
             in.value("model.bandwidth_rows").get<std::size_t>());
  std::vector<std::vector<std::string>> rows = {{"bandwidth", "loss", "above best", ""}};
  for (const Json& trial : path) {
    const double loss = trial[1].get<double>();
    rows.push_back({short_number(trial[0].get<double>()), fmt::format("{:.6g}", loss),
                    best > 0.0 ? fmt::format("{:.2f} %", 100.0 * (loss / best - 1.0)) : "",
                    trial[0] == taken ? "<- taken" : ""});
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
void print_trail(const TensorReader& in) {
  const Json& trail = in.value("model.trail");
  fmt::print("\ntried, by pinball loss of {} rows left out:\n",
             in.get<std::size_t>("model.loss_rows"));
  std::vector<std::vector<std::string>> rows = {{"candidate", "loss", "bandwidth", "share"}};
  for (const Json& trial : trail) {
    const double share = trial[3].get<double>();
    rows.push_back({trial[0].get<std::string>(), fmt::format("{:.6g}", trial[1].get<double>()),
                    short_number(trial[2].get<double>()),
                    share > 0.0 ? fmt::format("{:.0f} %", 100.0 * share) : ""});
  }
  rows.push_back({"average", fmt::format("{:.6g}", in.get<double>("model.loss")), "", ""});
  fmt::print("{}", text_table(rows));
}

/// "0.9: 0.905": what a central interval is known to cover with so many rows, on average.
std::string delivered(std::size_t rows) {
  std::vector<std::string> items;
  for (const double confidence : {0.5, 0.8, 0.9, 0.95, 0.99}) {
    const auto [low, high] = interval_levels(confidence);
    const std::uint64_t least = low.rank_below(rows + 1);
    const std::uint64_t most = high.rank(rows + 1);
    const bool finite = least >= 1 && most <= rows;
    const double share = static_cast<double>(most - least) / static_cast<double>(rows + 1);
    items.push_back(finite ? fmt::format("{}: {:.4f}", confidence, share)
                           : fmt::format("{}: 1 (infinite)", confidence));
  }
  return join(items, ", ");
}

std::string group_list(const GuaranteedModel& model, const GroupColumn& column) {
  constexpr std::size_t kNamed = 20;
  std::vector<std::string> items;
  for (std::size_t g = 0; g < std::min(kNamed, column.values().size()); ++g) {
    const auto rows = g < model.group_rows().size() ? model.group_rows()[g] : 0;
    const bool own = model.has_ranks(static_cast<std::uint32_t>(g));
    items.push_back(
        fmt::format("{} ({} rows{})", column.values()[g], rows, own ? "" : ": as over all rows"));
  }
  if (column.values().size() > kNamed) items.emplace_back("...");
  return fmt::format("{}: {}", column.name(), join(items, ", "));
}

void print_text(const std::string& path, const FittedModel& fitted, const TensorStore& store) {
  const TensorReader in(store);
  const Schema& schema = *fitted.schema;
  const auto line = [](std::string_view name, const std::string& text) {
    if (!text.empty()) fmt::print("{:<12} {}\n", name, text);
  };
  fmt::print("{}\n", path);
  line("method", fitted.method);
  line("options", joined_options(fitted.params));
  line("made by", "tare " + in.get<std::string>("tare_version") + ", seed " +
                      std::to_string(fitted.seed.value));
  line("target", schema.target());
  line("prediction", given_list(schema));
  line("predictor", schema.predictor());
  line("weight", schema.weight());
  line("features", column_list(schema));
  line("fitted on", fmt::format("{} rows", fitted.rows));
  if (const auto* model = dynamic_cast<const GuaranteedModel*>(fitted.model.get())) {
    line("guarantee", fmt::format("split, {} rows held out", model->overall().rows()));
    line("delivers", delivered(model->overall().rows()));
    if (!schema.group().empty()) line("groups", group_list(*model, schema.group()));
  }
  if (in.has_value("model.snq.rows")) {
    line("calibration",
         fmt::format("{} rows in {} kernel features", in.get<std::size_t>("model.snq.rows"),
                     in.get<std::size_t>("model.snq.dims")));
    line("point model", in.get<std::string>("model.point.regressor"));
    line("kernel", in.get<std::string>("model.snq.kernel"));
    const Json& bandwidth = in.value("model.snq.bandwidth");
    line("bandwidth",
         fmt::format("{} ({})",
                     bandwidth.is_number() ? short_number(bandwidth.get<double>()) : "infinite",
                     in.get<std::string>("model.bandwidth_rule")));
    line("fallback", fmt::format("{}, {} rows", in.get<std::string>("model.snq.fallback"),
                                 in.get<std::size_t>("model.snq.min_support")));
    if (in.has_value("model.snq.index")) line("index", in.get<std::string>("model.snq.index"));
    print_path(in);
  }
  if (in.has_value("model.trail")) print_trail(in);
  if (in.has_value("model.screened"))
    print_screened(in.value("model.screened"), schema.feature_names());
}

void print_json(const TensorStore& store) {
  Json json = {
      {"format_version", kFormatVersion}, {"values", Json::object()}, {"tensors", Json::object()}};
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
      print_json(store);
    } else {
      print_text(*path, fitted, store);
    }
  });
}

}  // namespace tare::cli

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
#include "guarantee_text.h"
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
  const auto& path = in.value("bandwidth_path");
  if (path.empty()) return;
  const Json& taken = in.value("snq.bandwidth");
  double best = path[0][1].get<double>();
  for (const Json& trial : path) best = std::min(best, trial[1].get<double>());
  fmt::print("\nbandwidths tried, by leave-one-out pinball loss over {} rows:\n",
             in.value("bandwidth_rows").get<std::size_t>());
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
  const Json& trail = in.value("trail");
  fmt::print("\ntried, by pinball loss of {} rows left out:\n", in.get<std::size_t>("loss_rows"));
  std::vector<std::vector<std::string>> rows = {{"candidate", "loss", "bandwidth", "share"}};
  for (const Json& trial : trail) {
    const double share = trial[3].get<double>();
    rows.push_back({trial[0].get<std::string>(), fmt::format("{:.6g}", trial[1].get<double>()),
                    short_number(trial[2].get<double>()),
                    share > 0.0 ? fmt::format("{:.0f} %", 100.0 * share) : ""});
  }
  rows.push_back({"average", fmt::format("{:.6g}", in.get<double>("loss")), "", ""});
  fmt::print("{}", text_table(rows));
}

void line(std::string_view name, const std::string& text) {
  if (!text.empty()) fmt::print("{:<12} {}\n", name, text);
}

/// `in` is the part of the file with the method's model, or the first fold's, of which `remark`
/// says so.
void print_snq(const TensorReader& in, std::string_view remark) {
  if (!in.has_value("snq.rows")) return;
  line("calibration",
       fmt::format("{} rows in {} kernel features{}", in.get<std::size_t>("snq.rows"),
                   in.get<std::size_t>("snq.dims"), remark));
  line("point model", in.get<std::string>("point.regressor"));
  line("kernel", in.get<std::string>("snq.kernel"));
  const Json& bandwidth = in.value("snq.bandwidth");
  line("bandwidth",
       fmt::format("{} ({})",
                   bandwidth.is_number() ? short_number(bandwidth.get<double>()) : "infinite",
                   in.get<std::string>("bandwidth_rule")));
  line("fallback", fmt::format("{}, {} rows", in.get<std::string>("snq.fallback"),
                               in.get<std::size_t>("snq.min_support")));
  if (in.has_value("snq.index")) line("index", in.get<std::string>("snq.index"));
  print_path(in);
}

void print_text(const std::string& path, const FittedModel& fitted, const TensorStore& store) {
  const TensorReader in(store);
  const Schema& schema = *fitted.schema;
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
    line("guarantee", guarantee_form(*model));
    line("delivers", guarantee_delivers(*model));
    line("proven", guarantee_bound(*model));
    line("shift", guarantee_shift(*model));
    if (!schema.group().empty()) line("groups", guarantee_groups(*model, schema.group()));
  }
  print_snq(in.part("model"), "");
  print_snq(in.part("model.fold0"), " (of the first fold's model, as are the next lines)");
  for (const char* part : {"model", "model.fold0"}) {
    if (in.part(part).has_value("trail")) print_trail(in.part(part));
    if (in.part(part).has_value("screened"))
      print_screened(in.part(part).value("screened"), schema.feature_names());
  }
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

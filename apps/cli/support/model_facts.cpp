// SPDX-License-Identifier: BSD-3-Clause
#include "support/model_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "calibrate/bands/banded_model.h"
#include "calibrate/bounds/bounded_model.h"
#include "calibrate/guarantee/guarantee.h"
#include "data/schema.h"
#include "support/guarantee_text.h"
#include "support/text_table.h"
#include "tare/calibrate/warnings.h"

namespace tare::cli {
namespace {

constexpr const char* kParts[] = {"model", "model.fold0"};

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
  if (schema.given_form().kind == GivenKind::kFoldPoints) {
    return fmt::format("{}: one of each fold's model", join(names, ", "));
  }
  std::vector<std::string> items;
  for (std::size_t j = 0; j < names.size(); ++j) {
    items.push_back(fmt::format("{} (level {})", names[j], schema.given_form().levels[j]));
  }
  return "quantiles " + join(items, ", ");
}

std::string_view remark_of(const std::string& part) {
  return part == kParts[0] ? "" : " (of the first fold's model, as are the next lines)";
}

void add_snq(const TensorReader& in, std::string_view remark, Facts& facts) {
  if (!in.has_value("snq.rows")) return;
  const Json& bandwidth = in.value("snq.bandwidth");
  facts.emplace_back("calibration",
                     fmt::format("{} rows in {} kernel features{}", in.get<std::size_t>("snq.rows"),
                                 in.get<std::size_t>("snq.dims"), remark));
  facts.emplace_back("point model", in.get<std::string>("point.regressor"));
  facts.emplace_back("kernel", in.get<std::string>("snq.kernel"));
  facts.emplace_back(
      "bandwidth",
      fmt::format("{} ({})",
                  bandwidth.is_number() ? short_number(bandwidth.get<double>()) : "infinite",
                  in.get<std::string>("bandwidth_rule")));
  facts.emplace_back("fallback", fmt::format("{}, {} rows", in.get<std::string>("snq.fallback"),
                                             in.get<std::size_t>("snq.min_support")));
  if (in.has_value("snq.index")) facts.emplace_back("index", in.get<std::string>("snq.index"));
}

/// What nrc_boost found: its trees, and along which column SNQ looks for near rows.
void add_residual_trees(const TensorReader& in, const Schema& schema, Facts& facts) {
  if (!in.has_tensor("trees.range")) return;
  const auto trees = [&](std::string_view part) {
    const std::string root = fmt::format("trees.{}.root", part);
    return in.has_tensor(root) ? fmt::format("{} trees", in.shape(root)[0]) : "no trees";
  };
  facts.emplace_back("residuals",
                     fmt::format("center by {}, size by {}", trees("center"), trees("size")));
  std::vector<std::string> seen;
  for (const std::int64_t column :
       in.values<std::int64_t>("seen.columns", in.shape("seen.columns"))) {
    seen.push_back(schema.feature_names()[static_cast<std::size_t>(column)]);
  }
  if (seen.empty()) seen = schema.feature_names();  // none means all
  const auto along = in.values<std::int64_t>("features.columns", in.shape("features.columns"));
  if (along.size() != 1) {
    facts.emplace_back("along", "all columns, the prediction and the size");
    return;
  }
  const auto place = static_cast<std::size_t>(along.front());
  const std::size_t behind = place - std::min(place, seen.size());  // the features
  if (place < seen.size()) {
    facts.emplace_back("along", seen[place]);
  } else if (behind < in.get<std::size_t>("seen.of_point")) {
    facts.emplace_back("along", behind == 0 ? "the prediction" : "the spread that is given");
  } else {
    facts.emplace_back("along", "the size that the trees found");
  }
}

}  // namespace

std::string bands_text(const FittedModel& fitted) {
  const BandedModel* banded = bands_of(*fitted.model);
  if (banded == nullptr) {
    if (parse_bands(fitted.params) != BandRule::kOn) return "none (fit with --bands on)";
    return fitted.rows < kRowsForBands
               ? fmt::format("none: they need {} rows", kRowsForBands)
               : "none: half of the rows are too few for the method, or many targets share a value "
                 "that its quantiles never take (--masses yes)";
  }
  return fmt::format("from {} fits on {} of {} rows", kHalves, banded->counts().half,
                     banded->counts().rows);
}

namespace {

/// The values that quantiles hit, by a guide beside the method.
void add_masses(const TensorReader& in, std::string_view remark, Facts& facts) {
  if (!in.has_tensor("point_masses.values")) return;
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> named;
  const auto values = in.values<double>("point_masses.values", in.shape("point_masses.values"));
  for (const double value : values) {
    if (named.size() < kNamed) named.push_back(short_number(value));
  }
  if (values.size() > kNamed) named.emplace_back("...");
  facts.emplace_back("masses",
                     fmt::format("quantiles hit {}{} (guide '{}'){}", join(named, ", "),
                                 in.get<bool>("point_masses.whole") ? " and are whole numbers" : "",
                                 in.get<std::string>("point_masses.name"), remark));
}

}  // namespace

std::string series_guarantee(const FittedModel& fitted) {
  const GuaranteedModel* model = guarantee_of(*fitted.model);
  const bool series = fitted.schema->window() > 1 ||
                      canonical_name(fitted.params.text("split", "")).starts_with("time");
  if (model == nullptr || model->folds() > 1 || !series) return {};
  return "nothing is proven for rows in time order, which depend on each other; the last rows of "
         "the series were held out";
}

std::string bounds_text(const TargetBounds& bounds) {
  if (!bounds.high) return fmt::format("{} and above", short_number(*bounds.low));
  if (!bounds.low) return fmt::format("{} and below", short_number(*bounds.high));
  return fmt::format("{} and {}", short_number(*bounds.low), short_number(*bounds.high));
}

Facts model_facts(const FittedModel& fitted, const TensorStore& store) {
  const TensorReader in(store);
  const Schema& schema = *fitted.schema;
  Facts facts = {
      {"method", fitted.method},
      {"options", joined_options(fitted.params)},
      {"made by",
       fmt::format("tare {}, seed {}", in.get<std::string>("tare_version"), fitted.seed.value)},
      {"target", schema.target()},
      {"prediction", given_list(schema)},
      {"predictor", schema.predictor()},
      {"weight", schema.weight()},
      {"features", column_list(schema)},
      {"fitted on", fmt::format("{} rows", fitted.rows)},
  };
  if (const auto* model = guarantee_of(*fitted.model)) {
    facts.emplace_back("guarantee", guarantee_form(*model));
    facts.emplace_back("delivers", guarantee_delivers(*model));
    const std::string of_series = series_guarantee(fitted);
    facts.emplace_back("proven", of_series.empty() ? guarantee_bound(*model) : of_series);
    facts.emplace_back("assumes", guarantee_assumes(*model));
    facts.emplace_back("shift", guarantee_shift(*model));
    if (!schema.group().empty()) {
      facts.emplace_back("groups", guarantee_groups(*model, schema.group()));
    }
  }
  facts.emplace_back("bands", bands_text(fitted));
  for (const PredictionWarning& warning : model_warnings(*fitted.model)) {
    facts.emplace_back("warning", fmt::format("{} [{}]", warning.text, warning_name(warning.code)));
  }
  if (const BoundedModel* bounded = bounded_model_of(*fitted.model)) {
    facts.emplace_back("bounds", bounds_text(bounded->bounds()));
  }
  for (const std::string part : kParts) {
    add_masses(in.part(part), remark_of(part), facts);
    add_snq(in.part(part), remark_of(part), facts);
    add_residual_trees(in.part(part), schema, facts);
  }
  return facts;
}

std::optional<BandwidthPath> bandwidth_path(const TensorStore& store) {
  for (const std::string part : kParts) {
    const TensorReader in = TensorReader(store).part(part);
    if (!in.has_value("snq.rows") || in.value("bandwidth_path").empty()) continue;
    const Json& taken = in.value("snq.bandwidth");
    BandwidthPath path;
    path.taken = taken.is_number() ? taken.get<double>() : std::numeric_limits<double>::infinity();
    path.rows = in.get<std::size_t>("bandwidth_rows");
    path.remark = part == kParts[0] ? "" : " of the first fold's model";
    for (const Json& trial : in.value("bandwidth_path")) {
      path.trials.push_back({trial.at(0).get<double>(), trial.at(1).get<double>()});
    }
    return path;
  }
  return std::nullopt;
}

std::optional<AutoTrail> auto_trail(const TensorStore& store) {
  for (const std::string part : kParts) {
    const TensorReader in = TensorReader(store).part(part);
    if (!in.has_value("trail")) continue;
    AutoTrail trail;
    trail.rows = in.get<std::size_t>("loss_rows");
    trail.average_loss = in.get<double>("loss");
    for (const Json& trial : in.value("trail")) {
      trail.steps.push_back({trial.at(0).get<std::string>(), trial.at(1).get<double>(),
                             trial.at(2).get<double>(), trial.at(3).get<double>()});
    }
    if (in.has_value("guide.name")) {
      trail.guide = in.get<std::string>("guide.name");
      trail.masses = in.values<double>("guide.values", in.shape("guide.values"));
    }
    return trail;
  }
  return std::nullopt;
}

}  // namespace tare::cli

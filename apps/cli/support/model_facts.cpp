// SPDX-License-Identifier: BSD-3-Clause
#include "support/model_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "support/guarantee_text.h"
#include "support/text_table.h"
#include "tare/calibrate/warnings.h"

namespace tare::cli {
namespace {

std::string joined_options(const Description& model) {
  std::vector<std::string> items;
  for (const auto& [name, value] : model.options) items.push_back(name + "=" + value);
  return items.empty() ? "the method's defaults" : join(items, " ");
}

std::string column_list(const Description& model) {
  std::vector<std::string> names;
  for (const InputColumn& input : model.inputs) {
    std::string name = input.name;
    if (input.categorical) name += fmt::format(" ({} categories)", input.vocabulary.size());
    if (!input.for_model) name += " (kernel only)";
    names.push_back(std::move(name));
  }
  return join(names, ", ");
}

/// The form and the columns of the given predictions.
std::string given_list(const Description& model) {
  std::vector<std::string> names;
  for (const GivenColumn& column : model.given) names.push_back(column.name);
  const GivenForm& form = model.given_form;
  if (names.empty() || form.kind == GivenKind::kPoint) return join(names, ", ");
  if (form.kind == GivenKind::kMeanSd) {
    return fmt::format("mean {}, standard deviation {}", names[0], names[1]);
  }
  if (form.kind == GivenKind::kFoldPoints) {
    return fmt::format("{}: one column for the model of each fold", join(names, ", "));
  }
  std::vector<std::string> items;
  for (std::size_t j = 0; j < names.size(); ++j) {
    items.push_back(fmt::format("{} (level {})", names[j], form.levels[j]));
  }
  return "quantiles " + join(items, ", ");
}

std::string_view fold_remark(const Description& model) {
  return model.of_first_fold ? " (of the model of the first fold, as are the next lines)" : "";
}

void add_guarantee(const Description& model, Facts& facts) {
  if (!model.guarantee) return;
  const GuaranteeDescription& guarantee = *model.guarantee;
  facts.emplace_back("guarantee", guarantee_form(guarantee));
  facts.emplace_back("delivers", guarantee_delivers(guarantee));
  const std::string of_series = series_guarantee(guarantee);
  facts.emplace_back("proven", of_series.empty() ? guarantee_bound(guarantee) : of_series);
  facts.emplace_back("ranked among", guarantee_near(model));
  facts.emplace_back("assumes", guarantee_assumes(guarantee));
  facts.emplace_back("shift", guarantee_shift(guarantee));
  if (!model.group.empty() && !guarantee.groups.empty()) {
    facts.emplace_back("groups", guarantee_groups(guarantee, model.group));
  }
}

/// The values that quantiles can equal, and the guide model that decides it.
void add_masses(const Description& model, Facts& facts) {
  if (!model.masses) return;
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> named;
  for (const double value : model.masses->values) {
    if (named.size() < kNamed) named.push_back(short_number(value));
  }
  if (model.masses->values.size() > kNamed) named.emplace_back("...");
  facts.emplace_back("masses",
                     fmt::format("quantiles can equal {}{} (guide '{}'){}", join(named, ", "),
                                 model.masses->whole ? " and are whole numbers" : "",
                                 model.masses->guide, fold_remark(model)));
}

void add_kernel(const Description& model, Facts& facts) {
  if (!model.kernel) return;
  const KernelDescription& kernel = *model.kernel;
  const double bandwidth = kernel.bandwidth.bandwidth;
  facts.emplace_back("calibration", fmt::format("{} rows in {} kernel features{}", kernel.rows,
                                                kernel.dims, fold_remark(model)));
  facts.emplace_back("point model", kernel.point_model);
  facts.emplace_back("kernel", kernel.kernel);
  facts.emplace_back(
      "bandwidth",
      fmt::format("{} ({})", std::isinf(bandwidth) ? "infinite" : short_number(bandwidth),
                  kernel.bandwidth.rule));
  facts.emplace_back("fallback", fmt::format("{}, {} rows", kernel.fallback, kernel.min_support));
  facts.emplace_back("index", kernel.index);
}

std::string along_text(const ResidualTreesDescription& trees) {
  switch (trees.along) {
    case AlongKind::kAll:
      return "all columns, the prediction and the size";
    case AlongKind::kColumn:
      return trees.along_column;
    case AlongKind::kPrediction:
      return "the prediction";
    case AlongKind::kGivenSpread:
      return "the given spread";
    case AlongKind::kSize:
      break;
  }
  return "the size estimated by the trees";
}

/// The trees of nrc_boost, and the feature of its kernel.
void add_residual_trees(const Description& model, Facts& facts) {
  if (!model.residual_trees) return;
  const ResidualTreesDescription& trees = *model.residual_trees;
  const auto count = [](const std::optional<std::size_t>& number) {
    return number ? fmt::format("{} trees", *number) : "no trees";
  };
  facts.emplace_back("residuals", fmt::format("center by {}, size by {}", count(trees.center_trees),
                                              count(trees.size_trees)));
  facts.emplace_back("along", along_text(trees));
}

std::string online_source(const OnlineDescription& online) {
  if (online.source == "model") return "of a model of 'tare fit' (" + online.base_method + ")";
  return online.source == "own" ? "of trees of its own, fitted again as rows come"
                                : "of the column";
}

/// A stream that the model has followed: rows, levels and drift.
void add_online(const OnlineDescription& online, Facts& facts) {
  facts.emplace_back("online",
                     fmt::format("{}; errors are those {}", online.method, online_source(online)));
  facts.emplace_back(
      "followed", fmt::format("{} rows: {} to warm up, then {} answered and learned{}", online.rows,
                              std::min(online.start, online.rows), online.answered,
                              online.delay == 0 ? ""
                                                : fmt::format("; a target is known after {} "
                                                              "more rows are answered",
                                                              online.delay)));
  for (const OnlineDescription::KeptLevel& kept : online.levels) {
    std::string text = fmt::format("{}", kept.level);
    if (online.answered > 0) {
      text += fmt::format(": {:.4f} of the targets at or below the answer", kept.share_below);
    }
    text += kept.bound < 1.0 ? fmt::format("; proven: within {:.4f} of the level", kept.bound)
                             : "; nothing proven yet";
    facts.emplace_back("level", std::move(text));
  }
  facts.emplace_back(
      "drift",
      online.drift_alarm
          ? fmt::format("alarm at row {}, change from about row {} (of the rows followed, from 0)",
                        *online.drift_alarm, online.drift_change.value_or(*online.drift_alarm))
          : fmt::format("no alarm; evidence log e {:.2f}, an alarm from {:.2f} on (rate of "
                        "false alarms {})",
                        online.drift_log_e, std::log(1.0 / online.drift_rate), online.drift_rate));
}

std::string fitted_rows(const Description& model) {
  std::string text = fmt::format("{} rows", model.rows);
  if (model.trail && model.trail->eligible > model.trail->trained) {
    text += fmt::format(", learned from {} of {}", model.trail->trained, model.trail->eligible);
  }
  return text;
}

}  // namespace

std::string bands_text(const BandsDescription& bands) {
  switch (bands.absence) {
    case BandsAbsence::kNotAsked:
      return "none (fit with --bands on)";
    case BandsAbsence::kTooFewRows:
      return fmt::format("none: they need {} rows", bands.rows_needed);
    case BandsAbsence::kNotPossible:
      return "none: the method needs more than half of the rows, or many targets share a value "
             "that its quantiles never take (--masses yes)";
    case BandsAbsence::kNone:
      break;
  }
  return fmt::format("from {} fits on {} of {} rows", bands.fits, bands.half, bands.rows);
}

std::string bounds_text(const BoundsDescription& bounds) {
  if (!bounds.high) return fmt::format("{} and above", short_number(*bounds.low));
  if (!bounds.low) return fmt::format("{} and below", short_number(*bounds.high));
  return fmt::format("{} and {}", short_number(*bounds.low), short_number(*bounds.high));
}

Facts model_facts(const Description& model) {
  Facts facts = {
      {"method", model.method},
      {"options", joined_options(model)},
      {"made by", fmt::format("tare {}, seed {}", model.tare_version, model.seed)},
      {"target", model.target},
      {"prediction", given_list(model)},
      {"predictor", model.predictor},
      {"weight", model.weight},
      {"features", column_list(model)},
  };
  if (model.online) {
    add_online(*model.online, facts);  // bands and a guarantee of the fit do not apply
  } else {
    facts.emplace_back("fitted on", fitted_rows(model));
    add_guarantee(model, facts);
    facts.emplace_back("bands", bands_text(model.bands));
  }
  for (const PredictionWarning& warning : model.warnings) {
    facts.emplace_back("warning", fmt::format("{} [{}]", warning.text, warning_name(warning.code)));
  }
  if (model.bounds) facts.emplace_back("bounds", bounds_text(*model.bounds));
  add_masses(model, facts);
  add_kernel(model, facts);
  add_residual_trees(model, facts);
  return facts;
}

}  // namespace tare::cli

// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tare/calibrate/description.h"

namespace tare {
namespace {

using OrderedJson = nlohmann::ordered_json;  // members in the order in which they are read

template <class T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

OrderedJson bandwidth_json(double bandwidth) {
  return std::isinf(bandwidth) ? OrderedJson("infinite") : OrderedJson(bandwidth);
}

void add_range_to(OrderedJson& json, const std::optional<ColumnRange>& range) {
  json["low"] = range ? OrderedJson(range->low) : OrderedJson(nullptr);
  json["high"] = range ? OrderedJson(range->high) : OrderedJson(nullptr);
}

OrderedJson column_json(const InputColumn& input) {
  OrderedJson json = {{"name", input.name},
                      {"kind", input.categorical ? "category" : "number"},
                      {"for_model", input.for_model}};
  if (!input.categorical) {
    json["typical"] = input.typical;
    add_range_to(json, input.range);
    return json;
  }
  const auto place = static_cast<std::size_t>(input.typical);
  json["typical"] =
      place < input.vocabulary.size() ? OrderedJson(input.vocabulary[place]) : OrderedJson(nullptr);
  json["categories"] = input.vocabulary;
  return json;
}

std::string_view kind_name(GivenKind kind) {
  switch (kind) {
    case GivenKind::kPoint:
      return "point";
    case GivenKind::kMeanSd:
      return "mean_sd";
    case GivenKind::kQuantiles:
      return "quantiles";
    case GivenKind::kFoldPoints:
      return "fold_points";
  }
  return "";
}

/// A value for a column that an outside model fills. A standard deviation is above 0.
double typical_given(const Description& of, std::size_t column) {
  if (const auto& range = of.given[column].range) return 0.5 * (range->low + range->high);
  return of.given_form.kind == GivenKind::kMeanSd && column == 1 ? 1.0 : 0.0;
}

OrderedJson given_columns_json(const Description& of) {
  if (of.given.empty()) return nullptr;
  OrderedJson columns = OrderedJson::array();
  for (std::size_t j = 0; j < of.given.size(); ++j) {
    OrderedJson json = {{"name", of.given[j].name}, {"typical", typical_given(of, j)}};
    if (of.given_form.kind == GivenKind::kQuantiles) json["level"] = of.given_form.levels[j];
    add_range_to(json, of.given[j].range);
    columns.push_back(std::move(json));
  }
  return {{"kind", kind_name(of.given_form.kind)}, {"columns", std::move(columns)}};
}

OrderedJson local_object(const Description& model) {
  const auto& of = model.guarantee->local;
  if (!of) return nullptr;
  OrderedJson columns = OrderedJson::array();
  for (const std::size_t column : of->columns) columns.push_back(model.feature_name(column));
  return {{"fixed", of->fixed},
          {"kernel", of->kernel},
          {"bandwidth", bandwidth_json(of->bandwidth)},
          {"columns", std::move(columns)},
          {"own_median", of->own_median},
          {"own_spread", of->own_spread},
          {"tuned_on", of->tuned_on},
          {"usual_rows", of->usual_rows}};
}

OrderedJson guarantee_object(const Description& model) {
  constexpr std::string_view kForms[] = {"split", "cross", "local", "conditional", "loose"};
  if (!model.guarantee) return nullptr;
  const GuaranteeDescription& of = *model.guarantee;
  OrderedJson json = {{"form", kForms[static_cast<std::size_t>(of.form)]},
                      {"rows", of.rows},
                      {"folds", of.folds},
                      {"has_bound", of.has_bound},
                      {"own_levels", of.own_levels},
                      {"intervals", OrderedJson::array()},
                      {"groups", OrderedJson::array()},
                      {"rows_for_own_ranks", of.rows_for_own_ranks},
                      {"shift_effective_rows", or_null(of.shift_effective_rows)},
                      {"assumes_unseen_predictions", of.assumes_unseen_predictions},
                      {"is_series", of.is_series},
                      {"rows_depend", of.rows_depend},
                      {"cost", nullptr},
                      {"seen_coverage_90", or_null(of.seen_coverage)},
                      {"local", local_object(model)},
                      {"conditions", of.conditions},
                      {"functions", of.functions}};
  for (const IntervalCoverage& interval : of.intervals) {
    json["intervals"].push_back({{"confidence", interval.confidence},
                                 {"on_average", interval.on_average},
                                 {"proven", or_null(interval.proven)},
                                 {"kept", interval.kept},
                                 {"infinite", interval.infinite}});
  }
  for (const GuaranteeGroup& group : of.groups) {
    json["groups"].push_back(
        {{"name", group.name}, {"rows", group.rows}, {"has_own_ranks", group.has_own_ranks}});
  }
  if (of.cost) {
    json["cost"] = {{"check_score_without", of.cost->without},
                    {"check_score_with", of.cost->with},
                    {"levels", of.cost->levels}};
  }
  return json;
}

OrderedJson bands_object(const BandsDescription& of) {
  constexpr std::string_view kWhy[] = {"", "not_asked", "too_few_rows", "not_possible"};
  if (of.absence == BandsAbsence::kNone) {
    return {{"fits", of.fits}, {"rows_of_a_fit", of.half}, {"rows", of.rows}};
  }
  return {{"fits", 0}, {"why_none", kWhy[static_cast<std::size_t>(of.absence)]}};
}

OrderedJson masses_object(const std::optional<MassDescription>& of) {
  if (!of) return nullptr;
  return {{"values", of->values}, {"whole", of->whole}, {"guide", of->guide}};
}

OrderedJson kernel_object(const std::optional<KernelDescription>& of) {
  if (!of) return nullptr;
  OrderedJson path = OrderedJson::array();
  for (const BandwidthTrial& trial : of->bandwidth.path) {
    path.push_back({{"bandwidth", bandwidth_json(trial.bandwidth)}, {"loss", trial.loss}});
  }
  return {{"rows", of->rows},
          {"dims", of->dims},
          {"point_model", of->point_model},
          {"kernel", of->kernel},
          {"bandwidth", bandwidth_json(of->bandwidth.bandwidth)},
          {"bandwidth_rule", of->bandwidth.rule},
          {"tried", std::move(path)},
          {"rows_left_out", of->bandwidth.rows_left_out},
          {"fallback", of->fallback},
          {"min_support", of->min_support},
          {"index", of->index}};
}

OrderedJson trees_object(const std::optional<ResidualTreesDescription>& of) {
  constexpr std::string_view kAlong[] = {"all", "column", "prediction", "given_spread", "size"};
  if (!of) return nullptr;
  return {{"center_trees", or_null(of->center_trees)},
          {"size_trees", or_null(of->size_trees)},
          {"along", kAlong[static_cast<std::size_t>(of->along)]},
          {"along_column", text_or_null(of->along_column)}};
}

OrderedJson trail_object(const std::optional<AutoTrail>& of) {
  if (!of) return nullptr;
  OrderedJson steps = OrderedJson::array();
  for (const AutoTrail::Step& step : of->steps) {
    steps.push_back({{"name", step.name},
                     {"loss", step.loss},
                     {"bandwidth", bandwidth_json(step.bandwidth)},
                     {"share", step.share}});
  }
  return {{"candidates", std::move(steps)},
          {"average_loss", of->average_loss},
          {"rows_left_out", of->rows},
          {"budget", text_or_null(of->budget)},
          {"trained_rows", of->trained},
          {"eligible_rows", of->eligible},
          {"rounds", of->rounds},
          {"masses", of->masses},
          {"guide", text_or_null(of->guide)}};
}

OrderedJson online_object(const std::optional<OnlineDescription>& of) {
  if (!of) return nullptr;
  const auto finite_or_null = [](double value) {
    return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
  };
  OrderedJson levels = OrderedJson::array();
  for (const OnlineDescription::KeptLevel& kept : of->levels) {
    levels.push_back({{"level", kept.level},
                      {"share_below", finite_or_null(kept.share_below)},
                      {"proven_within", kept.bound < 1.0 ? OrderedJson(kept.bound) : nullptr}});
  }
  return {{"method", of->method},
          {"predictions_of", of->source},
          {"base_method", text_or_null(of->base_method)},
          {"rows", of->rows},
          {"answered", of->answered},
          {"start", of->start},
          {"delay", of->delay},
          {"levels", std::move(levels)},
          {"drift",
           {{"rate", of->drift_rate},
            {"log_e", finite_or_null(of->drift_log_e)},
            {"alarm_row", or_null(of->drift_alarm)},
            {"change_row", or_null(of->drift_change)}}}};
}

OrderedJson screened_list(const std::vector<ScreenedColumnDescription>& of) {
  OrderedJson list = OrderedJson::array();
  for (const ScreenedColumnDescription& column : of) {
    list.push_back({{"name", column.name},
                    {"strength", column.strength},
                    {"p_value", column.p_value},
                    {"kept", column.kept}});
  }
  return list;
}

OrderedJson warning_objects(const std::vector<PredictionWarning>& of) {
  OrderedJson list = OrderedJson::array();
  for (const PredictionWarning& warning : of) {
    list.push_back(
        {{"code", warning_name(warning.code)}, {"rows", warning.rows}, {"text", warning.text}});
  }
  return list;
}

void add_columns(const Description& of, OrderedJson& json) {
  json["target"] = text_or_null(of.target);
  json["weight"] = text_or_null(of.weight);
  json["predictor"] = text_or_null(of.predictor);
  json["missing"] = of.missing;
  json["window"] = of.window;
  json["inputs"] = OrderedJson::array();
  for (const InputColumn& input : of.inputs) json["inputs"].push_back(column_json(input));
  json["features"] = of.feature_names;
  json["given"] = given_columns_json(of);
  json["group"] = nullptr;
  if (!of.group.empty()) json["group"] = {{"name", of.group}, {"values", of.group_values}};
}

/// Names may come from a file in any encoding.
std::string text_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

std::string description_json(const Description& of) {
  OrderedJson json = {{"method", of.method}, {"options", OrderedJson::object()}};
  for (const auto& [name, value] : of.options) json["options"][name] = value;
  json["tare_version"] = of.tare_version;
  json["seed"] = of.seed;
  json["rows"] = of.rows;
  add_columns(of, json);
  json["guarantee"] = guarantee_object(of);
  json["bands"] = bands_object(of.bands);
  json["bounds"] = nullptr;
  if (of.bounds)
    json["bounds"] = {{"low", or_null(of.bounds->low)}, {"high", or_null(of.bounds->high)}};
  json["of_first_fold"] = of.of_first_fold;
  json["masses"] = masses_object(of.masses);
  json["kernel"] = kernel_object(of.kernel);
  json["residual_trees"] = trees_object(of.residual_trees);
  json["trail"] = trail_object(of.trail);
  json["screened"] = screened_list(of.screened);
  json["online"] = online_object(of.online);
  json["warnings"] = warning_objects(of.warnings);
  return text_of(json);
}

std::string guarantee_description_json(const Description& of) {
  return text_of(guarantee_object(of));
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
// Checks that apply to every method before the fit.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/automatic/masses/mass_model.h"
#include "calibrate/bands/banded_model.h"
#include "calibrate/bounds/bounded_model.h"
#include "calibrate/bounds/bounds.h"
#include "calibrate/fit_in_time.h"
#include "calibrate/guarantee/fold_given.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/guarantee_split.h"
#include "calibrate/guarantee/loose/loose_guarantee.h"
#include "calibrate/guarantee/rowwise/fit_rowwise.h"
#include "calibrate/rows/row_split.h"
#include "calibrate/shift/shift.h"
#include "data/partition.h"
#include "math/tame_weights.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/model/regressor.h"

namespace tare {
namespace {

bool has_option(const Method& method, std::string_view name) {
  return std::ranges::any_of(method.options,
                             [&](const ParamInfo& option) { return option.name == name; });
}

/// Sums and squares of differences of targets are taken in many places; up to this size they are
/// finite, in units that each place chooses.
constexpr double kLargestTarget = 1e301;

void check_size(std::string_view what, std::size_t row, std::span<const double> values) {
  for (const double value : values) {
    if (std::abs(value) <= kLargestTarget) continue;
    fail(ErrorCode::kBadData,
         {.row = row,
          .value = fmt::to_string(value),
          .remedies = {advice("give the target in a larger unit")}},
         "the {} {} is too large to calculate with: at most {} is possible", what, value,
         kLargestTarget);
  }
}

void check_rows(const FitInput& input) {
  const std::size_t rows = input.x.rows();
  if (input.y.size() != rows || (!input.weight.empty() && input.weight.size() != rows) ||
      (input.given.cols() > 0 && input.given.rows() != rows) ||
      (!input.calibrate_rows.empty() && input.calibrate_rows.size() != rows) ||
      (!input.group.empty() && input.group.size() != rows) ||
      (!input.held_out_rows.empty() && input.held_out_rows.size() != rows) ||
      (!input.fold.empty() && input.fold.size() != rows)) {
    fail(ErrorCode::kShapeMismatch,
         "fit: {} rows of features, {} targets, {} weights, {} given predictions", rows,
         input.y.size(), input.weight.size(), input.given.rows());
  }
  if (input.given.cols() > 0 && input.given.cols() != input.given_form.columns()) {
    fail(ErrorCode::kShapeMismatch, "fit: {} given columns where their form has {}",
         input.given.cols(), input.given_form.columns());
  }
  if (std::ranges::any_of(input.group, [&](std::uint32_t group) { return group >= rows; })) {
    fail(ErrorCode::kInvalidArgument, "fit: groups are numbered 0, 1, ..., below the {} rows",
         rows);
  }
  if (input.shift && (input.shift->features() != input.x.cols() || input.weight.empty())) {
    fail(ErrorCode::kShapeMismatch,
         "fit: a shift of {} columns with {} weights, for {} columns (weigh_towards gives both)",
         input.shift->features(), input.weight.size(), input.x.cols());
  }
  for (std::size_t i = 0; i < rows; ++i) {
    bool finite = std::isfinite(input.y[i]);
    for (const double value : input.x.row(i)) finite = finite && std::isfinite(value);
    if (input.given.cols() > 0) {
      for (const double value : input.given.row(i)) finite = finite && std::isfinite(value);
    }
    if (!finite) fail(ErrorCode::kBadData, {.row = i}, "a value is not finite");
    check_size("target", i, input.y.subspan(i, 1));
    if (input.given.cols() > 0) check_size("given prediction", i, input.given.row(i));
    if (!input.weight.empty() && !(input.weight[i] >= 0.0 && std::isfinite(input.weight[i]))) {
      fail(ErrorCode::kBadData, {.row = i, .value = fmt::to_string(input.weight[i])},
           "the weight is {}; weights must be finite and not negative", input.weight[i]);
    }
  }
}

/// Those of a shift have its unit, and are tame.
std::vector<double> tame_weights_of(const FitInput& input) {
  if (input.weight.empty() || input.shift) return {};
  double target = 1.0;
  for (const double y : input.y) target = std::max(target, std::abs(y));
  return tame_weights(input.weight, target);
}

/// Checks that the method can use the given predictions.
void check_roles(const Method& method, const FitInput& input, const Params& params) {
  if (input.given.cols() > 0 && method.point == PointSource::kOwn) {
    fail(ErrorCode::kInvalidArgument,
         {.remedies = {use("method", "nrc"), advice("leave the prediction out")}},
         "a prediction is given, but method '{}' trains its own model", method.name);
  }
  if (input.given.cols() > 0 && params.has("regressor")) {
    fail(ErrorCode::kInvalidArgument,
         "a prediction is given, so the regressor '{}' would not be used (leave one of them out)",
         params.text("regressor", ""));
  }
  if (!input.calibrate_rows.empty() && !has_option(method, "split")) {
    fail(ErrorCode::kInvalidArgument,
         "method '{}' has no calibration step, so it cannot use calibration rows", method.name);
  }
  if (!input.calibrate_columns.empty() && !method.on_columns) {
    fail(ErrorCode::kInvalidArgument,
         "method '{}' cannot calibrate on chosen columns (the nrc family can)", method.name);
  }
}

/// Rows that the caller has held out, or folds that it has trained models for, are for one form of
/// guarantee each.
void check_stated(const FitInput& input, GuaranteeRule::Form form) {
  const bool in_folds = input.given_form.kind == GivenKind::kFoldPoints;
  const bool holds_out = form == GuaranteeRule::Form::kSplit ||
                         form == GuaranteeRule::Form::kLocal ||
                         form == GuaranteeRule::Form::kConditional;
  if (!input.held_out_rows.empty() && !holds_out) {
    fail(ErrorCode::kInvalidArgument,
         "rows are held out for a guarantee, which requires guarantee=split, local or conditional");
  }
  if (in_folds != !input.fold.empty() || (in_folds && form != GuaranteeRule::Form::kCross)) {
    fail(ErrorCode::kInvalidArgument,
         "predictions of fold models need guarantee=cross and the fold of each row");
  }
  if (in_folds && (!input.group.empty() || input.window > 1)) {
    fail(ErrorCode::kInvalidArgument,
         "predictions of fold models do not support groups, windows or rows in time order");
  }
}

/// The parameters of the method without the common options.
Params own_params(const Params& all) {
  Params own;
  for (const auto& [name, value] : all.all()) {
    const bool common = std::ranges::any_of(
        common_options(), [&](const ParamInfo& option) { return option.name == name; });
    if (!common) own.set(name, value);
  }
  return own;
}

/// A new row resembles the last ones of a series more than rows drawn from all of it.
RowOrder order_of(const FitInput& input, const Params& params) {
  if (!input.calibrate_rows.empty()) return RowOrder::kNone;
  const bool series = input.window > 1 || parse_split(params).kind == SplitRule::Kind::kTime;
  return series ? RowOrder::kTime : RowOrder::kNone;
}

/// Whether a guide to the target's masses is put beside the method. `auto` has its own.
bool wants_masses(const Method& method, const FitInput& input, MassesRule rule) {
  if (method.name == "auto") return false;
  if (rule != MassesRule::kAuto) return rule == MassesRule::kYes;
  return input.given.cols() > 0 || method.name == "nrc_boost";
}

/// The wrappers of the method: options that every method has.
struct Surroundings {
  GuaranteeRule guarantee;
  MassesRule masses;
  bool bands;
};

/// The method by itself, and with what is put beside it.
std::unique_ptr<QuantileModel> fit_plain(const Method& method, const FitInput& input,
                                         const Params& params, MassesRule masses,
                                         const Execution& how) {
  if (!wants_masses(method, input, masses)) return method.fit(input, params, how);
  const auto fit = [&](const FitInput& rows, const Execution& part) {
    return method.fit(rows, params, part);
  };
  return fit_with_masses(fit, input, order_of(input, params), how);
}

bool is_quick(const Params& params) { return canonical_name(params.text("budget", "")) == "quick"; }

/// Whether bands=auto is on: where 12 fits on halves are no burden.
bool wants_bands(BandRule rule, const Method& method, const FitInput& input, const Params& params) {
  if (rule != BandRule::kAuto) return rule == BandRule::kOn;
  return !method.slow && input.x.rows() <= kMostRowsForAutoBands && !is_quick(params);
}

/// As many rows as the model learned from: all, or some where `auto` has very many. The bands are
/// those of a fit to as many rows.
std::size_t rows_of_bands(const QuantileModel& model, const FitInput& input) {
  Description description;
  model.describe(description);
  const std::optional<AutoTrail>& trail = description.trail;
  return trail && trail->eligible > trail->trained ? trail->trained : input.x.rows();
}

/// Bands by fits of the method itself on halves of `input`, the rows that trained `whole`.
std::unique_ptr<QuantileModel> fit_bands(const Method& method, std::unique_ptr<QuantileModel> whole,
                                         const FitInput& input, const Params& params,
                                         MassesRule masses, std::size_t ranked,
                                         const Execution& how) {
  Params of_half = params;
  of_half.merge(Params::parse(method.half_params));
  const GuaranteedModel::FitRows fit = [&](const FitInput& half, const Execution& part) {
    return fit_plain(method, half, of_half, masses, part);
  };
  const GuaranteedModel::FitRows fit_half = input.fold.empty() ? fit : fit_on_fold_means(fit);
  const std::size_t rows = rows_of_bands(*whole, input);
  if (rows == input.x.rows()) return add_bands(std::move(whole), input, ranked, fit_half, how);
  constexpr std::uint64_t kSeedPart = 3600;
  const InputPart some(
      input, limit_rows(input.x.rows(), rows, input.window, split(input.seed, kSeedPart)));
  return add_bands(std::move(whole), some.input(), ranked, fit_half, how);
}

/// The method on all rows, backed by a split of a quicker fit.
std::unique_ptr<QuantileModel> fit_loose(const Method& method, const FitInput& input,
                                         const Params& params, const Surroundings& around,
                                         const Execution& how) {
  Params of_proof = params;
  if (!is_quick(params)) of_proof.merge(Params::parse(method.proof_params));
  const RowOrder order = order_of(input, params);
  const Partition parts = guarantee_partition(input, around.guarantee, order);
  auto proof = std::make_unique<GuaranteedModel>(
      fit_plain(method, InputPart(input, parts.first).input(), of_proof, around.masses, how),
      InputPart(input, parts.second).input(), how);
  if (order == RowOrder::kTime) proof->set_in_time_order();
  proof->set_rows_depend(input.rows_depend);
  auto loose = std::make_unique<LooseGuarantee>(
      fit_plain(method, input, params, around.masses, how), std::move(proof));
  if (!around.bands) return loose;
  return fit_bands(method, std::move(loose), input, params, around.masses, 0, how);
}

std::unique_ptr<QuantileModel> fit_guaranteed(const Method& method, const FitInput& input,
                                              const Params& params, const Surroundings& around,
                                              const Execution& how) {
  const GuaranteeRule& rule = around.guarantee;
  const RowOrder order = order_of(input, params);
  if (rule.form == GuaranteeRule::Form::kCross) {
    Params own = params;
    if (has_option(method, "ensemble") && !own.has("ensemble")) {
      own.set("ensemble", std::to_string(rule.folds));
    }
    const auto fit = [&](const FitInput& rows, const Execution& part) {
      return fit_plain(method, rows, own, around.masses, part);
    };
    const FoldPlan plan = guarantee_folds(input, rule, order);
    const bool in_columns = !input.fold.empty();
    auto whole = GuaranteedModel::cross(
        input, plan, in_columns ? fit_on_fold_columns(fit) : GuaranteedModel::FitRows(fit), how,
        rule.outer);
    const std::size_t ranked = whole->overall().rows();
    if (!around.bands) return whole;
    return fit_bands(method, std::move(whole), input, params, around.masses, ranked, how);
  }
  if (rule.form == GuaranteeRule::Form::kLoose) {
    return fit_loose(method, input, params, around, how);
  }
  if (rule.is_rowwise()) check_rowwise(input, rule, order);
  const Partition parts = guarantee_partition(input, rule, order);
  const InputPart training(input, parts.first);
  if (rule.is_rowwise()) {
    std::unique_ptr<QuantileModel> rowwise =
        fit_rowwise(fit_plain(method, training.input(), params, around.masses, how),
                    training.input(), InputPart(input, parts.second).input(), rule, how);
    if (!around.bands) return rowwise;
    return fit_bands(method, std::move(rowwise), training.input(), params, around.masses,
                     parts.second.size(), how);
  }
  auto whole = std::make_unique<GuaranteedModel>(
      fit_plain(method, training.input(), params, around.masses, how),
      InputPart(input, parts.second).input(), how, rule.outer, rule.levels);
  if (order == RowOrder::kTime) whole->set_in_time_order();
  whole->set_rows_depend(input.rows_depend);
  if (!around.bands) return whole;
  return fit_bands(method, std::move(whole), training.input(), params, around.masses,
                   parts.second.size(), how);
}

/// The same with a limit of time in place of a budget.
std::unique_ptr<QuantileModel> fit_timed(const Method& method, const FitInput& input,
                                         const Params& params, const Execution& how) {
  if (params.has("budget")) {
    fail(ErrorCode::kInvalidArgument,
         "use either a budget or a time: the time decides which budget it is");
  }
  const auto fit = [&](const FitInput& rows, std::string_view budget, const Execution& part) {
    Params one = params;
    one.set("time", "none");
    one.set("budget", std::string(budget));
    return fit_method(method, rows, one, part);
  };
  return fit_in_time(input, parse_time_limit(params.text("time", "none")), fit, how);
}

std::vector<ParamInfo> all_common_options() {
  std::vector<ParamInfo> all;
  for (const auto options : {guarantee_options(), masses_options(), bounds_options()}) {
    all.insert(all.end(), options.begin(), options.end());
  }
  all.push_back(kBandsOption);
  return all;
}

}  // namespace

std::span<const ParamInfo> common_options() {
  static const std::vector<ParamInfo> kOptions = all_common_options();
  return kOptions;
}

std::unique_ptr<QuantileModel> fit_method(const Method& method, const FitInput& input,
                                          const Params& params, const Execution& how) {
  check_rows(input);
  check_roles(method, input, params);
  if (const std::vector<double> weight = tame_weights_of(input); !weight.empty()) {
    FitInput tame = input;
    tame.weight = weight;
    return fit_method(method, tame, params, how);
  }

  Params all = effective_params(method, params);
  std::vector<std::span<const ParamInfo>> known = {method.options, common_options()};
  if (has_option(method, "regressor")) {
    if (input.given.cols() > 0) {
      all.set("regressor", "given");
    } else {
      known.push_back(find_regressor(all.text("regressor", "")).options);
    }
  }
  all.check_known(fmt::format("method '{}'", method.name), known);

  if (has_option(method, "time") && canonical_name(all.text("time", "none")) != "none") {
    return fit_timed(method, input, params, how);
  }
  const GuaranteeRule guarantee =
      resolve_guarantee(parse_guarantee(all), rows_to_draw_from(input).size(),
                        order_of(input, own_params(all)), method.loose_from);
  check_stated(input, guarantee.form);
  const bool guaranteed = guarantee.form != GuaranteeRule::Form::kNone;
  const Surroundings around{guarantee, parse_masses(all),
                            wants_bands(parse_bands(all), method, input, all)};
  const TargetBounds bounds = resolve_bounds(parse_bounds(all), input.y, input.weight);
  const Params own = own_params(all);
  if (method.check != nullptr) method.check(input, own);
  if (!guaranteed && !input.group.empty()) {
    fail(ErrorCode::kInvalidArgument,
         {.remedies = {use("guarantee", "split"), use("guarantee", "cross"),
                       advice("leave the groups out")}},
         "groups are the groups of a guarantee, but there is no guarantee");
  }
  // From the inside out: the method, masses, the guarantee, bands, bounds.
  std::unique_ptr<QuantileModel> model = guaranteed
                                             ? fit_guaranteed(method, input, own, around, how)
                                             : fit_plain(method, input, own, around.masses, how);
  if (!guaranteed && around.bands) {
    model = fit_bands(method, std::move(model), input, own, around.masses, 0, how);
  }
  if (bounds.empty()) return model;
  return std::make_unique<BoundedModel>(std::move(model), bounds);
}

}  // namespace tare

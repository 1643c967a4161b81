// SPDX-License-Identifier: BSD-3-Clause
// What is checked for every method before it sees the rows.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/fail.h"
#include "calibrate/guarantee.h"
#include "calibrate/guarantee_split.h"
#include "calibrate/row_split.h"
#include "calibrate/shift.h"
#include "tare/calibrate/methods.h"
#include "tare/model/regressor.h"

namespace tare {
namespace {

bool has_option(const Method& method, std::string_view name) {
  return std::ranges::any_of(method.options,
                             [&](const ParamInfo& option) { return option.name == name; });
}

void check_rows(const FitInput& input) {
  const std::size_t rows = input.x.rows();
  if (input.y.size() != rows || (!input.weight.empty() && input.weight.size() != rows) ||
      (input.given.cols() > 0 && input.given.rows() != rows) ||
      (!input.calibrate_rows.empty() && input.calibrate_rows.size() != rows) ||
      (!input.group.empty() && input.group.size() != rows)) {
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
    if (!finite) fail(ErrorCode::kBadData, "fit: row {} has a value that is not finite", i);
    if (!input.weight.empty() && !(input.weight[i] >= 0.0 && std::isfinite(input.weight[i]))) {
      fail(ErrorCode::kBadData, "fit: row {} has the weight {}", i, input.weight[i]);
    }
  }
}

/// What is given must be of use to the method.
void check_roles(const Method& method, const FitInput& input, const Params& params) {
  if (input.given.cols() > 0 && method.point == PointSource::kOwn) {
    fail(ErrorCode::kInvalidArgument,
         "a prediction is given, and method '{}' trains a model of its own (use method nrc, or no "
         "prediction)",
         method.name);
  }
  if (input.given.cols() > 0 && params.has("regressor")) {
    fail(ErrorCode::kInvalidArgument,
         "a prediction is given, so there is nothing for the regressor '{}' to do (leave one of "
         "them out)",
         params.text("regressor", ""));
  }
  if (!input.calibrate_rows.empty() && !has_option(method, "split")) {
    fail(ErrorCode::kInvalidArgument,
         "method '{}' has no calibration step, so no rows can be set apart for one", method.name);
  }
  if (!input.calibrate_columns.empty() && !method.on_columns) {
    fail(ErrorCode::kInvalidArgument,
         "method '{}' does not calibrate on chosen columns (the nrc family does)", method.name);
  }
}

/// What is left for the method once the common options are seen to.
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

std::unique_ptr<QuantileModel> fit_guaranteed(const Method& method, const FitInput& input,
                                              const Params& params, const GuaranteeRule& rule,
                                              const Execution& how) {
  const RowOrder order = order_of(input, params);
  if (rule.form == GuaranteeRule::Form::kCross) {
    Params own = params;
    if (has_option(method, "ensemble") && !own.has("ensemble")) {
      own.set("ensemble", std::to_string(rule.folds));
    }
    const auto fit = [&](const FitInput& rows, const Execution& part) {
      return method.fit(rows, own, part);
    };
    return GuaranteedModel::cross(input, guarantee_folds(input, rule, order), fit, how);
  }
  const Partition parts = guarantee_partition(input, rule, order);
  std::unique_ptr<const QuantileModel> inner =
      method.fit(InputPart(input, parts.first).input(), params, how);
  return std::make_unique<GuaranteedModel>(std::move(inner), InputPart(input, parts.second).input(),
                                           how);
}

}  // namespace

std::span<const ParamInfo> common_options() { return guarantee_options(); }

std::unique_ptr<QuantileModel> fit_method(const Method& method, const FitInput& input,
                                          const Params& params, const Execution& how) {
  check_rows(input);
  check_roles(method, input, params);

  Params all = Params::parse(method.defaults);
  all.merge(params);
  std::vector<std::span<const ParamInfo>> known = {method.options, common_options()};
  if (has_option(method, "regressor")) {
    if (input.given.cols() > 0) {
      all.set("regressor", "given");
    } else {
      known.push_back(find_regressor(all.text("regressor", "")).options);
    }
  }
  all.check_known(fmt::format("method '{}'", method.name), known);

  const GuaranteeRule guarantee =
      resolve_guarantee(parse_guarantee(all), rows_to_draw_from(input).size());
  const Params own = own_params(all);
  if (guarantee.form != GuaranteeRule::Form::kNone) {
    return fit_guaranteed(method, input, own, guarantee, how);
  }
  if (!input.group.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "groups are what a guarantee holds within: ask for one (--guarantee split or cross), or "
         "leave the "
         "groups out");
  }
  return method.fit(input, own, how);
}

}  // namespace tare

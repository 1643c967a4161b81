// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/bands/band_rule.h"
#include "calibrate/plain_schema.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/model_file.h"

namespace tare {
namespace {

void describe_schema(const Schema& schema, Description& out) {
  out.target = schema.target();
  out.weight = schema.weight();
  out.predictor = schema.predictor();
  out.missing = missing_policy_name(schema.missing());
  out.window = schema.window();
  out.inputs = schema.inputs();
  out.feature_names = schema.feature_names();
  out.given_form = schema.given_form();
  for (std::size_t j = 0; j < schema.given_columns().size(); ++j) {
    out.given.push_back({.name = schema.given_columns()[j], .range = schema.given_ranges()[j]});
  }
  out.group = schema.group().name();
  out.group_values = schema.group().values();
}

BandsDescription no_bands(const FittedModel& fitted) {
  BandsDescription bands{.rows_needed = kRowsForBands};
  if (parse_bands(fitted.params) == BandRule::kOn) {
    bands.absence =
        fitted.rows < kRowsForBands ? BandsAbsence::kTooFewRows : BandsAbsence::kNotPossible;
  }
  return bands;
}

/// The model knows groups by number, and which rows of the fit were in time order only where a
/// recent version has written its file.
void complete_guarantee(const Params& params, const Description& of, GuaranteeDescription& own) {
  if (!own.groups.empty() && own.groups.size() < of.group_values.size()) {
    own.groups.resize(of.group_values.size());  // the last ones have no ranked row
  }
  for (std::size_t g = 0; g < std::min(own.groups.size(), of.group_values.size()); ++g) {
    own.groups[g].name = of.group_values[g];
  }
  own.is_series = own.is_series || of.window > 1 ||
                  canonical_name(params.text("split", "")).starts_with("time");
  if (!own.is_series || own.form != GuaranteeForm::kSplit) return;
  own.has_bound = false;
  for (IntervalCoverage& interval : own.intervals) interval.proven.reset();
}

}  // namespace

const IntervalCoverage& GuaranteeDescription::at(double confidence) const {
  const auto found = std::ranges::find(intervals, confidence, &IntervalCoverage::confidence);
  if (found == intervals.end()) {
    fail(ErrorCode::kInvalidArgument, "no interval of confidence {} is described", confidence);
  }
  return *found;
}

std::string Description::feature_name(std::size_t column) const {
  return column < feature_names.size() ? feature_names[column] : std::to_string(column);
}

Description describe(const FittedModel& fitted) {
  Description out;
  out.method = fitted.method;
  out.options.assign(fitted.params.all().begin(), fitted.params.all().end());
  out.tare_version = fitted.tare_version;
  out.seed = fitted.seed.value;
  out.rows = fitted.rows;
  describe_schema(fitted.schema ? *fitted.schema : plain_schema(*fitted.model), out);
  out.bands = no_bands(fitted);
  fitted.model->describe(out);
  if (out.guarantee) complete_guarantee(fitted.params, out, *out.guarantee);
  out.warnings = model_warnings(*fitted.model);
  return out;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "data/roles.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "io/table_place.h"

namespace tare {

std::vector<std::string> given_columns_of(const Roles& roles) {
  std::vector<std::string> names;
  if (!roles.prediction.empty()) names.push_back(roles.prediction);
  if (!roles.prediction_sd.empty()) names.push_back(roles.prediction_sd);
  for (const QuantileColumn& column : roles.prediction_quantiles) names.push_back(column.name);
  names.insert(names.end(), roles.prediction_folds.begin(), roles.prediction_folds.end());
  return names;
}

GivenForm given_form_of(const Roles& roles) {
  GivenForm form;
  if (!roles.prediction_sd.empty()) form.kind = GivenKind::kMeanSd;
  if (!roles.prediction_quantiles.empty()) form.kind = GivenKind::kQuantiles;
  for (const QuantileColumn& column : roles.prediction_quantiles)
    form.levels.push_back(column.level);
  form.folds = roles.prediction_folds.size();
  if (form.folds > 0) form.kind = GivenKind::kFoldPoints;
  return form;
}

void fail_role(const std::string& column, std::string_view problem, std::vector<Remedy> remedies) {
  ErrorDetails details = no_column("", column);
  details.remedies = std::move(remedies);
  fail(ErrorCode::kInvalidArgument, std::move(details), "column '{}' {}", column, problem);
}

void check_given(const Roles& roles) {
  const std::vector<std::string> names = given_columns_of(roles);
  if (!roles.prediction_sd.empty() && roles.prediction.empty()) {
    fail_role(roles.prediction_sd,
              "is the standard deviation of a prediction, but no option names the prediction",
              {{"name the mean with", "prediction", "COL", ""}});
  }
  if (!roles.prediction_quantiles.empty() && !roles.prediction.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "both a prediction and quantiles are named as the output of the model; use one");
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(k), names[k]) !=
        names.begin() + static_cast<std::ptrdiff_t>(k)) {
      fail_role(names[k], "is named twice as an output of the model");
    }
    if (names[k] == roles.target) {
      fail_role(roles.target, "is the target and cannot have another role");
    }
  }
}

}  // namespace tare

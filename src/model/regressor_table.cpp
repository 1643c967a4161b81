// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/unknown_name.h"
#include "model/gp/gaussian_process.h"
#include "model/linear/ridge.h"
#include "model/linear/zero.h"
#include "model/network/lstm.h"
#include "model/network/mlp.h"
#include "model/tree/boosting.h"
#include "model/tree/extra_trees.h"
#include "model/tree/forest.h"
#include "model/tree/tree_ensemble.h"
#include "tare/model/regressor.h"

namespace tare {
namespace {

// The only list of regressors: a row here is in the command line, Python and the contract tests.
constexpr RegressorKind kRegressors[] = {
    {"ridge", "linear, shrunk; the penalty by generalised cross-validation", kRidgeOptions,
     &fit_ridge, &load_ridge},
    {"forest", "random forest of regression trees", kForestOptions, &fit_forest, &load_trees},
    {"extra_trees", "random trees with random thresholds, each on all rows", kExtraTreesOptions,
     &fit_extra_trees, &load_trees},
    {"boosting", "gradient boosted trees, stopped early on held-out rows", kBoostingOptions,
     &fit_boosting, &load_trees},
    {"gp",
     "Gaussian process: a function of all features, one of each alone, by marginal likelihood",
     kGpOptions, &fit_gp, &load_gp},
    {"zero", "predicts 0, so that Y itself is calibrated", kZeroOptions, &fit_zero, &load_zero},
    {"mlp", "feed-forward network, stopped early on held-out rows", kMlpOptions, &fit_mlp,
     &load_mlp},
    {"lstm", "recurrent network on windows of a series", kLstmOptions, &fit_lstm, &load_lstm},
};

}  // namespace

std::span<const RegressorKind> regressors() { return kRegressors; }

const RegressorKind& find_regressor(std::string_view name) {
  const std::string sought = canonical_name(name);
  std::vector<std::string> known;
  for (const RegressorKind& kind : kRegressors) {
    if (kind.name == sought) return kind;
    known.emplace_back(kind.name);
  }
  fail_unknown_name(ErrorCode::kNotFound, "regressor", name, known, "regressor");
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "tare/model/regressor.h"

namespace tare {

inline constexpr ParamInfo kForestOptions[] = {
    {"trees", "100", "number of trees"},
    {"depth", "10", "splits from the root to a leaf, at most"},
    {"min_leaf", "1", "weight that a leaf must hold, in rows of average weight", "1,2,5"},
    {"rows", "1", "rows drawn for each tree, with replacement, as a share of all"},
    {"columns", "1", "share of the columns that each split may choose from", "0.33,0.67,1"},
};

/// Random forest: the average of regression trees, each grown on rows drawn with replacement.
/// Trees are grown by XGBoost; kUnsupported without it. Load with load_trees.
std::unique_ptr<Regressor> fit_forest(const RegressionData& data, const Params& params, Seed seed,
                                      const Execution& how);

}  // namespace tare

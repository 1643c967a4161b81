// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "tare/model/regressor.h"

namespace tare {

inline constexpr ParamInfo kBoostingOptions[] = {
    {"rounds", "2000", "number of trees, at most"},
    {"learning_rate", "0.05", "share of each tree that is added", "0.03,0.05,0.1"},
    {"depth", "auto", "splits from the root to a leaf, at most; auto: columns + 2, but at most 6",
     "3,4,6"},
    {"min_leaf", "5", "weight that a leaf must hold, in rows of average weight"},
    {"rows", "0.8", "share of the rows that each tree sees"},
    {"columns", "1", "share of the columns that each tree sees"},
    {"patience", "50", "rounds without progress on held-out rows before it stops"},
};

/// Gradient boosted trees for squared error. 15 % of the rows, drawn with the seed, are held out to
/// find the best number of trees. Trees are grown by XGBoost; kUnsupported without it. Load with
/// load_trees.
std::unique_ptr<Regressor> fit_boosting(const RegressionData& data, const Params& params, Seed seed,
                                        const Execution& how);

}  // namespace tare

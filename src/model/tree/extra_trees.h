// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "tare/model/regressor.h"

namespace tare {

inline constexpr ParamInfo kExtraTreesOptions[] = {
    {"trees", "100", "number of trees"},
    {"min_leaf", "2", "rows that a leaf must hold", "1,2,5"},
    {"columns", "0.7", "share of the columns that each split may choose from", "0.33,0.67,1"},
};

/// Extremely randomised trees (Geurts, Ernst, Wehenkel 2006): the average of regression trees that
/// all see every row. A split is the best of one random threshold for each of some random columns,
/// so no sorting and no bins are needed, and the average is smoother than that of a forest. Grown
/// without XGBoost. Load with load_trees.
std::unique_ptr<Regressor> fit_extra_trees(const RegressionData& data, const Params& params,
                                           Seed seed, const Execution& how);

}  // namespace tare

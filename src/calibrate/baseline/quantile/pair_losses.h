// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "model/nn/graph/graph.h"
#include "model/quantile/quantile_network.h"
#include "tare/base/params.h"

namespace tare {

// Losses of a whole minibatch at pairs of levels (tau, 1 - tau), laid out as LevelDraw::kPairs
// does. `quantile` and `tau` are rows x levels, `y` and `weight` rows x 1; weights have mean 1 or
// so.

/// Of each level, 1 x levels, the paper's L1: where fewer than tau of the weight lies at or below
/// the quantile, the mean of max(y - q, 0); where more does, that of max(q - y, 0); else 0. Which
/// of the three it is counts as fixed in the gradient.
template <class T>
nn::Var<T> calibration_errors(nn::Var<T> quantile, nn::Var<T> y, nn::Var<T> tau, nn::Var<T> weight);

/// Length of each row's interval at each pair, rows x pairs. A pair that crosses is read the other
/// way round, as it will be when quantiles are sorted: a length below zero would be a reward
/// without end.
template <class T>
nn::Var<T> interval_lengths(nn::Var<T> quantile);

/// Mean over pairs of |corr(length, coverage)| over the rows, 1 x 1. Coverage is soft, so that it
/// has a gradient: a sigmoid of y's distance to the nearer end in units of a twentieth of the row's
/// own length. With one unit for all rows the right quantiles of noise that varies would not be
/// uncorrelated.
template <class T>
nn::Var<T> length_coverage_correlation(nn::Var<T> quantile, nn::Var<T> y, nn::Var<T> weight);

/// The weights of a minibatch; ones where rows have none.
nn::Var<float> row_weights(const LevelBatch& batch);

/// Makes the task one whose loss is of whole minibatches: pairs of levels, no minibatch that is not
/// full, none of fewer than 32 rows. Throws kInvalidArgument where a smaller one is asked for.
void use_batch_losses(QuantileTask& task, const Params& params);

/// The network of the values of an option that are tried whose validation rows have the lowest
/// pinball loss. At least one value.
QuantileNetwork best_of(std::span<const double> tried,
                        const std::function<QuantileNetwork(double)>& fit);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "model/gp/deep_gp.h"
#include "model/nn/graph/graph.h"

namespace tare {

// The expressions of a deep Gaussian process. Rows are standardised; K draws of a row lie K blocks
// of rows apart: first all rows with their first draw, then all with their second, and so on.

/// W and the layers, as an expression needs them.
struct DeepGpBody {
  const DeepGp::Layers& layers;
  std::span<const float> mean_map;
};

/// Standard normal numbers, drawn anew for each step.
struct DeepGpDraws {
  nn::Var<float> hidden;   // rows x width, for f1
  nn::Var<float> between;  // K rows x width, for the noise between the layers
};

/// The bound on the log likelihood of each row, rows x 1.
///
/// f1 is drawn once for a row, outside the logarithm; the noise K times, inside; f2 and the noise
/// of y are integrated: log mean_k exp E log N(y | f2(h_k), noise). For each K a lower bound of the
/// log likelihood on average, tighter the larger K is.
nn::Var<float> deep_gp_bound(const DeepGpBody& body, nn::Var<float> x, nn::Var<float> y,
                             const DeepGpDraws& draws);

/// Mean and variance of y, side by side (K rows x 2), for K draws that are the same for all rows.
/// `draws` holds K rows of `width` standard normal numbers.
nn::Var<float> deep_gp_laws(const DeepGpBody& body, nn::Var<float> x, std::span<const float> draws);

/// log density of y under the mixture of each row's K normal distributions, rows x 1.
nn::Var<float> deep_gp_log_density(nn::Var<float> laws, nn::Var<float> y);

}  // namespace tare

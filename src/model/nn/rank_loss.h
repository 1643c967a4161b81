// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/nn/gaussian_loss.h"

namespace tare::nn {

/// |F(y) - r| for each row, with F the distribution function of its normal distribution: how far
/// the level of the target is from the level that was drawn for it (Zhao, Ma, Ermon 2020). `r` is
/// count x 1. Defined for float and double.
template <class T>
Var<T> rank_loss(const NormalHeads<T>& law, Var<T> y, Var<T> r);

}  // namespace tare::nn

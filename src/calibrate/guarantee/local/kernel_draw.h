// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "tare/base/rng.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/math/kernel.h"

namespace tare {

/// A point drawn from the density around `center` that is proportional to the kernel of this
/// bandwidth, which is finite. Not for knn.
void draw_near(KernelKind kernel, double bandwidth, std::span<const double> center, Rng& rng,
               std::span<double> drawn);

/// The seed of a row's draw: its features and given predictions decide, so that a row has the same
/// answer in every file.
Seed seed_of_row(Seed seed, std::span<const double> x, std::span<const double> given);

}  // namespace tare

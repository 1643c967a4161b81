// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/automatic/families.h"
#include "calibrate/automatic/family_training.h"
#include "calibrate/automatic/network_race.h"

namespace tare::automatic {

/// The columns of the family of means, and what it found out for the others.
struct Means {
  std::vector<std::size_t> members;
  std::size_t center = 0;  // their blend
  std::size_t spread = 0;  // the log of their disagreement
  std::size_t log_scale = 0;
  NetworkShape networks;       // the shape that won
  bool networks_count = true;  // whether networks, or trees, are worth training further
  bool trees_count = true;
  bool calm_is_better = true;  // of the two kinds of boosting
};

/// Trains boosted and random trees, a Gaussian process, networks and a linear model by squared
/// error.
Means train_means(const FamilyTraining& shop, const Effort& effort);

}  // namespace tare::automatic

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "calibrate/automatic/family_training.h"

namespace tare::automatic {

/// A model of the log of the absolute residual of `center` on x, the center and `more`. The folds
/// of its trees are their own: a residual and the models that a row's residual depends on share the
/// first ones.
std::size_t train_log_scale(const FamilyTraining& shop, std::size_t center,
                            std::span<const std::size_t> more, std::uint64_t stream);

}  // namespace tare::automatic

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "model/gp/gp_kernel.h"

namespace tare {

/// Whether a kernel has functions of each feature alone beside the function of all.
enum class GpForm : std::uint8_t { kTogether, kTogetherAndAlone };

/// A kernel is learned from at most so many rows.
inline constexpr std::size_t kKernelRows = 320;

/// The kernel of a form with the largest likelihood of some of the rows. With one feature both
/// forms are kTogether.
GpKernel learn_gp_kernel(const RegressionData& data, GpForm form, Seed seed, const Execution& how);

}  // namespace tare

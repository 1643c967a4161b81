// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace tare {

/// Holm's adjusted p-values, in the order of `p`: the correction for several tests that reports and
/// alarms use. It needs no independence of the tests.
std::vector<double> holm_adjusted(std::span<const double> p);

}  // namespace tare

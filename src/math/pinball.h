// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

namespace tare {

/// The pinball loss of a quantile of level tau whose target lies `above` it (below, where
/// negative).
inline double pinball_of_error(double above, double tau) {
  return std::max(tau * above, (tau - 1.0) * above);
}

}  // namespace tare

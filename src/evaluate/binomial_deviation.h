// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tare {

/// E|B / n - tau| for B ~ Binomial(n, tau), n >= 1 and whole, 0 < tau < 1.
double mean_absolute_deviation(double n, double tau);

}  // namespace tare

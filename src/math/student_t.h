// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tare {

/// Student's t distribution with `freedom` > 0 degrees of freedom, to about 1e-12.
double student_t_cdf(double t, double freedom);
/// For p in (0, 1).
double student_t_quantile(double p, double freedom);

}  // namespace tare

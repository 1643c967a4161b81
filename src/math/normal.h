// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tare {

// Distribution functions and their inverses. All are pure functions, safe from any thread, and keep
// a small relative error in the lower tail and around the centre, not only a small absolute one.
//
// Quantiles: p = 0 gives -infinity, p = 1 gives +infinity, p outside [0, 1] or NaN gives NaN.

/// P(Z <= x) for a standard normal Z. Relative error about 1e-15 down to the smallest normal
/// double.
double normal_cdf(double x);

/// The density of a standard normal.
double normal_pdf(double x);

/// The x with normal_cdf(x) = p. Relative error about 1e-15; four digits where p is a subnormal
/// number.
double normal_quantile(double p);

/// P(T <= t) for Student's t with 3 degrees of freedom, whose cdf has a closed form.
double student_t3_cdf(double t);

/// The density of Student's t with 3 degrees of freedom.
double student_t3_pdf(double t);

/// The t with student_t3_cdf(t) = p. Relative error about 1e-14 or better.
double student_t3_quantile(double p);

}  // namespace tare

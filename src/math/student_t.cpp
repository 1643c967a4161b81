// SPDX-License-Identifier: BSD-3-Clause
#include "math/student_t.h"

#include <cmath>

namespace tare {
namespace {

/// The continued fraction of the incomplete beta function (Abramowitz & Stegun 26.5.8) by Lentz's
/// method; converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1.0;
  double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
  double value = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1.0;
    for (const double term : {even, odd}) {
      d = 1.0 / away_from_zero(1.0 + term * d);
      c = away_from_zero(1.0 + term / c);
      step = c * d;
      value *= step;
    }
    if (std::abs(step - 1.0) < 1e-15) break;
  }
  return value;
}

/// The regularised incomplete beta function.
double beta_share(double x, double a, double b) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  if (x > (a + 1.0) / (a + b + 2.0)) return 1.0 - beta_share(1.0 - x, b, a);
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) * beta_fraction(x, a, b) / a;
}

}  // namespace

double student_t_cdf(double t, double freedom) {
  const double tail = 0.5 * beta_share(freedom / (freedom + t * t), freedom / 2.0, 0.5);
  return t > 0.0 ? 1.0 - tail : tail;
}

double student_t_quantile(double p, double freedom) {
  if (p < 0.5) return -student_t_quantile(1.0 - p, freedom);
  double low = 0.0;
  double high = 1.0;
  while (student_t_cdf(high, freedom) < p) high *= 2.0;
  // Bisection: the function is called a few times a run, and never for speed.
  for (int step = 0; step < 200 && high - low > 1e-14 * high; ++step) {
    const double middle = 0.5 * (low + high);
    (student_t_cdf(middle, freedom) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "math/normal.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "math/bracketed_newton.h"

namespace tare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSqrt2Pi = 2.5066282746310005024;
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtHalfRest = -4.8336466567264565e-17;  // 1/sqrt(2) less kSqrtHalf as a double

// Around the centre p is compared with 1/2 through erf, which is exact at 0; further out through
// erfc.
constexpr double kCentre = 0.25;

// A quantile is found for p <= 1/2 and mirrored: 1 - p is exact for p >= 1/2. What is left to
// `lower` is 0 < p <= 1/2.
template <class Lower>
double by_symmetry(double p, const Lower& lower) {
  if (!(p >= 0.0 && p <= 1.0)) return kNaN;
  if (p == 0.0) return -kInfinity;
  if (p == 1.0) return kInfinity;
  return p <= 0.5 ? lower(p) : -lower(1.0 - p);
}

double normal_start(double p) {
  const double gap = p - 0.5;
  if (gap > -kCentre) {
    // A [1/1] approximant of the series of the inverse error function.
    const double s = kSqrt2Pi * gap;
    const double w = s * s;
    return s * (1.0 + (w / 6.0) / (1.0 - 0.35 * w));
  }
  // Interpolates the quantile at six Chebyshev points of log t between t = 1.66 and 38; off by at
  // most 9e-5 there, which covers every positive double p below kCentre.
  const double t = std::sqrt(-2.0 * std::log(p));
  const double above = 2.478319 + t * (0.9223084 + t * 0.02410496);
  const double below = 1.0 + t * (1.460709 + t * (0.2420428 + t * 0.003583612));
  return above / below - t;
}

double normal_lower(double p) {
  const bool central = p - 0.5 > -kCentre;
  double x = normal_start(p);
  // Halley's steps triple the number of good digits: 4, 12, all. The third catches rounding.
  for (int step = 0; step < 3; ++step) {
    const double miss = central ? 0.5 * std::erf(x * kSqrtHalf) - (p - 0.5) : normal_cdf(x) - p;
    const double density = normal_pdf(x);
    if (miss == 0.0 || density == 0.0) break;
    const double newton = miss / density;
    x -= newton / (1.0 + 0.5 * x * newton);
  }
  return x;
}

// atan(v) - v / (1 + v^2), the lower tail of t3 times pi at -sqrt(3) / v. The two terms agree to
// order v^3, so for small v their difference is summed as a series instead.
double t3_tail(double v) {
  if (v > 0.5) return std::atan(v) - v / (1.0 + v * v);
  double power = v * v * v;
  double sum = 0.0;
  for (int k = 1; k < 40; ++k) {
    const double term = power * (2.0 * k / (2.0 * k + 1.0));
    sum += k % 2 == 1 ? term : -term;
    if (term <= 1e-18 * std::fabs(sum)) break;
    power *= v * v;
  }
  return sum;
}

// P(T <= t) - 1/2.
double t3_above_half(double t) {
  const double s = t / std::numbers::sqrt3;
  return (std::atan(s) + s / (1.0 + s * s)) * std::numbers::inv_pi;
}

double t3_lower(double p) {
  // The tail is below 2 v^3 / (3 pi), so inverting that bound gives a point left of the root.
  const double left = -std::numbers::sqrt3 / std::cbrt(1.5 * std::numbers::pi * p);
  if (p - 0.5 > -kCentre) {
    const auto miss = [p](double t) { return t3_above_half(t) - (p - 0.5); };
    return bracketed_newton(miss, student_t3_pdf, left, 0.0, (p - 0.5) / student_t3_pdf(0.0));
  }
  const auto miss = [p](double t) { return student_t3_cdf(t) - p; };
  return bracketed_newton(miss, student_t3_pdf, left * (1.0 + 1e-12), 0.0, left);
}

}  // namespace

double normal_cdf(double x) {
  const double z = x * kSqrtHalf;
  const double tail = 0.5 * std::erfc(-z);
  if (!(z < -1.0) || tail == 0.0) return tail;
  // Rounding z by half a digit moves a tail of exp(-z^2) by up to z^2 digits; put that back.
  const double rest = std::fma(x, kSqrtHalf, -z) + x * kSqrtHalfRest;
  return tail + rest * std::numbers::inv_sqrtpi * std::exp(-z * z);
}

double normal_pdf(double x) { return std::exp(-0.5 * x * x) / kSqrt2Pi; }

double normal_quantile(double p) { return by_symmetry(p, normal_lower); }

double student_t3_cdf(double t) {
  if (t < 0.0) return t3_tail(-std::numbers::sqrt3 / t) * std::numbers::inv_pi;
  return t > 0.0 ? 1.0 - student_t3_cdf(-t) : t + 0.5;  // t + 0.5 lets a NaN through
}

double student_t3_pdf(double t) {
  const double s = 1.0 + t * t / 3.0;
  return 2.0 / (std::numbers::pi * std::numbers::sqrt3 * s * s);
}

double student_t3_quantile(double p) { return by_symmetry(p, t3_lower); }

}  // namespace tare

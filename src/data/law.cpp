// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "math/bracketed_newton.h"
#include "math/normal.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr double kModeSpread = 0.3;  // sd of either half of kBimodal; the halves sit at -1 and 1

double bimodal_cdf(double z) {
  return 0.5 * (normal_cdf((z + 1.0) / kModeSpread) + normal_cdf((z - 1.0) / kModeSpread));
}

double bimodal_pdf(double z) {
  return 0.5 * (normal_pdf((z + 1.0) / kModeSpread) + normal_pdf((z - 1.0) / kModeSpread)) /
         kModeSpread;
}

// 0 < tau < 1.
double bimodal_quantile(double tau) {
  if (tau > 0.5) return -bimodal_quantile(1.0 - tau);
  // The right hump's share lies between 0 and the left hump's, so
  // Phi((z + 1) / s) / 2 <= F(z) <= Phi((z + 1) / s); inverting both sides brackets the quantile.
  const double low = -1.0 + kModeSpread * normal_quantile(tau);
  const double high = std::min(0.0, -1.0 + kModeSpread * normal_quantile(2.0 * tau));
  const auto miss = [tau](double z) { return bimodal_cdf(z) - tau; };
  return bracketed_newton(miss, bimodal_pdf, low, high, high);
}

double shape_cdf(LawShape shape, double z) {
  switch (shape) {
    case LawShape::kNormal:
      return normal_cdf(z);
    case LawShape::kUniform:
      return std::isnan(z) ? z : std::clamp(z, 0.0, 1.0);
    case LawShape::kSkewed:
      return z < -1.0 ? 0.0 : -std::expm1(-(z + 1.0));
    case LawShape::kHeavy:
      return student_t3_cdf(z);
    case LawShape::kBimodal:
      return bimodal_cdf(z);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double shape_quantile(LawShape shape, double tau) {
  switch (shape) {
    case LawShape::kNormal:
      return normal_quantile(tau);
    case LawShape::kUniform:
      return tau;
    case LawShape::kSkewed:
      return -std::log1p(-tau) - 1.0;
    case LawShape::kHeavy:
      return student_t3_quantile(tau);
    case LawShape::kBimodal:
      return tau > 0.0 && tau < 1.0 ? bimodal_quantile(tau) : normal_quantile(tau);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// Not by inversion: it costs more, and a uniform draw of exactly 0 would give -infinity.
double shape_draw(LawShape shape, Rng& rng) {
  switch (shape) {
    case LawShape::kNormal:
      return rng.normal();
    case LawShape::kUniform:
      return rng.uniform();
    case LawShape::kSkewed:
      return -std::log1p(-rng.uniform()) - 1.0;
    case LawShape::kHeavy: {
      const double z = rng.normal();
      const double a = rng.normal();
      const double b = rng.normal();
      const double c = rng.normal();
      return z / std::sqrt((a * a + b * b + c * c) / 3.0);
    }
    case LawShape::kBimodal: {
      const double mode = rng.uniform() < 0.5 ? -1.0 : 1.0;
      return mode + kModeSpread * rng.normal();
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double moved_cdf(const Law& law, double y) {
  if (law.scale == 0.0) return y >= law.location ? 1.0 : 0.0;
  return shape_cdf(law.shape, (y - law.location) / law.scale);
}

// No shape has a jump of its own, so only a scale of 0 makes a difference to moved_cdf().
double moved_cdf_below(const Law& law, double y) {
  if (law.scale == 0.0) return y > law.location ? 1.0 : 0.0;
  return moved_cdf(law, y);
}

double moved_quantile(const Law& law, double tau) {
  if (law.scale == 0.0) return law.location;  // 0 times an infinite end would not be a number
  return law.location + law.scale * shape_quantile(law.shape, tau);
}

double moved_mean(const Law& law) {
  return law.shape == LawShape::kUniform ? law.location + 0.5 * law.scale : law.location;
}

}  // namespace

double Law::cdf(double y) const {
  if (at_zero == 0.0) return moved_cdf(*this, y);
  return (1.0 - at_zero) * moved_cdf(*this, y) + (y >= 0.0 ? at_zero : 0.0);
}

double Law::cdf_below(double y) const {
  if (at_zero == 0.0) return moved_cdf_below(*this, y);
  return (1.0 - at_zero) * moved_cdf_below(*this, y) + (y > 0.0 ? at_zero : 0.0);
}

double Law::quantile(double tau) const {
  if (!(tau >= 0.0 && tau <= 1.0)) return std::numeric_limits<double>::quiet_NaN();
  if (at_zero == 0.0) return moved_quantile(*this, tau);
  const double rest = 1.0 - at_zero;
  const double below = rest * moved_cdf_below(*this, 0.0);
  // Rounding may carry a share past the end of the shape, where there is only infinity.
  if (tau <= below) return std::min(moved_quantile(*this, std::min(tau / rest, 1.0)), 0.0);
  if (tau <= rest * moved_cdf(*this, 0.0) + at_zero) return 0.0;
  return std::max(moved_quantile(*this, std::clamp((tau - at_zero) / rest, 0.0, 1.0)), 0.0);
}

double Law::mean() const { return (1.0 - at_zero) * moved_mean(*this); }

double Law::draw(Rng& rng) const {
  if (at_zero > 0.0 && rng.uniform() < at_zero) return 0.0;
  const double z = shape_draw(shape, rng);
  return location + scale * z;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "math/kernel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/unknown_name.h"
#include "math/exponential.h"
#include "math/vector_targets.h"

namespace tare {

std::string_view kernel_name(KernelKind kind) {
  switch (kind) {
    case KernelKind::kNaive:
      return "naive";
    case KernelKind::kEpanechnikov:
      return "epanechnikov";
    case KernelKind::kTriangular:
      return "triangular";
    case KernelKind::kTricube:
      return "tricube";
    case KernelKind::kGaussian:
      return "gaussian";
    case KernelKind::kLaplace:
      return "laplace";
    case KernelKind::kKnn:
      return "knn";
  }
  return "?";
}

KernelKind parse_kernel(std::string_view name) {
  const std::string sought = canonical_name(name);
  std::vector<std::string> names;
  for (const KernelKind kind : kAllKernels) {
    if (kernel_name(kind) == sought) return kind;
    names.emplace_back(kernel_name(kind));
  }
  fail_unknown_name(ErrorCode::kInvalidArgument, "kernel", name, names, "kernel");
}

namespace {

// One loop per kernel. The scaled squared distance is t = r^2 / h^2.

TARE_VECTOR_TARGETS void naive(const double* r2, double* w, std::size_t n, double h) {
  // r^2 <= h^2 and not r^2 / h^2 <= 1: a point on the rim must not depend on a rounded quotient.
  const double h2 = h * h;
  for (std::size_t i = 0; i < n; ++i) w[i] = r2[i] <= h2 ? 1.0 : 0.0;
}

// A rounded quotient would give a row on the boundary a weight of 1e-16, and a query with all its
// neighbours on the boundary would not fall back. So r^2 < h^2 decides here as well.

TARE_VECTOR_TARGETS void epanechnikov(const double* r2, double* w, std::size_t n, double h) {
  const double h2 = h * h;
  const double scale = 1.0 / h2;
  for (std::size_t i = 0; i < n; ++i) w[i] = r2[i] < h2 ? std::max(0.0, 1.0 - r2[i] * scale) : 0.0;
}

TARE_VECTOR_TARGETS void triangular(const double* r2, double* w, std::size_t n, double h) {
  const double h2 = h * h;
  const double scale = 1.0 / h;
  for (std::size_t i = 0; i < n; ++i) {
    w[i] = r2[i] < h2 ? std::max(0.0, 1.0 - std::sqrt(r2[i]) * scale) : 0.0;
  }
}

TARE_VECTOR_TARGETS void tricube(const double* r2, double* w, std::size_t n, double h) {
  const double h2 = h * h;
  const double scale = 1.0 / h;
  for (std::size_t i = 0; i < n; ++i) {
    const double s = std::sqrt(r2[i]) * scale;
    const double base = r2[i] < h2 ? std::max(0.0, 1.0 - s * s * s) : 0.0;
    w[i] = base * base * base;
  }
}

TARE_VECTOR_TARGETS void gaussian(const double* r2, double* w, std::size_t n, double h) {
  const double scale = -0.5 / (h * h);
  for (std::size_t i = 0; i < n; ++i) w[i] = exp_negative(r2[i] * scale);
}

TARE_VECTOR_TARGETS void laplace(const double* r2, double* w, std::size_t n, double h) {
  const double scale = -1.0 / h;
  for (std::size_t i = 0; i < n; ++i) w[i] = exp_negative(std::sqrt(r2[i]) * scale);
}

}  // namespace

void kernel_weights(KernelKind kind, double bandwidth, std::span<const double> squared_distance,
                    std::span<double> weight) {
  assert(squared_distance.size() == weight.size() && "one weight per distance");
  if (std::isinf(bandwidth)) {
    std::fill(weight.begin(), weight.end(), 1.0);
    return;
  }
  const double* r2 = squared_distance.data();
  double* w = weight.data();
  const std::size_t n = weight.size();
  switch (kind) {
    case KernelKind::kNaive:
      return naive(r2, w, n, bandwidth);
    case KernelKind::kEpanechnikov:
      return epanechnikov(r2, w, n, bandwidth);
    case KernelKind::kTriangular:
      return triangular(r2, w, n, bandwidth);
    case KernelKind::kTricube:
      return tricube(r2, w, n, bandwidth);
    case KernelKind::kGaussian:
      return gaussian(r2, w, n, bandwidth);
    case KernelKind::kLaplace:
      return laplace(r2, w, n, bandwidth);
    case KernelKind::kKnn:
      break;
  }
  assert(false && "the window of knn depends on the sample");
}

double kernel_support(KernelKind kind) {
  if (kind == KernelKind::kGaussian || kind == KernelKind::kLaplace) {
    return std::numeric_limits<double>::infinity();
  }
  return 1.0;
}

double kernel_width_factor(KernelKind kind) {
  // Square roots of (1/3) / second moment of the normalised kernel in one dimension: naive 1/3,
  // epanechnikov 1/5, triangular 1/6, tricube 35/243, gaussian 1, laplace 2.
  switch (kind) {
    case KernelKind::kEpanechnikov:
      return 1.2910;
    case KernelKind::kTriangular:
      return 1.4142;
    case KernelKind::kTricube:
      return 1.5213;
    case KernelKind::kGaussian:
      return 0.5774;
    case KernelKind::kLaplace:
      return 0.4082;
    default:
      return 1.0;
  }
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "tare/math/kernel.h"

namespace tare::oracle {

/// A kernel's weight by its definition; not for knn, whose window depends on the sample.
inline long double kernel(KernelKind kind, long double r2, long double h) {
  const long double s = std::sqrt(r2) / h;
  switch (kind) {
    case KernelKind::kNaive:
      return r2 <= h * h ? 1 : 0;
    case KernelKind::kEpanechnikov:
      return s < 1 ? 1 - s * s : 0;
    case KernelKind::kTriangular:
      return s < 1 ? 1 - s : 0;
    case KernelKind::kTricube:
      return s < 1 ? (1 - s * s * s) * (1 - s * s * s) * (1 - s * s * s) : 0;
    case KernelKind::kGaussian:
      return std::exp(-s * s / 2);
    case KernelKind::kLaplace:
      return std::exp(-s);
    case KernelKind::kKnn:
      break;
  }
  return 0;
}

}  // namespace tare::oracle

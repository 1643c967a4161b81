// SPDX-License-Identifier: BSD-3-Clause
#include "index/dense/dense_kernels.h"

#include <cassert>

namespace tare {

DenseCurve dense_curve(KernelKind kind, double bandwidth) {
  assert(bandwidth >= kNarrowestDense && bandwidth <= kWidestDense && "out of reach of floats");
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  const auto curve = [&](double scale) { return DenseCurve{kind, static_cast<float>(scale)}; };
  switch (kind) {
    case KernelKind::kGaussian:
      return curve(-0.5 * kLog2E / (bandwidth * bandwidth));
    case KernelKind::kLaplace:
      return curve(-kLog2E / bandwidth);
    case KernelKind::kNaive:
      return curve(bandwidth * bandwidth);
    case KernelKind::kEpanechnikov:
      return curve(1.0 / (bandwidth * bandwidth));
    case KernelKind::kTriangular:
    case KernelKind::kTricube:
      return curve(1.0 / bandwidth);
    case KernelKind::kKnn:
      break;
  }
  assert(false && "the window of knn depends on the sample");
  return {};
}

}  // namespace tare

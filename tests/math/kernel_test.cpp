// SPDX-License-Identifier: BSD-3-Clause
#include "math/kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "expect_error.h"
#include "math/exponential.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

TEST(ExpNegative, IsWithinTwoUnitsInTheLastPlace) {
  Rng rng(Seed{1});
  EXPECT_EQ(exp_negative(0.0), 1.0);
  EXPECT_EQ(exp_negative(-701.0), 0.0);
  EXPECT_EQ(exp_negative(-1e300), 0.0);
  EXPECT_EQ(exp_negative(-std::numeric_limits<double>::infinity()), 0.0);
  double worst = 0.0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = i % 2 == 0 ? rng.uniform(-700.0, 0.0) : rng.uniform(-2.0, 0.0);
    const long double truth = std::exp(static_cast<long double>(x));
    const double error = static_cast<double>(std::abs((exp_negative(x) - truth) / truth));
    worst = std::max(worst, error / std::numeric_limits<double>::epsilon());
  }
  EXPECT_LE(worst, 2.0);
}

TEST(Kernels, HaveTheirFormulas) {
  const std::vector<double> r = {0.0, 0.3, 0.5, 0.7, 1.0, 1.2, 5.0};
  constexpr double kH = 0.7;
  std::vector<double> r2;
  for (const double value : r) r2.push_back(value * value);
  std::vector<double> w(r.size());
  const auto check = [&](KernelKind kind, auto formula) {
    kernel_weights(kind, kH, r2, w);
    for (std::size_t i = 0; i < r.size(); ++i) {
      EXPECT_NEAR(w[i], formula(r[i] / kH), 1e-14) << kernel_name(kind) << " at " << r[i];
    }
  };
  check(KernelKind::kNaive, [](double s) { return s <= 1.0 ? 1.0 : 0.0; });
  check(KernelKind::kEpanechnikov, [](double s) { return s < 1.0 ? 1.0 - s * s : 0.0; });
  check(KernelKind::kTriangular, [](double s) { return s < 1.0 ? 1.0 - s : 0.0; });
  check(KernelKind::kTricube,
        [](double s) { return s < 1.0 ? std::pow(1.0 - s * s * s, 3) : 0.0; });
  check(KernelKind::kGaussian, [](double s) { return std::exp(-0.5 * s * s); });
  check(KernelKind::kLaplace, [](double s) { return std::exp(-s); });
}

TEST(Kernels, AnInfiniteBandwidthGivesEveryRowTheSameWeight) {
  std::vector<double> w(3);
  for (const KernelKind kind : kAllKernels) {
    kernel_weights(kind, std::numeric_limits<double>::infinity(),
                   std::vector<double>{0.0, 1.0, 1e300}, w);
    EXPECT_EQ(w, (std::vector<double>{1.0, 1.0, 1.0}));
  }
}

TEST(Kernels, WidthFactorsMakeSecondMomentsAgree) {
  for (const KernelKind kind : kAllKernels) {
    if (kind == KernelKind::kKnn) continue;
    const double h = kernel_width_factor(kind);
    double mass = 0.0;
    double moment = 0.0;
    constexpr double kStep = 1e-3;
    for (double x = 0.5 * kStep; x < 20.0; x += kStep) {
      double w = 0.0;
      const double r2 = x * x;
      kernel_weights(kind, h, {&r2, 1}, {&w, 1});
      mass += w;
      moment += w * r2;
    }
    EXPECT_NEAR(moment / mass, 1.0 / 3.0, 2e-3) << kernel_name(kind);
  }
}

TEST(Kernels, AreFoundByName) {
  for (const KernelKind kind : kAllKernels) EXPECT_EQ(parse_kernel(kernel_name(kind)), kind);
  EXPECT_EQ(parse_kernel("Gaussian"), KernelKind::kGaussian);
  expect_error(ErrorCode::kInvalidArgument, "naive, epanechnikov", [] { parse_kernel("cosine"); });
}

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/local/kernel_draw.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tare {
namespace {

/// In (0, 1].
double positive_uniform(Rng& rng) { return 1.0 - rng.uniform(); }

/// A Beta(a, b) variable, b whole: a product of powers of uniform ones.
double beta_variable(double a, int b, Rng& rng) {
  double product = 1.0;
  for (int j = 0; j < b; ++j) product *= std::pow(positive_uniform(rng), 1.0 / (a + j));
  return product;
}

/// The distance from the center in bandwidths: its density is r^(d - 1) times the kernel.
double draw_radius(KernelKind kernel, std::size_t dims, Rng& rng) {
  const auto d = static_cast<double>(dims);
  switch (kernel) {
    case KernelKind::kNaive:
      return beta_variable(d, 1, rng);
    case KernelKind::kEpanechnikov:
      return std::sqrt(beta_variable(0.5 * d, 2, rng));
    case KernelKind::kTriangular:
      return beta_variable(d, 2, rng);
    case KernelKind::kTricube:
      return std::cbrt(beta_variable(d / 3.0, 4, rng));
    case KernelKind::kLaplace: {
      double sum = 0.0;  // a gamma variable of shape d
      for (std::size_t j = 0; j < dims; ++j) sum -= std::log(positive_uniform(rng));
      return sum;
    }
    case KernelKind::kGaussian:
    case KernelKind::kKnn:
      break;
  }
  return 0.0;
}

}  // namespace

void draw_near(KernelKind kernel, double bandwidth, std::span<const double> center, Rng& rng,
               std::span<double> drawn) {
  double squares = 0.0;
  for (double& value : drawn) {
    value = rng.normal();
    squares += value * value;
  }
  double scale = bandwidth;
  if (kernel != KernelKind::kGaussian && squares > 0.0) {
    scale *= draw_radius(kernel, drawn.size(), rng) / std::sqrt(squares);
  }
  for (std::size_t j = 0; j < drawn.size(); ++j) drawn[j] = center[j] + scale * drawn[j];
}

Seed seed_of_row(Seed seed, std::span<const double> x, std::span<const double> given) {
  for (const auto values : {x, given}) {
    for (const double value : values) {
      seed = split(seed, std::bit_cast<std::uint64_t>(value + 0.0));  // -0 is 0
    }
  }
  return seed;
}

}  // namespace tare

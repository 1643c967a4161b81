// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/dense_losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "calibrate/bandwidth/bandwidth.h"
#include "tare/base/rng.h"

#include "calibrate/snq/engine/exact_losses.h"

namespace tare {
namespace {

struct LossCase {
  Matrix z;
  std::vector<double> u;
  std::vector<double> weight;
};

enum class LossTexture { kSmooth, kGrid, kClusters };

LossCase loss_case(Rng& rng, std::size_t rows, std::size_t dims, LossTexture texture,
                   bool weighted) {
  LossCase c{Matrix(rows, dims), std::vector<double>(rows), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    const double centre = texture == LossTexture::kClusters ? 50.0 * (i % 3 == 0) : 0.0;
    for (double& value : c.z.row(i)) {
      value = texture == LossTexture::kGrid ? 0.3 * static_cast<double>(rng.below(6))
                                            : centre + rng.normal();
    }
    c.u[i] = rng.normal() * (1.0 + std::abs(c.z(i, 0)));
    if (weighted) c.weight.push_back(i % 5 == 1 ? 0.0 : rng.uniform());
  }
  return c;
}

/// Mean loss of each bandwidth.
std::vector<double> means(const Matrix& losses) {
  std::vector<double> sum(losses.cols(), 0.0);
  for (std::size_t i = 0; i < losses.rows(); ++i) {
    for (std::size_t b = 0; b < losses.cols(); ++b) {
      sum[b] += losses(i, b) / static_cast<double>(losses.rows());
    }
  }
  return sum;
}

class DenseLossesOf : public testing::TestWithParam<KernelKind> {};

TEST_P(DenseLossesOf, AreThoseOfTheSample) {
  Rng rng(Seed{31});
  double worst = 0.0;
  for (int trial = 0; trial < 18; ++trial) {
    const std::size_t rows = 200 + rng.below(300);
    const std::size_t dims = trial % 2 == 0 ? 1 + rng.below(4) : 1 + rng.below(25);
    const auto texture = static_cast<LossTexture>(trial % 3);
    const LossCase c = loss_case(rng, rows, dims, texture, (trial / 3) % 2 == 1);
    const LocalSample sample(c.z, c.u, c.weight);
    const DenseRows dense(sample.features().columns(), sample.rows(), dims, sample.weights());
    std::vector<double> bandwidths;
    for (int step = 0; step < 9; ++step) {
      bandwidths.push_back(std::sqrt(static_cast<double>(dims)) * 0.0031 * std::pow(3.7, step));
    }
    std::vector<std::size_t> places(sample.rows());
    std::iota(places.begin(), places.end(), std::size_t{0});
    SnqOptions options;
    options.kernel = GetParam();
    options.fallback = trial % 4 == 0 ? Fallback::kMarginal : Fallback::kNearest;
    options.min_support = 1 + rng.below(20);
    ASSERT_TRUE(dense_losses_serve(dense, options.kernel, bandwidths));
    const auto fast = means(dense_losses(sample, dense, options, bandwidths, places, {}));
    const auto exact =
        means(exact_leave_one_out_losses(sample, {}, options, bandwidths, places, {}));
    for (std::size_t b = 0; b < bandwidths.size(); ++b) {
      worst = std::max(worst, std::abs(fast[b] / exact[b] - 1.0));
      // A level that falls on a cumulative weight is decided by rounding. One such among the
      // thousands here moves the mean by a few 1e-5; on more rows it does not count.
      ASSERT_NEAR(fast[b], exact[b], 1e-4 * exact[b])
          << "trial " << trial << ", bandwidth " << bandwidths[b] << ", " << dims << " features";
    }
  }
  RecordProperty("worst_in_1e9", static_cast<int>(worst * 1e9));
}

TEST_P(DenseLossesOf, AgreeToAHundredThousandthOnManyRows) {
  Rng rng(Seed{33});
  const LossCase c = loss_case(rng, 2'500, 3, LossTexture::kSmooth, false);
  const LocalSample sample(c.z, c.u, c.weight);
  std::vector<std::size_t> places(600);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = 4 * i;
  const std::vector<double> bandwidths = {0.1, 0.33, 1.1, 4.0};
  const SnqOptions options{.kernel = GetParam()};
  // The public way, which takes single precision at this size.
  const auto fast = means(leave_one_out_losses(sample, {}, options, bandwidths, places, {}));
  const auto exact = means(exact_leave_one_out_losses(sample, {}, options, bandwidths, places, {}));
  for (std::size_t b = 0; b < bandwidths.size(); ++b) {
    EXPECT_NEAR(fast[b], exact[b], 1e-5 * exact[b]) << "bandwidth " << bandwidths[b];
  }
}

TEST_P(DenseLossesOf, DoNotDependOnThreadsOrOnTheOtherRows) {
  Rng rng(Seed{32});
  const LossCase c = loss_case(rng, 300, 3, LossTexture::kSmooth, true);
  const LocalSample sample(c.z, c.u, c.weight);
  const DenseRows dense(sample.features().columns(), sample.rows(), 3, sample.weights());
  const std::vector<double> bandwidths = {0.05, 0.4, 2.0};
  std::vector<std::size_t> places(sample.rows());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const SnqOptions options{.kernel = GetParam()};
  const auto one =
      dense_losses(sample, dense, options, bandwidths, places, {.threads = 1, .progress = {}});
  const auto many =
      dense_losses(sample, dense, options, bandwidths, places, {.threads = 5, .progress = {}});
  const auto some = dense_losses(sample, dense, options, bandwidths,
                                 std::span(places).subspan(17, 40), {.threads = 1, .progress = {}});
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t b = 0; b < bandwidths.size(); ++b) {
      ASSERT_EQ(one(i, b), many(i, b));
      if (i >= 17 && i < 57) {
        ASSERT_EQ(one(i, b), some(i - 17, b));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dense, DenseLossesOf,
                         testing::Values(KernelKind::kNaive, KernelKind::kEpanechnikov,
                                         KernelKind::kTriangular, KernelKind::kTricube,
                                         KernelKind::kGaussian, KernelKind::kLaplace),
                         [](const auto& kind) { return std::string(kernel_name(kind.param)); });

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/cuda_answer.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>

#include "calibrate/bandwidth/bandwidth.h"
#include "fake_cuda.h"
#include "tare/base/rng.h"
#include "tare/calibrate/snq.h"

namespace tare {
namespace {

using ::testing::HasSubstr;

/// The library is loaded once, so it must be named before anything asks for a GPU.
const bool library_is_named = setenv("TARE_CUDA_LIBRARY", TARE_FAKE_CUDA, 1) == 0;

FakeCuda& fake() {
  void* const handle = dlopen(TARE_FAKE_CUDA, RTLD_NOW);
  return *reinterpret_cast<FakeCudaState>(dlsym(handle, "fake_cuda_state"))();
}

class CudaAnswerTest : public ::testing::Test {
 protected:
  CudaAnswerTest() : rng_(Seed{7}) {
    EXPECT_TRUE(library_is_named);
    fake() = {};
    take_device_problem();
  }
  ~CudaAnswerTest() override { EXPECT_EQ(fake().held, 0) << "rows stayed on the device"; }

  Matrix draw(std::size_t rows, std::size_t dims) {
    Matrix x(rows, dims);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < dims; ++j) x(i, j) = rng_.normal();
    }
    return x;
  }
  Snq snq(const SnqOptions& options, std::size_t rows = 400, std::size_t dims = 3) {
    const Matrix z = draw(rows, dims);
    std::vector<double> u(rows);
    for (double& value : u) value = rng_.normal();
    return Snq(z, u, {}, options).with_support();
  }
  static Execution on(DeviceKind kind) {
    Execution how;
    how.device.kind = kind;
    return how;
  }
  static std::vector<Level> levels() { return {Level(0.05), Level(0.3), Level(0.5), Level(0.95)}; }

  /// That both have the same quantiles and diagnostics.
  void expect_same(const Snq& model, MatrixView z, const Execution& how) {
    const Prediction there = model.predict(z, levels(), how);
    const Prediction here = model.predict(z, levels(), on(DeviceKind::kCpu));
    for (std::size_t i = 0; i < z.rows(); ++i) {
      for (std::size_t j = 0; j < levels().size(); ++j) {
        EXPECT_NEAR(there.quantiles(i, j), here.quantiles(i, j), 1e-12);
      }
      EXPECT_NEAR(there.window_n[i], here.window_n[i], 1e-6 * here.window_n[i]);
      EXPECT_NEAR(there.nearest[i], here.nearest[i], 1e-12);
    }
    EXPECT_EQ(there.fallback, here.fallback);
    EXPECT_EQ(there.outside, here.outside);
  }

  Rng rng_;
};

TEST_F(CudaAnswerTest, GivesTheAnswersOfTheProcessor) {
  for (const KernelKind kernel :
       {KernelKind::kNaive, KernelKind::kEpanechnikov, KernelKind::kTriangular,
        KernelKind::kTricube, KernelKind::kGaussian, KernelKind::kLaplace, KernelKind::kKnn}) {
    SnqOptions options;
    options.kernel = kernel;
    options.bandwidth = kernel == KernelKind::kKnn ? 20.0 : 0.8;  // some windows are empty
    const Snq model = snq(options);
    const int before = fake().answers;
    expect_same(model, draw(50, 3), on(DeviceKind::kCuda));
    EXPECT_EQ(fake().answers, before + 1) << kernel_name(kernel);
  }
  EXPECT_EQ(take_device_problem(), "");
}

TEST_F(CudaAnswerTest, KeepsTheRowsOnTheDevice) {
  const Snq model = snq({});
  for (int k = 0; k < 3; ++k) expect_same(model, draw(10, 3), on(DeviceKind::kCuda));
  EXPECT_EQ(fake().uploads, 1);
  EXPECT_EQ(fake().answers, 3);
}

TEST_F(CudaAnswerTest, WhatItCannotAnswerTheProcessorDoes) {
  fake().mode = kFakeLeavesSomeOut;
  expect_same(snq({}), draw(50, 3), on(DeviceKind::kCuda));
  SnqOptions options;
  options.ranks = Ranks::kExpected;
  expect_same(snq(options), draw(50, 3), on(DeviceKind::kCuda));
  EXPECT_EQ(take_device_problem(), "");
}

TEST_F(CudaAnswerTest, QueriesNeedNotLieSideBySide) {
  const Matrix wide = draw(20, 5);
  const Snq model = snq({});
  expect_same(model, MatrixView(wide.view().data(), 20, 3, 5), on(DeviceKind::kCuda));
}

TEST_F(CudaAnswerTest, ALostDeviceIsSaidOnceAndTheProcessorGoesOn) {
  fake().mode = kFakeIsLost;
  const Snq model = snq({});
  const Matrix z = draw(10, 3);
  expect_same(model, z, on(DeviceKind::kCuda));
  EXPECT_THAT(take_device_problem(), HasSubstr("the device is lost"));
  EXPECT_EQ(take_device_problem(), "");
  expect_same(model, z, on(DeviceKind::kCuda));
  EXPECT_EQ(fake().answers, 1) << "it is not asked again";
}

TEST_F(CudaAnswerTest, WithoutMemoryOnTheDeviceTheProcessorAnswers) {
  fake().mode = kFakeHasNoMemory;
  expect_same(snq({}), draw(10, 3), on(DeviceKind::kCuda));
  EXPECT_THAT(take_device_problem(), HasSubstr("400 calibration rows did not get onto the GPU"));
}

TEST_F(CudaAnswerTest, AGpuThatIsNotThereIsSaid) {
  Execution how = on(DeviceKind::kCuda);
  how.device.number = 5;
  expect_same(snq({}), draw(10, 3), how);
  EXPECT_THAT(take_device_problem(), HasSubstr("there is no GPU 5: 1 can be used"));
}

TEST_F(CudaAnswerTest, AutoLeavesSmallJobsToTheProcessor) {
  expect_same(snq({}), draw(200, 3), on(DeviceKind::kAuto));
  EXPECT_EQ(fake().uploads, 0);
  // A job of minutes goes; one that takes the GPU nearly as long does not.
  EXPECT_EQ(device_for({.kind = DeviceKind::kAuto}, 100.0, 0.4), 0);
  EXPECT_EQ(device_for({.kind = DeviceKind::kAuto}, 0.1, 0.001), std::nullopt);
  EXPECT_EQ(device_for({.kind = DeviceKind::kAuto}, 0.5, 0.4), std::nullopt);
  EXPECT_EQ(device_for({.kind = DeviceKind::kCpu}, 100.0, 0.4), std::nullopt);
  EXPECT_EQ(device_for({.kind = DeviceKind::kCuda}, 0.0, 1e-12), 0);
}

TEST_F(CudaAnswerTest, ManyFeaturesAndEndlessBandwidthsStayOnTheProcessor) {
  for (const KernelKind kernel : {KernelKind::kGaussian, KernelKind::kKnn}) {
    SnqOptions endless;
    endless.kernel = kernel;
    endless.bandwidth = std::numeric_limits<double>::infinity();
    expect_same(snq(endless), draw(10, 3), on(DeviceKind::kCuda));
  }
  SnqOptions wide;
  wide.bandwidth = 10.0;
  expect_same(snq(wide, 100, 65), draw(5, 65), on(DeviceKind::kCuda));
  EXPECT_EQ(fake().uploads, 0);
  EXPECT_EQ(take_device_problem(), "");
}

TEST_F(CudaAnswerTest, FeaturesOutOfReachOfSinglePrecisionStayOnTheProcessor) {
  Matrix z = draw(50, 2);
  z(7, 1) = 1e20;
  const std::vector<double> u(50, 1.0);
  const Snq model(z, u, {}, {});
  const Prediction answer = model.predict(z, levels(), on(DeviceKind::kCuda));
  EXPECT_EQ(answer.quantiles(7, 0), 1.0);
  EXPECT_EQ(fake().uploads, 0);
}

TEST_F(CudaAnswerTest, CanBeStopped) {
  const std::atomic<bool> stop = true;
  Execution how = on(DeviceKind::kCuda);
  how.stop = &stop;
  const Snq model = snq({});
  EXPECT_THROW(model.predict(draw(10, 3), levels(), how), Stopped);
  Execution counting = on(DeviceKind::kCuda);
  double last = -1.0;
  counting.progress = [&](std::string_view, double share) { last = share; };
  model.predict(draw(10, 3), levels(), counting);
  EXPECT_GT(last, 0.5);
}

TEST_F(CudaAnswerTest, NoLevelsAndNoQueriesAreNoJobForAGpu) {
  const Snq model = snq({});
  EXPECT_EQ(model.predict(draw(5, 3), {}, on(DeviceKind::kCuda)).quantiles.cols(), 0U);
  EXPECT_EQ(model.predict(Matrix(0, 3), levels(), on(DeviceKind::kCuda)).quantiles.rows(), 0U);
  EXPECT_EQ(fake().answers, 0);
}

TEST_F(CudaAnswerTest, LossesOfLeftOutRowsAreThoseOfTheProcessor) {
  const Matrix z = draw(300, 2);
  std::vector<double> u(300);
  for (double& value : u) value = rng_.normal();
  const LocalSample sample(z, u, {});
  const std::vector<double> bandwidths = {0.3, 0.6, 2.0};
  const std::vector<std::size_t> places = {0, 1, 17, 100, 250, 299};
  for (const int mode : {kFakeWorks, kFakeLeavesSomeOut, kFakeIsLost}) {
    fake().mode = mode;
    for (const KernelKind kernel :
         {KernelKind::kGaussian, KernelKind::kLaplace, KernelKind::kNaive}) {
      SnqOptions options;
      options.kernel = kernel;
      const Matrix there =
          leave_one_out_losses(sample, {}, options, bandwidths, places, on(DeviceKind::kCuda));
      const Matrix here =
          leave_one_out_losses(sample, {}, options, bandwidths, places, on(DeviceKind::kCpu));
      for (std::size_t p = 0; p < places.size(); ++p) {
        for (std::size_t b = 0; b < bandwidths.size(); ++b) {
          EXPECT_NEAR(there(p, b), here(p, b), 1e-9);
        }
      }
    }
  }
  EXPECT_EQ(fake().losses, 6) << "the naive kernel's are the processor's";
  const std::vector<std::size_t> mixed = {17, 3};
  leave_one_out_losses(sample, {}, {}, bandwidths, mixed, on(DeviceKind::kCuda));
  EXPECT_EQ(fake().losses, 6) << "rows that are not in order are the processor's";
  EXPECT_THAT(take_device_problem(), HasSubstr("the device is lost"));
}

}  // namespace
}  // namespace tare

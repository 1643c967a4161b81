// SPDX-License-Identifier: BSD-3-Clause
// The same queries by libtare on the processor, with all its cores, and on a GPU, through
// Snq::predict: windows of the naive kernel and dense kernels. The processor answers fewer queries,
// and its time is given for as many. One line of JSON for each.
//
//   gpu_engines [ROWS [QUERIES [QUERIES_OF_THE_PROCESSOR [windows]]]]
//   gpu_engines sweep          gaussian, 4 features, 99 levels, as many queries as rows: for the
//   figure of docs/gpu.md

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tare/base/rng.h"
#include "tare/calibrate/snq.h"

namespace {

using namespace tare;

struct Job {
  std::string name;
  KernelKind kernel;
  std::size_t dims;
  double bandwidth;
  std::size_t levels;
};

/// The radius of a ball with this share of a unit cube.
double radius(double dims, double share) {
  const double ball = std::pow(std::numbers::pi, dims / 2.0) / std::tgamma(dims / 2.0 + 1.0);
  return std::pow(share / ball, 1.0 / dims);
}

Matrix draw(std::size_t rows, std::size_t dims, bool uniform, Rng& rng) {
  Matrix x(rows, dims);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < dims; ++j) x(i, j) = uniform ? rng.uniform(0.0, 1.0) : rng.normal();
  }
  return x;
}

double seconds_of(const Snq& snq, MatrixView z, const std::vector<Level>& levels, DeviceKind kind) {
  Execution how;
  how.device.kind = kind;
  how.diagnostics = false;
  const auto start = std::chrono::steady_clock::now();
  const Prediction prediction = snq.predict(z, levels, how);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (const std::string problem = take_device_problem(); !problem.empty()) {
    fmt::print("{}\n", problem);
    std::exit(77);
  }
  return prediction.quantiles.rows() == z.rows() ? seconds : std::nan("");
}

void time_job(const Job& job, std::size_t n, std::size_t m, std::size_t here) {
  Rng rng(Seed{1});
  const bool uniform = job.kernel == KernelKind::kNaive || job.kernel == KernelKind::kKnn;
  const Matrix x = draw(n, job.dims, uniform, rng);
  const Matrix z = draw(m, job.dims, uniform, rng);
  std::vector<double> u(n);
  for (double& value : u) value = rng.normal();
  SnqOptions options;
  options.kernel = job.kernel;
  options.bandwidth = job.bandwidth;
  const Snq snq(x, u, {}, options);
  std::vector<Level> levels;
  for (std::size_t j = 1; j <= job.levels; ++j) {
    levels.emplace_back(static_cast<double>(j) / static_cast<double>(job.levels + 1));
  }
  const MatrixView some = z.view().middle_rows(0, std::min(m, here));
  seconds_of(snq, some, levels, DeviceKind::kCpu);
  const double cpu = seconds_of(snq, some, levels, DeviceKind::kCpu) * static_cast<double>(m) /
                     static_cast<double>(some.rows());
  seconds_of(snq, some, levels, DeviceKind::kCuda);
  std::vector<double> gpu;
  for (int k = 0; k < 3; ++k) gpu.push_back(seconds_of(snq, z, levels, DeviceKind::kCuda));
  std::sort(gpu.begin(), gpu.end());
  fmt::print(
      "{{\"what\": \"{}\", \"n\": {}, \"m\": {}, \"d\": {}, \"h\": {:.4g}, \"levels\": {}, "
      "\"engine\": \"{}\", \"processor\": {:.3f}, "
      "\"gpu\": {:.3f}, \"ratio\": {:.1f}}}\n",
      job.name, n, m, job.dims, job.bandwidth, job.levels, snq.index(), cpu, gpu[1], cpu / gpu[1]);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == "sweep") {
    constexpr double kPairsHere = 2e10;  // of the processor, some seconds
    for (const std::size_t n :
         {1'000U, 3'000U, 10'000U, 30'000U, 100'000U, 300'000U, 1'000'000U, 3'000'000U}) {
      const auto here = static_cast<std::size_t>(kPairsHere / static_cast<double>(n));
      time_job({"gaussian", KernelKind::kGaussian, 4, 0.3, 99}, n, n, here);
    }
    return 0;
  }
  const auto argument = [&](int at, std::size_t otherwise) {
    return count > at ? std::strtoull(arguments[at], nullptr, 10) : otherwise;
  };
  const std::size_t n = argument(1, 1'000'000);
  const std::size_t m = argument(2, 1'000'000);
  const std::size_t here = argument(3, 50'000);
  for (const std::size_t d : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
    for (const double window : {500.0, 10'000.0}) {
      time_job({fmt::format("naive, about {:.0f} rows", window), KernelKind::kNaive, d,
                radius(static_cast<double>(d), window / static_cast<double>(n)), 9},
               n, m, here);
      time_job({"knn", KernelKind::kKnn, d, window, 9}, n, m, here / 4);
    }
  }
  if (count > 4) return 0;  // windows alone
  time_job({"gaussian", KernelKind::kGaussian, 4, 0.3, 99}, n, m, here / 20);
  time_job({"gaussian", KernelKind::kGaussian, 16, 1.0, 99}, n, m, here / 20);
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// SNQ on a device, from arrays of the host to arrays of the host: seconds, medians of five after
// one to warm up. One line of JSON for each measurement.
//
//   gpu_speed answers|dense|windows|knn|losses|huge|hugest|all [TIMES [FEATURES]]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "library.h"

namespace {

struct Data {
  std::size_t rows;
  std::size_t dims;
  std::vector<double> columns;
  std::vector<double> residuals;
  std::vector<double> queries;
};

Data draw(std::size_t rows, std::size_t queries, std::size_t dims, bool uniform = false) {
  Data data{rows, dims, {}, {}, {}};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> flat;
  const auto value = [&] { return uniform ? flat(random) : normal(random); };
  data.columns.resize(rows * dims);
  data.residuals.resize(rows);
  data.queries.resize(queries * dims);
  for (double& x : data.columns) x = value();
  for (double& x : data.queries) x = value();
  for (double& u : data.residuals) u = normal(random);
  std::sort(data.residuals.begin(), data.residuals.end());
  return data;
}

void must(int status, const TareCudaText& why) {
  if (status == kTareCudaDone) return;
  std::printf("the device failed: %s\n", why.text);
  std::exit(1);
}

template <class Work>
double median_seconds(int times, const Work& work) {
  if (times > 0) work();  // to warm up
  std::vector<double> seconds;
  for (int i = 0; i < std::max(1, times); ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

const TareCudaFunctions& cuda() {
  const char* const path = std::getenv("TARE_CUDA_LIBRARY");
  static const TareCudaFunctions& functions =
      load_cuda_library(path == nullptr ? "./libtare_cuda.so" : path);
  return functions;
}

TareCudaRows* upload(const Data& data) {
  const TareCudaSample sample{data.columns.data(), data.residuals.data(), nullptr, data.rows,
                              data.dims};
  TareCudaRows* rows = nullptr;
  TareCudaText why{};
  must(cuda().upload(0, &sample, &rows, &why), why);
  return rows;
}

std::size_t only_dims = 0;  // 0: all

void time_answers(std::size_t n, std::size_t m, std::size_t d, int kernel, double h,
                  const char* name, bool expected, bool nearest, int times) {
  if (only_dims != 0 && d != only_dims) return;
  const Data data = draw(n, m, d, kernel == kTareCudaNaive || kernel == kTareCudaKnn);
  std::vector<double> levels;
  for (int j = 1; j < 100; ++j) levels.push_back(0.01 * j);
  std::vector<double> quantiles(m * levels.size());
  std::vector<double> window_n(m);
  std::vector<double> distance(m);
  std::vector<std::uint8_t> quality(m);
  TareCudaQuestion question{};
  question.queries = data.queries.data();
  question.count = m;
  question.kernel = kernel;
  question.bandwidth = h;
  question.levels = levels.data();
  question.level_count = levels.size();
  question.tie_tolerance = 1e-9;
  question.ranks = {expected ? 1 : 0, 3, 3, 1e-12};
  question.nearest = nearest ? 1 : 0;
  const TareCudaAnswer answer{quantiles.data(), window_n.data(), distance.data(), quality.data()};
  TareCudaText why{};
  TareCudaRows* rows = nullptr;
  const double seconds = median_seconds(times, [&] {
    // Rows are copied each time, too.
    TareCudaRows* fresh = upload(data);
    if (rows == nullptr) rows = upload(data);
    cuda().release(fresh);
    must(cuda().answer(rows, &question, &answer, &why), why);
  });
  const double alone =
      median_seconds(times, [&] { must(cuda().answer(rows, &question, &answer, &why), why); });
  cuda().release(rows);
  double mean_size = 0.0;
  for (const double size : window_n) mean_size += size / static_cast<double>(m);
  const auto rest =
      static_cast<std::size_t>(std::count(quality.begin(), quality.end(), kTareCudaNotAnswered));
  std::printf(
      "{\"what\": \"%s\", \"n\": %zu, \"m\": %zu, \"d\": %zu, \"h\": %g, \"expected\": %d, "
      "\"nearest\": %d, "
      "\"seconds\": %.4f, \"rows_on_device\": %.4f, \"mean_window\": %.0f, \"not_answered\": "
      "%zu}\n",
      name, n, m, d, h, expected ? 1 : 0, nearest ? 1 : 0, seconds, alone, mean_size, rest);
  std::fflush(stdout);
}

void time_losses(std::size_t n, std::size_t d, int bandwidth_count, int times) {
  const Data data = draw(n, 1, d);
  TareCudaRows* rows = upload(data);
  std::vector<std::uint32_t> places(n);
  for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<std::uint32_t>(i);
  std::vector<double> bandwidths;
  for (int b = 0; b < bandwidth_count; ++b) bandwidths.push_back(0.02 * std::pow(1.2, b));
  std::vector<double> levels;
  for (int j = 0; j < 100; ++j) levels.push_back(0.01 + 0.98 * j / 99);
  std::vector<double> losses(n * bandwidths.size());
  TareCudaLosses asked{};
  asked.places = places.data();
  asked.count = n;
  asked.kernel = kTareCudaGaussian;
  asked.bandwidths = bandwidths.data();
  asked.bandwidth_count = bandwidths.size();
  asked.levels = levels.data();
  asked.level_count = levels.size();
  asked.tie_slack = 1e-12;
  asked.losses = losses.data();
  TareCudaText why{};
  const double seconds =
      median_seconds(times, [&] { must(cuda().losses(rows, &asked, &why), why); });
  cuda().release(rows);
  const auto rest =
      std::count_if(losses.begin(), losses.end(), [](double v) { return std::isnan(v); });
  std::printf(
      "{\"what\": \"losses\", \"n\": %zu, \"d\": %zu, \"bandwidths\": %d, \"seconds\": %.3f, "
      "\"not_answered\": %td}\n",
      n, d, bandwidth_count, seconds, rest);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "all";
  const int times = count > 2 ? std::atoi(arguments[2]) : 5;
  only_dims = count > 3 ? static_cast<std::size_t>(std::atoi(arguments[3])) : 0;
  TareCudaText why{};
  if (cuda().devices(&why) == 0) {
    std::printf("no device: %s\n", why.text);
    return 77;
  }
  constexpr std::size_t kMillion = 1'000'000;
  const bool all = what == "all";
  if (all || what == "answers" || what == "dense") {
    for (const bool more : {false, true}) {
      if (more && what == "dense") break;
      time_answers(kMillion, kMillion, 4, kTareCudaGaussian, 0.3, "gaussian", more, more, times);
      time_answers(kMillion, kMillion, 8, kTareCudaGaussian, 0.6, "gaussian", more, more, times);
      time_answers(kMillion, kMillion, 16, kTareCudaGaussian, 1.0, "gaussian", more, more, times);
      time_answers(100'000, kMillion, 32, kTareCudaGaussian, 2.0, "gaussian", more, more, times);
    }
    if (what != "dense")
      time_answers(kMillion, kMillion, 4, kTareCudaLaplace, 0.2, "laplace", false, false, times);
  }
  if (all || what == "windows") {
    // Uniform rows in a cube: the share of a ball of radius h, inside.
    const auto radius = [](double dims, double share) {
      const double ball = std::pow(3.14159265358979, dims / 2.0) / std::tgamma(dims / 2.0 + 1.0);
      return std::pow(share / ball, 1.0 / dims);
    };
    for (const std::size_t d : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
      for (const double window : {500.0, 10'000.0}) {
        time_answers(kMillion, kMillion, d, kTareCudaNaive,
                     radius(static_cast<double>(d), window / 1e6), "naive", false, false, times);
      }
    }
  }
  if (all || what == "knn") {
    for (const std::size_t d : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
      for (const double window : {500.0, 10'000.0}) {
        time_answers(kMillion, kMillion, d, kTareCudaKnn, window, "knn", false, false, times);
      }
    }
  }
  if (all || what == "losses") time_losses(kMillion, 4, 24, 1);
  // A part of 10^7 queries on 10^7 rows; the time of all is that of the part times their ratio.
  if (all || what == "huge") {
    time_answers(10 * kMillion, 262'144, 4, kTareCudaGaussian, 0.2, "huge", false, false, 1);
  }
  if (what == "hugest") {
    time_answers(10 * kMillion, 10 * kMillion, 4, kTareCudaGaussian, 0.2, "hugest", false, false,
                 0);
  }
  return 0;
}

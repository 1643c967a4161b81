// SPDX-License-Identifier: BSD-3-Clause
#include "peers/growth.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "base/fail.h"
#include "base/parallel.h"
#include "peers/clock.h"
#include "peers/data.h"
#include "tare/calibrate/snq.h"

namespace tare::peers {
namespace {

constexpr std::size_t kNeighbours = 500;
constexpr std::size_t kQueries = 20'000;
constexpr std::size_t kMostRows = 10'000'000;

constexpr int kRuns = 3;  // of which the best counts

double microseconds(const Snq& snq, const Data& data, std::size_t threads, Prediction& out) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const Clock clock;
    out = snq.predict(data.queries, percent_levels(),
                      {.threads = threads, .diagnostics = false, .progress = {}});
    least = std::min(least, clock.seconds());
  }
  return 1e6 * least / static_cast<double>(data.queries.rows());
}

nlohmann::json growth_line(const std::string& name, std::size_t rows, std::size_t dims,
                           const Settings& settings) {
  const std::size_t queries = settings.queries > 0 ? settings.queries : kQueries;
  const Data data = draw_data(rows, dims, queries, Seed{2});
  const double radius = radius_for(data, kNeighbours);
  const Clock build;
  const Snq snq(data.z, data.u, {}, {.kernel = KernelKind::kNaive, .bandwidth = radius});
  const double build_seconds = build.seconds();
  Prediction one;
  Prediction two;
  const double with_one = microseconds(snq, data, 1, one);
  const double with_two = microseconds(snq, data, 2, two);
  if (!std::ranges::equal(one.quantiles.values(), two.quantiles.values())) {
    fail(ErrorCode::kBadData, "one and two threads give different quantiles");
  }
  return {{"workload", name},
          {"rows", rows},
          {"dims", dims},
          {"queries", queries},
          {"build_seconds", build_seconds},
          {"microseconds_1_thread", with_one},
          {"microseconds_2_threads", with_two}};
}

/// From /proc and not by getrusage, whose peak is also that of the program that started this one.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kibibytes = 0.0;
  while (status >> word) {
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes / 1024.0;
  }
  return 0.0;
}

}  // namespace

std::vector<nlohmann::json> growth_in_rows(const Settings& settings) {
  std::vector<nlohmann::json> lines;
  const std::size_t most = settings.rows > 0 ? settings.rows : kMostRows;
  for (std::size_t rows = 10'000; rows <= most; rows *= 10)
    lines.push_back(growth_line("growth_n", rows, 4, settings));
  return lines;
}

std::vector<nlohmann::json> growth_in_features(const Settings& settings) {
  std::vector<nlohmann::json> lines;
  const std::size_t rows = settings.rows > 0 ? settings.rows : 100'000;
  for (std::size_t dims = 1; dims <= 64; dims *= 2)
    lines.push_back(growth_line("growth_d", rows, dims, settings));
  return lines;
}

nlohmann::json whole_job(const Settings& settings) {
  const std::size_t rows = settings.rows > 0 ? settings.rows : 1'000'000;
  const std::size_t queries = settings.queries > 0 ? settings.queries : 1'000'000;
  const Data data = draw_data(rows, 4, queries, Seed{3});
  const double radius = radius_for(data, kNeighbours);
  const double before = peak_megabytes();
  const Execution how = {.threads = 0, .diagnostics = false, .progress = {}};
  const Clock clock;
  const Snq snq(data.z, data.u, {}, {.kernel = KernelKind::kNaive, .bandwidth = radius});
  const double build_seconds = clock.seconds();
  const Prediction answer = snq.predict(data.queries, percent_levels(), how);
  const double seconds = clock.seconds();
  return {{"workload", "whole"},
          {"rows", rows},
          {"dims", 4},
          {"queries", queries},
          {"threads", thread_count(how)},
          {"build_seconds", build_seconds},
          {"seconds", seconds},
          {"peak_megabytes", peak_megabytes()},
          {"megabytes_before", before},
          {"answer_megabytes",
           static_cast<double>(answer.quantiles.values().size_bytes()) / (1024.0 * 1024.0)}};
}

}  // namespace tare::peers

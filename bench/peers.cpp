// SPDX-License-Identifier: BSD-3-Clause
// Times tare against what one would use without it, on the same data in the same run, and prints a
// line of JSON for each measurement. Ends with 1 where the answers differ. peers.py runs all
// workloads and prints tables.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <iostream>
#include <vector>

#include "base/fail.h"
#include "peers/bandwidth_choice.h"
#include "peers/comparison.h"
#include "peers/growth.h"

namespace tare::peers {
namespace {

constexpr std::size_t kMillion = 1'000'000;
constexpr std::size_t kQueries = 100'000;

using Lines = std::vector<nlohmann::json>;

struct Workload {
  std::string name;
  std::function<Lines(const Settings&)> run;
};

std::vector<Workload> all_workloads() {
  using enum PeerKind;
  const std::vector<Comparison> comparisons = {
      {"ball_d2_500", kMillion, 2, 500, kQueries, kNanoflann},
      {"ball_d2_10000", kMillion, 2, 10'000, kQueries, kNanoflann},
      {"ball_d4_500", kMillion, 4, 500, kQueries, kNanoflann},
      {"ball_d4_5000", kMillion, 4, 5'000, kQueries, kNanoflann},
      {"ball_d8_250", kMillion, 8, 250, kQueries, kNanoflann},
      {"line", kMillion, 1, 10'000, kQueries, kSortedLine},
      {"python_ball_d8_500", 100'000, 8, 500, 10'000, kOtherProgram},
      {"python_gaussian_d30", 100'000, 30, 0, 10'000, kOtherProgram, KernelKind::kGaussian},
      {"python_triangle_d8", 10'000, 8, 0, 1'000, kOtherProgram, KernelKind::kGaussian, true},
  };
  std::vector<Workload> all;
  for (const Comparison& what : comparisons) {
    all.push_back({what.name, [what](const Settings& settings) -> Lines {
                     return {compare(what, settings)};
                   }});
  }
  all.push_back({"fit_auto", [](const Settings& settings) -> Lines {
                   return {compare_bandwidth_choice(settings)};
                 }});
  all.push_back({"growth_n", growth_in_rows});
  all.push_back({"growth_d", growth_in_features});
  all.push_back({"whole", [](const Settings& settings) -> Lines { return {whole_job(settings)}; }});
  return all;
}

void run_workload(const std::string& name, const Settings& settings) {
  for (const Workload& workload : all_workloads()) {
    if (workload.name != name) continue;
    for (const nlohmann::json& line : workload.run(settings)) std::cout << line.dump() << std::endl;
    return;
  }
  fail(ErrorCode::kNotFound, "no workload is called {}; --list shows all", name);
}

}  // namespace
}  // namespace tare::peers

int main(int argc, char** argv) {
  CLI::App app("tare against its peers: a line of JSON per measurement");
  tare::peers::Settings settings;
  std::vector<std::string> names;
  bool list = false;
  bool cpu_time = false;
  app.add_flag("--list", list, "the names of the workloads");
  app.add_option("--workload", names, "which to run (several: one after the other)");
  app.add_option("--rows", settings.rows, "calibration rows, instead of the workload's own number");
  app.add_option("--queries", settings.queries, "queries, instead of the workload's own number");
  app.add_option("--threads", settings.threads, "of tare in a comparison; the peer has one");
  app.add_option("--leaf", settings.leaf_rows, "rows in a leaf of nanoflann's tree")
      ->check(CLI::PositiveNumber);
  app.add_option("--peer-seconds", settings.peer_seconds, "for how long the peer runs at least");
  app.add_flag("--cpu-time", cpu_time, "processor time in comparisons, for a busy machine");
  app.add_option("--dump", settings.folder, "write data and answers into this folder");
  CLI11_PARSE(app, argc, argv);
  if (cpu_time) settings.time = tare::peers::TimeKind::kProcessor;
  try {
    if (list) {
      for (const auto& workload : tare::peers::all_workloads()) std::cout << workload.name << "\n";
    }
    for (const std::string& name : names) tare::peers::run_workload(name, settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers: %s\n", error.what());
    return 1;
  }
  return 0;
}

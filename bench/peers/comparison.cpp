// SPDX-License-Identifier: BSD-3-Clause
#include "peers/comparison.h"

#include <cmath>
#include <numeric>

#include "base/fail.h"
#include "peers/data.h"
#include "peers/windows.h"
#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/snq.h"

namespace tare::peers {
namespace {

constexpr std::size_t kLeastPeerQueries = 2'000;
constexpr double kUniformDeviation = 0.28867513459481287;  // sqrt(1/12), of one feature

double bandwidth_of(const Comparison& what, const Data& data) {
  if (what.neighbours > 0) return radius_for(data, what.neighbours);
  return kUniformDeviation * rate_bandwidth(what.kernel, data.z.rows(), data.z.cols(), 0.0);
}

struct PeerRun {
  double build_seconds = 0.0;
  double seconds = 0.0;
  std::size_t queries = 0;
};

WindowSearch build_peer(PeerKind kind, const Data& data, const Settings& settings) {
  return kind == PeerKind::kSortedLine ? sorted_line_windows(data)
                                       : nanoflann_windows(data, settings.leaf_rows);
}

/// Tare falls back where a window is empty, and the peer has nothing to say.
void check_equal(const Prediction& tare, std::size_t i, std::span<const double> peer,
                 bool peer_empty) {
  if (peer_empty != (tare.fallback[i] != 0)) {
    fail(ErrorCode::kBadData, "query {}: the peer's window has {} rows", i, peer_empty ? "no" : "");
  }
  if (peer_empty) return;
  for (std::size_t j = 0; j < peer.size(); ++j) {
    if (peer[j] != tare.quantiles(i, j)) {
      fail(ErrorCode::kBadData, "query {}, level {}: tare says {}, the peer {}", i, j,
           tare.quantiles(i, j), peer[j]);
    }
  }
}

/// The first queries, at least kLeastPeerQueries and then for as long as there is time.
PeerRun run_peer(PeerKind kind, const Data& data, double radius, const Prediction& tare,
                 const Settings& settings) {
  PeerRun run;
  const Clock build(settings.time);
  const WindowSearch search = build_peer(kind, data, settings);
  run.build_seconds = build.seconds();

  const Pick pick = kind == PeerKind::kSortedLine ? pick_by_nth_element : pick_by_sorting;
  const std::vector<Level> levels = percent_levels();
  const std::size_t block = 100;  // the check of the answers stays out of the time
  Matrix answers(block, levels.size());
  std::vector<bool> empty(block);
  std::vector<double> residuals;
  while (run.queries < data.queries.rows() &&
         (run.queries < kLeastPeerQueries || run.seconds < settings.peer_seconds)) {
    const std::size_t count = std::min(block, data.queries.rows() - run.queries);
    const Clock clock(settings.time);
    for (std::size_t i = 0; i < count; ++i) {
      search(data.queries.row(run.queries + i), radius, residuals);
      empty[i] = residuals.empty();
      if (!empty[i]) pick(residuals, levels, answers.row(i));
    }
    run.seconds += clock.seconds();
    for (std::size_t i = 0; i < count; ++i)
      check_equal(tare, run.queries + i, answers.row(i), empty[i]);
    run.queries += count;
  }
  return run;
}

void write_for_others(const std::string& folder, const Data& data, std::span<const Level> levels,
                      const Prediction& tare) {
  std::vector<double> values;
  for (const Level& level : levels) values.push_back(level.value());
  write_raw(folder + "/levels.f64", values);
  write_raw(folder + "/z.f64", data.z.values());
  write_raw(folder + "/u.f64", data.u);
  write_raw(folder + "/queries.f64", data.queries.values());
  write_raw(folder + "/answers.f64", tare.quantiles.values());
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string_view peer_name(PeerKind kind) {
  return kind == PeerKind::kNanoflann ? "nanoflann + sort" : "sorted line + nth_element";
}

}  // namespace

std::vector<Level> percent_levels() {
  std::vector<Level> levels;
  for (int percent = 1; percent < 100; ++percent) levels.emplace_back(percent / 100.0);
  return levels;
}

nlohmann::json compare(const Comparison& what, const Settings& settings) {
  const std::size_t rows = settings.rows > 0 ? settings.rows : what.rows;
  const std::size_t queries = settings.queries > 0 ? settings.queries : what.queries;
  const Data data = draw_data(rows, what.dims, queries, Seed{1});
  const double bandwidth = bandwidth_of(what, data);
  const std::vector<Level> levels = what.paper_levels ? metric_levels() : percent_levels();
  const Execution how = {.threads = settings.threads, .diagnostics = false, .progress = {}};

  const Clock build(settings.time);
  const Snq snq(data.z, data.u, {}, {.kernel = what.kernel, .bandwidth = bandwidth});
  const double build_seconds = build.seconds();
  const Clock predict(settings.time);
  const Prediction tare = snq.predict(data.queries, levels, how);
  const double seconds = predict.seconds();

  const double microseconds = 1e6 * seconds / static_cast<double>(queries);
  nlohmann::json line = {
      {"workload", what.name},
      {"rows", rows},
      {"dims", what.dims},
      {"kernel", kernel_name(what.kernel)},
      {"bandwidth", bandwidth},
      {"neighbours", mean(tare.effective_n)},
      {"threads", settings.threads},
      {"tare",
       {{"build_seconds", build_seconds}, {"microseconds", microseconds}, {"queries", queries}}}};
  if (!settings.folder.empty()) write_for_others(settings.folder, data, levels, tare);
  if (what.peer == PeerKind::kOtherProgram) return line;
  const PeerRun peer = run_peer(what.peer, data, bandwidth, tare, settings);
  line["peer"] = {{"name", peer_name(what.peer)},
                  {"build_seconds", peer.build_seconds},
                  {"microseconds", 1e6 * peer.seconds / static_cast<double>(peer.queries)},
                  {"queries", peer.queries},
                  {"check", "equal"}};
  return line;
}

}  // namespace tare::peers

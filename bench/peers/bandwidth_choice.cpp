// SPDX-License-Identifier: BSD-3-Clause
#include "peers/bandwidth_choice.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "peers/data.h"
#include "peers/windows.h"
#include "tare/calibrate/bandwidth.h"

namespace tare::peers {
namespace {

constexpr std::size_t kRows = 100'000;
constexpr std::size_t kDims = 4;
constexpr std::size_t kLeastSweepRows = 20;
constexpr std::size_t kCheckRows = 400;  // for the loss at the chosen bandwidth
constexpr double kStandardErrors = 6.0;  // that the two losses may lie apart

/// Losses of some left-out rows at one bandwidth; rows without a neighbour have none.
struct Sweep {
  double seconds = 0.0;
  std::size_t rows = 0;
  std::size_t answered = 0;
  double sum = 0.0;
  double squares = 0.0;

  double mean() const { return sum / static_cast<double>(answered); }
  double standard_error() const {
    const auto count = static_cast<double>(answered);
    return std::sqrt(std::max(0.0, squares / count - mean() * mean()) / (count - 1.0));
  }
};

double pinball(double u, std::span<const Level> levels, std::span<const double> quantiles) {
  double loss = 0.0;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double error = u - quantiles[j];
    loss += std::max(levels[j].value() * error, (levels[j].value() - 1.0) * error);
  }
  return loss / static_cast<double>(levels.size());
}

Sweep sweep(const WindowSearch& search, const Data& data, double bandwidth,
            std::span<const std::size_t> rows, std::size_t least, double limit_seconds,
            TimeKind time) {
  const std::vector<Level> levels = metric_levels();
  std::vector<double> quantiles(levels.size());
  std::vector<double> residuals;
  Sweep result;
  const Clock clock(time);
  for (const std::size_t row : rows) {
    if (result.rows >= least && clock.seconds() >= limit_seconds) break;
    ++result.rows;
    search(data.z.row(row), bandwidth, residuals);
    // Itself is always there; residuals are distinct, so its own is found by value.
    residuals.erase(std::find(residuals.begin(), residuals.end(), data.u[row]));
    if (residuals.empty()) continue;
    pick_by_sorting(residuals, levels, quantiles);
    const double loss = pinball(data.u[row], levels, quantiles);
    ++result.answered;
    result.sum += loss;
    result.squares += loss * loss;
  }
  result.seconds = clock.seconds();
  return result;
}

double loss_at(const BandwidthChoice& choice) {
  for (const BandwidthTrial& trial : choice.path) {
    if (trial.bandwidth == choice.bandwidth) return trial.loss;
  }
  fail(ErrorCode::kBadData, "the chosen bandwidth is not on its path");
}

void check_loss(double tare, const Sweep& peer) {
  if (peer.answered >= 2 && std::abs(tare - peer.mean()) < kStandardErrors * peer.standard_error())
    return;
  fail(ErrorCode::kBadData, "leave-one-out loss: tare {}, the peer {} from {} rows", tare,
       peer.mean(), peer.answered);
}

}  // namespace

nlohmann::json compare_bandwidth_choice(const Settings& settings) {
  const std::size_t rows = settings.rows > 0 ? settings.rows : kRows;
  const Data data = draw_data(rows, kDims, 1, Seed{4});
  const Execution how = {.threads = settings.threads, .diagnostics = false, .progress = {}};
  SnqOptions options;
  options.kernel = KernelKind::kNaive;
  const Clock clock(settings.time);
  const BandwidthChoice choice = choose_bandwidth(data.z, data.u, {}, options, Seed{4}, how);
  const double tare_seconds = clock.seconds();

  const Clock build(settings.time);
  const WindowSearch search = nanoflann_windows(data, settings.leaf_rows);
  const double build_seconds = build.seconds();
  Rng rng(Seed{5});
  const auto order = random_permutation(rows, rng);
  double peer_seconds = build_seconds;
  std::size_t timed_rows = 0;
  for (const BandwidthTrial& trial : choice.path) {
    const Sweep timed =
        sweep(search, data, trial.bandwidth, order, kLeastSweepRows,
              settings.peer_seconds / static_cast<double>(choice.path.size()), settings.time);
    timed_rows += timed.rows;
    peer_seconds +=
        timed.seconds * static_cast<double>(choice.rows_left_out) / static_cast<double>(timed.rows);
  }
  const Sweep checked =
      sweep(search, data, choice.bandwidth, order, kCheckRows, 0.0, settings.time);
  check_loss(loss_at(choice), checked);
  return {{"workload", "fit_auto"},
          {"rows", rows},
          {"dims", kDims},
          {"kernel", "naive"},
          {"bandwidths", choice.path.size()},
          {"bandwidth", choice.bandwidth},
          {"rows_left_out", choice.rows_left_out},
          {"tare_seconds", tare_seconds},
          {"peer_seconds", peer_seconds},
          {"peer_rows_timed", timed_rows},
          {"tare_loss", loss_at(choice)},
          {"peer_loss", checked.mean()},
          {"peer_loss_error", checked.standard_error()}};
}

}  // namespace tare::peers

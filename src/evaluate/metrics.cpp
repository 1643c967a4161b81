// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/metrics.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "evaluate/checks.h"
#include "evaluate/groups.h"
#include "math/compensated_sum.h"
#include "math/pinball.h"

namespace tare {
namespace {

constexpr std::size_t kCrpsSteps = 200;

/// Row by row, which share of it is below each quantile.
class Shares {
 public:
  /// With ties split; with `jumps` empty they count as below.
  Shares(std::span<const double> y, MatrixView q, std::span<const Level> levels,
         std::span<const TargetJump> jumps)
      : y_(y), q_(q), levels_(levels), jumps_(jumps) {}

  void add_row(std::size_t i, std::span<double> sums) const {
    const auto q = q_.row(i);
    // Ties are rare in most data: without one the loop is the plain count.
    if (jumps_.empty() || jumps_[i].empty()) {
      for (std::size_t j = 0; j < q.size(); ++j) sums[j] += y_[i] <= q[j] ? 1.0 : 0.0;
      return;
    }
    for (std::size_t j = 0; j < q.size(); ++j) {
      sums[j] += share_below(y_[i], q[j], levels_[j].value(), jumps_[i]);
    }
  }
  std::vector<double> sums() const {
    std::vector<double> sums(q_.cols(), 0.0);
    for (std::size_t i = 0; i < y_.size(); ++i) add_row(i, sums);
    return sums;
  }

 private:
  std::span<const double> y_;
  MatrixView q_;
  std::span<const Level> levels_;
  std::span<const TargetJump> jumps_;
};

double mean_gap(std::span<const double> sums, std::size_t rows, std::span<const Level> levels) {
  CompensatedSum sum;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    sum.add(std::fabs(levels[j].value() - sums[j] / static_cast<double>(rows)));
  }
  return sum.value() / static_cast<double>(levels.size());
}

double worst_gap(const Shares& shares, std::size_t rows, std::span<const Level> levels, Seed seed) {
  std::vector<double> sums(levels.size());
  return worst_group(rows, seed, [&](std::span<const std::size_t> group) {
    std::ranges::fill(sums, 0.0);
    for (const std::size_t i : group) shares.add_row(i, sums);
    return mean_gap(sums, group.size(), levels);
  });
}

std::vector<double> means_of(std::vector<double> sums, std::size_t rows) {
  for (double& sum : sums) sum /= static_cast<double>(rows);
  return sums;
}

double mean_pinball(std::span<const double> y, MatrixView q, std::span<const Level> levels) {
  CompensatedSum sum;
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      sum.add(pinball(y[i], q(i, j), levels[j].value()));
    }
  }
  return sum.value() / (static_cast<double>(y.size()) * static_cast<double>(levels.size()));
}

}  // namespace

double pinball(double y, double q, double tau) { return pinball_of_error(y - q, tau); }

std::vector<double> observed_levels(std::span<const double> y, MatrixView q,
                                    std::span<const Level> levels) {
  return observed_levels(y, q, levels, target_jumps(y, q, levels));
}

std::vector<double> observed_levels(std::span<const double> y, MatrixView q,
                                    std::span<const Level> levels,
                                    std::span<const TargetJump> jumps) {
  check_rows("observed_levels", y, q);
  check_levels("observed_levels", q, levels);
  check_jumps("observed_levels", y, jumps);

  return means_of(Shares(y, q, levels, jumps).sums(), y.size());
}

std::vector<double> observed_levels_counted(std::span<const double> y, MatrixView q) {
  check_rows("observed_levels_counted", y, q);

  return means_of(Shares(y, q, {}, {}).sums(), y.size());
}

double mace(std::span<const double> y, MatrixView q, std::span<const Level> levels) {
  return mace(y, q, levels, target_jumps(y, q, levels));
}

double mace(std::span<const double> y, MatrixView q, std::span<const Level> levels,
            std::span<const TargetJump> jumps) {
  check_rows("mace", y, q);
  check_levels("mace", q, levels);
  check_jumps("mace", y, jumps);

  return mean_gap(Shares(y, q, levels, jumps).sums(), y.size(), levels);
}

double mace_counted(std::span<const double> y, MatrixView q, std::span<const Level> levels) {
  check_rows("mace_counted", y, q);
  check_levels("mace_counted", q, levels);

  return mean_gap(Shares(y, q, levels, {}).sums(), y.size(), levels);
}

double agce(std::span<const double> y, MatrixView q, std::span<const Level> levels, Seed seed) {
  return agce(y, q, levels, seed, target_jumps(y, q, levels));
}

double agce(std::span<const double> y, MatrixView q, std::span<const Level> levels, Seed seed,
            std::span<const TargetJump> jumps) {
  check_rows("agce", y, q);
  check_levels("agce", q, levels);
  check_jumps("agce", y, jumps);

  return worst_gap(Shares(y, q, levels, jumps), y.size(), levels, seed);
}

double agce_counted(std::span<const double> y, MatrixView q, std::span<const Level> levels,
                    Seed seed) {
  check_rows("agce_counted", y, q);
  check_levels("agce_counted", q, levels);

  return worst_gap(Shares(y, q, levels, {}), y.size(), levels, seed);
}

double check_score(std::span<const double> y, MatrixView q, std::span<const Level> levels) {
  check_rows("check_score", y, q);
  check_levels("check_score", q, levels);

  return mean_pinball(y, q, levels);
}

std::vector<Level> crps_levels() {
  std::vector<Level> levels;
  levels.reserve(kCrpsSteps);
  for (std::size_t j = 0; j < kCrpsSteps; ++j) {
    levels.emplace_back((static_cast<double>(j) + 0.5) / static_cast<double>(kCrpsSteps));
  }
  return levels;
}

double crps(std::span<const double> y, MatrixView q) {
  if (q.cols() != kCrpsSteps) {
    fail(ErrorCode::kShapeMismatch, "crps: {} columns of quantiles, but crps_levels() has {}",
         q.cols(), kCrpsSteps);
  }
  check_rows("crps", y, q);

  return 2.0 * mean_pinball(y, q, crps_levels());
}

}  // namespace tare

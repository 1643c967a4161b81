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

double interval_length(std::span<const double> lower, std::span<const double> upper) {
  check_interval("interval_length", lower, upper);

  CompensatedSum sum;
  for (std::size_t i = 0; i < lower.size(); ++i) sum.add(upper[i] - lower[i]);
  return sum.value() / static_cast<double>(lower.size());
}

double interval_coverage(std::span<const double> y, std::span<const double> lower,
                         std::span<const double> upper) {
  check_interval("interval_coverage", lower, upper);
  check_targets("interval_coverage", y, lower.size());

  std::size_t inside = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    inside += lower[i] <= y[i] && y[i] <= upper[i] ? 1u : 0u;
  return static_cast<double>(inside) / static_cast<double>(y.size());
}

double split_coverage(std::span<const double> y, std::span<const double> lower,
                      std::span<const double> upper, const Level& lower_level,
                      const Level& upper_level, std::span<const TargetJump> jumps) {
  check_interval("split_coverage", lower, upper);
  check_targets("split_coverage", y, lower.size());
  check_jumps("split_coverage", y, jumps);

  CompensatedSum inside;
  for (std::size_t i = 0; i < y.size(); ++i) {
    inside.add(
        share_inside(y[i], lower[i], upper[i], lower_level.value(), upper_level.value(), jumps[i]));
  }
  return inside.value() / static_cast<double>(y.size());
}

double winkler_score(std::span<const double> y, std::span<const double> lower,
                     std::span<const double> upper, double confidence) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    fail(ErrorCode::kInvalidArgument,
         "winkler_score: an interval's confidence must lie strictly between 0 and 1, got {}",
         confidence);
  }
  check_interval("winkler_score", lower, upper);
  check_targets("winkler_score", y, lower.size());

  const double price = 2.0 / (1.0 - confidence);
  CompensatedSum sum;
  for (std::size_t i = 0; i < y.size(); ++i) {
    sum.add(upper[i] - lower[i]);
    // Both can hold at once where the ends have crossed; each is then paid for.
    if (y[i] < lower[i]) sum.add(price * (lower[i] - y[i]));
    if (y[i] > upper[i]) sum.add(price * (y[i] - upper[i]));
  }
  return sum.value() / static_cast<double>(y.size());
}

namespace {

std::vector<double> shares_of(const std::vector<CompensatedSum>& mass, std::size_t rows) {
  std::vector<double> shares;
  shares.reserve(mass.size());
  for (const CompensatedSum& m : mass) shares.push_back(m.value() / static_cast<double>(rows));
  return shares;
}

}  // namespace

std::vector<double> pit_histogram(std::span<const double> y, MatrixView q) {
  check_rows("pit_histogram", y, q);

  std::vector<CompensatedSum> mass(q.cols() + 1);
  for (std::size_t i = 0; i < y.size(); ++i) {
    // Counting instead of searching: it does not mind a row whose quantiles cross.
    std::size_t below = 0;
    std::size_t ties = 0;
    for (const double value : q.row(i)) {
      below += value < y[i] ? 1u : 0u;
      ties += value == y[i] ? 1u : 0u;
    }
    if (ties == 0) {
      mass[below].add(1.0);
      continue;
    }
    // Bin b lies between quantiles b - 1 and b. A mass takes up the bins between equal quantiles,
    // and of those next to them a half on average; at an end of the law most likely the whole.
    const std::size_t last = below + ties;
    const double first_part = below == 0 && ties > 1 ? 1.0 : 0.5;
    const double last_part = last == q.cols() && ties > 1 ? 1.0 : 0.5;
    const double whole = first_part + static_cast<double>(ties - 1) + last_part;
    for (std::size_t b = below; b <= last; ++b) {
      const double part = b == below ? first_part : b == last ? last_part : 1.0;
      mass[b].add(part / whole);
    }
  }
  return shares_of(mass, y.size());
}

std::vector<double> pit_histogram(std::span<const double> y, MatrixView q,
                                  std::span<const Level> edges, std::span<const TargetJump> jumps) {
  check_rows("pit_histogram", y, q);
  check_levels("pit_histogram", q, edges);
  check_jumps("pit_histogram", y, jumps);

  std::vector<CompensatedSum> mass(q.cols() + 1);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto row = q.row(i);
    if (jumps[i].empty() || std::ranges::find(row, y[i]) == row.end()) {
      const auto below = std::ranges::count_if(row, [&](double value) { return value < y[i]; });
      mass[static_cast<std::size_t>(below)].add(1.0);
      continue;
    }
    double before = 0.0;
    for (std::size_t b = 0; b < mass.size(); ++b) {
      const double up_to = b < edges.size() ? jumps[i].share(edges[b].value()) : 1.0;
      if (up_to > before) mass[b].add(up_to - before);
      before = std::max(before, up_to);
    }
  }
  return shares_of(mass, y.size());
}

namespace {

void check_known_law(const char* where, const Problem& problem, MatrixView x, MatrixView q) {
  if (x.rows() != q.rows()) {
    fail(ErrorCode::kShapeMismatch, "{}: {} rows of features but {} rows of quantiles", where,
         x.rows(), q.rows());
  }
  if (x.cols() != problem.dims) {
    fail(ErrorCode::kShapeMismatch, "{}: {} features, but problem '{}' has {}", where, x.cols(),
         problem.name, problem.dims);
  }
  if (x.rows() == 0) fail(ErrorCode::kInvalidArgument, "{}: no rows to evaluate", where);
  check_not_nan(where, q);
}

// How far tau is from the levels that q has under the law: one level where the law is continuous,
// and all levels of the jump where it has one, since q is then the quantile of each of them.
double level_miss(const Law& law, double q, double tau) {
  const double high = law.cdf(q);
  if (tau > high) return tau - high;
  const double low = law.cdf_below(q);
  return tau < low ? low - tau : 0.0;
}

// The quantiles of a shape before it is moved and stretched, kept until the shape changes: most
// problems have one shape, and a quantile may take an iteration to find.
class StandardQuantiles {
 public:
  explicit StandardQuantiles(std::span<const Level> levels) : levels_(levels) {}

  std::span<const double> of(LawShape shape) {
    if (shape_ == shape && !values_.empty()) return values_;
    values_.clear();
    const Law standard{shape, 0.0, 1.0};
    for (const Level& level : levels_) values_.push_back(standard.quantile(level.value()));
    shape_ = shape;
    return values_;
  }

 private:
  std::span<const Level> levels_;
  LawShape shape_ = LawShape::kNormal;
  std::vector<double> values_;
};

}  // namespace

double individual_calibration_error(const Problem& problem, MatrixView x, MatrixView q,
                                    std::span<const Level> levels) {
  check_known_law("individual_calibration_error", problem, x, q);
  check_levels("individual_calibration_error", q, levels);

  CompensatedSum sum;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const Law law = problem.law(x.row(i));
    for (std::size_t j = 0; j < levels.size(); ++j) {
      sum.add(level_miss(law, q(i, j), levels[j].value()));
    }
  }
  return sum.value() / (static_cast<double>(x.rows()) * static_cast<double>(levels.size()));
}

double quantile_rmse(const Problem& problem, MatrixView x, MatrixView q,
                     std::span<const Level> levels) {
  check_known_law("quantile_rmse", problem, x, q);
  check_levels("quantile_rmse", q, levels);

  StandardQuantiles standard(levels);
  CompensatedSum sum;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const Law law = problem.law(x.row(i));
    const std::span<const double> z = standard.of(law.shape);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double truth =
          law.at_zero > 0.0 ? law.quantile(levels[j].value()) : law.location + law.scale * z[j];
      const double miss = q(i, j) - truth;
      sum.add(miss * miss);
    }
  }
  return std::sqrt(sum.value() /
                   (static_cast<double>(x.rows()) * static_cast<double>(levels.size())));
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "model/kernel_quantile/kernel_quantile.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "math/compensated_sum.h"
#include "math/weighted_quantile.h"
#include "model/kernel_quantile/pair_scans.h"

namespace tare {
namespace {

constexpr double kLeastLoss = 1e-6;  // of a row, in the unit of y: gaps below are not pursued

class PairAscent {
 public:
  PairAscent(const KernelQuantileTask& task, std::span<const double> start)
      : task_(task), rest_(task.y.begin(), task.y.end()), a_(task.y.size(), 0.0) {
    const double tau = task.tau.value();
    for (const double cost : task.cost) {
      low_.push_back(cost * (tau - 1.0));
      high_.push_back(cost * tau);
    }
    for (std::size_t i = 0; i < a_.size(); ++i) diagonal_.push_back(task.kernel(i, i));
    if (!start.empty()) begin_at(start);
    refresh();
  }

  /// False where no pair is left to improve.
  bool step() {
    const std::size_t none = a_.size();
    const std::size_t up = largest_with_room(rest_, a_, high_);
    if (up == none) return false;
    const std::span<const double> row = task_.kernel.row(up);
    const std::size_t down = steepest_partner(up, rest_, a_, low_, diagonal_, row);
    if (down == none) return false;
    move(up, down, row);
    return true;
  }

  /// Both values, from sums that are taken anew.
  KernelQuantileFit evaluate() const {
    const double tau = task_.tau.value();
    KernelQuantileFit fit{.a = a_};
    fit.b =
        weighted_quantile(rest_, equal_costs_ ? std::span<const double>() : task_.cost, task_.tau);
    CompensatedSum loss, norm, linear;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const double residual = rest_[i] - fit.b;
      loss.add(task_.cost[i] * residual * (residual < 0.0 ? tau - 1.0 : tau));
      norm.add(a_[i] * (task_.y[i] - rest_[i]));
      linear.add(a_[i] * task_.y[i]);
    }
    fit.primal = loss.value() + 0.5 * norm.value();
    fit.dual = linear.value() - 0.5 * norm.value();
    return fit;
  }

  /// Recomputes y - g, from which rounding is removed.
  void refresh() {
    equal_costs_ = std::ranges::min(task_.cost) == std::ranges::max(task_.cost);
    for (std::size_t i = 0; i < a_.size(); ++i) {
      rest_[i] = task_.y[i] - sum_of_products(task_.kernel.row(i), a_);
    }
  }

 private:
  double curvature(std::size_t i, std::size_t j, std::span<const double> row) const {
    return std::max(diagonal_[i] + diagonal_[j] - 2.0 * row[j], kLeastCurvature);
  }

  void move(std::size_t up, std::size_t down, std::span<const double> row) {
    const double room_up = high_[up] - a_[up];
    const double room_down = a_[down] - low_[down];
    const double wanted = (rest_[up] - rest_[down]) / curvature(up, down, row);
    const double by = std::min({wanted, room_up, room_down});
    a_[up] = by == room_up ? high_[up] : a_[up] + by;
    a_[down] = by == room_down ? low_[down] : a_[down] - by;
    subtract_difference(rest_, by, row, task_.kernel.row(down));
  }

  /// The nearest point of the box, moved until its sum is 0: what is too much is taken from the
  /// elements in turn.
  void begin_at(std::span<const double> start) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      a_[i] = std::clamp(start[i], low_[i], high_[i]);
      sum += a_[i];
    }
    for (std::size_t i = 0; i < a_.size() && sum != 0.0; ++i) {
      const double before = a_[i];
      a_[i] = std::clamp(before - sum, low_[i], high_[i]);
      sum -= before - a_[i];
    }
  }

  const KernelQuantileTask& task_;
  std::vector<double> rest_;  // y - g
  std::vector<double> a_, low_, high_;
  std::vector<double> diagonal_;  // of the kernel, side by side
  bool equal_costs_ = false;
};

}  // namespace

KernelQuantileFit fit_kernel_quantile(const KernelQuantileTask& task,
                                      const KernelQuantileOptions& options,
                                      std::span<const double> start) {
  const std::size_t rows = task.y.size();
  assert(rows > 0 && task.kernel.rows() == rows && task.cost.size() == rows);
  const double negligible = kLeastLoss * std::accumulate(task.cost.begin(), task.cost.end(), 0.0);
  PairAscent ascent(task, start);
  KernelQuantileFit fit = ascent.evaluate();
  for (std::size_t pass = 1; pass <= options.most_passes; ++pass) {
    if (fit.primal - fit.dual <= options.gap * std::abs(fit.primal) + negligible) break;
    if (options.stop) options.stop();
    bool moved = true;
    for (std::size_t k = 0; k < rows && moved; ++k) moved = ascent.step();
    ascent.refresh();
    fit = ascent.evaluate();
    fit.passes = pass;
    if (!moved) break;
  }
  return fit;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/tune.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/strings.h"
#include "data/partition.h"
#include "data/rows.h"
#include "evaluate/experiment/case_data.h"
#include "evaluate/experiment/trial.h"
#include "tare/model/regressor.h"

namespace tare {
namespace {

constexpr std::size_t kHalving = 3;  // a third continues, on three times the splits
constexpr std::size_t kMostPoints = 100'000;

void add_axes(std::span<const ParamInfo> options, const Params& fixed,
              std::vector<GridAxis>& axes) {
  for (const ParamInfo& option : options) {
    if (option.grid.empty() || fixed.has(option.name)) continue;
    axes.push_back({std::string(option.name), split_text(option.grid, ',')});
  }
}

/// Every combination of the axes' values.
std::vector<Params> all_points(const std::vector<GridAxis>& axes) {
  std::vector<Params> points(1);
  for (const GridAxis& axis : axes) {
    if (points.size() * axis.values.size() > kMostPoints) {
      fail(ErrorCode::kInvalidArgument, "the grid has more than {} points", kMostPoints);
    }
    std::vector<Params> longer;
    for (const Params& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().set(axis.name, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::vector<Params> some_points(std::vector<Params> points, std::size_t count, Seed seed) {
  if (count == 0 || count >= points.size()) return points;
  Rng rng(seed);
  std::vector<std::size_t> order = random_permutation(points.size(), rng);
  order.resize(count);
  std::ranges::sort(order);
  std::vector<Params> chosen;
  for (const std::size_t i : order) chosen.push_back(points[i]);
  return chosen;
}

/// Split s of the rows: what trains, what calibrates and what validates.
TrialRows validation_split(MatrixView x, std::span<const double> y, const TuneOptions& options,
                           std::size_t s) {
  const Seed seed = split(options.seed, 100 + s);
  const Partition parts = random_partition(y.size(), options.validation_share, split(seed, 0));
  TrialRows rows;
  rows.x = take_rows(x, parts.first);
  rows.y = take_rows(y, parts.first);
  rows.test_x = take_rows(x, parts.second);
  rows.test_y = take_rows(y, parts.second);
  const Partition inner = random_partition(rows.y.size(), options.calibrate_share, split(seed, 1));
  rows.calibrate.assign(rows.y.size(), 0);
  for (const std::size_t i : inner.second) rows.calibrate[i] = 1;
  return rows;
}

class Search {
 public:
  Search(const Method& method, MatrixView x, std::span<const double> y, const TuneOptions& options)
      : method_(method), x_(x), y_(y), options_(options) {}

  Tuned run(const Execution& how) {
    std::vector<TuneTrial> alive;
    for (Params& point : some_points(all_points(options_.grid), options_.random, options_.seed)) {
      alive.push_back({std::move(point), 0, 0.0});
    }
    Tuned tuned;
    for (std::size_t splits = 1;; splits = std::min(options_.splits, splits * kHalving)) {
      score_all(alive, splits, how);
      std::ranges::stable_sort(alive, {}, &TuneTrial::score);
      const bool last = splits == options_.splits || alive.size() == 1;
      const std::size_t keep =
          last ? alive.size() : std::max<std::size_t>(1, (alive.size() + 2) / kHalving);
      const auto cut = alive.begin() + static_cast<std::ptrdiff_t>(keep);
      tuned.trail.insert(tuned.trail.begin(), cut, alive.end());
      alive.erase(cut, alive.end());
      if (last) break;
    }
    tuned.trail.insert(tuned.trail.begin(), alive.begin(), alive.end());
    if (!std::isfinite(tuned.trail.front().score)) throw_first_error();
    tuned.params = tuned.trail.front().params;
    return tuned;
  }

 private:
  /// Brings every trial from the splits it has to `splits`.
  void score_all(std::vector<TuneTrial>& alive, std::size_t splits, const Execution& how) {
    const std::size_t before = alive.front().splits;
    const std::size_t more = splits - before;
    std::vector<double> score(alive.size() * more);
    std::mutex guard;
    std::size_t done = 0;
    parallel_for(how, score.size(), [&](std::size_t k) {
      score[k] = score_one(alive[k / more].params, before + k % more, how.stop);
      const std::lock_guard lock(guard);
      ++done;
      if (how.progress) {
        how.progress(fmt::format("{} settings on {} splits", alive.size(), splits),
                     static_cast<double>(done) / static_cast<double>(score.size()));
      }
    });
    for (std::size_t t = 0; t < alive.size(); ++t) {
      double sum = alive[t].score * static_cast<double>(before);
      if (before == 0) sum = 0.0;
      for (std::size_t s = 0; s < more; ++s) sum += score[t * more + s];
      alive[t].score = sum / static_cast<double>(splits);
      alive[t].splits = splits;
    }
  }

  double score_one(const Params& point, std::size_t s, const std::atomic<bool>* stop) {
    Params params = options_.fixed;
    params.merge(point);
    const TrialRows rows = validation_split(x_, y_, options_, s);
    try {
      const auto values =
          run_trial({std::string(method_.name), params}, rows, split(options_.seed, 200 + s), stop);
      return std::ranges::find(values, "CheckScore", &MetricValue::metric)->value;
    } catch (const Error& error) {
      const std::lock_guard lock(guard_);
      errors_.emplace(s, error);
      return std::numeric_limits<double>::infinity();
    }
  }

  [[noreturn]] void throw_first_error() const {
    if (!errors_.empty()) throw Error(errors_.begin()->second);
    fail(ErrorCode::kBadData, "no setting of '{}' has a finite score on these rows", method_.name);
  }

  const Method& method_;
  MatrixView x_;
  std::span<const double> y_;
  const TuneOptions& options_;
  std::mutex guard_;
  std::map<std::size_t, Error> errors_;
};

}  // namespace

std::vector<GridAxis> default_grid(const Method& method, const Params& fixed) {
  std::vector<GridAxis> axes;
  add_axes(method.options, fixed, axes);
  const std::string regressor = effective_params(method, fixed).text("regressor", "");
  if (!regressor.empty()) add_axes(find_regressor(regressor).options, fixed, axes);
  return axes;
}

Tuned tune_method(const Method& method, MatrixView x, std::span<const double> y,
                  const TuneOptions& options, const Execution& how) {
  if (options.splits == 0) fail(ErrorCode::kInvalidArgument, "tune: at least one split is needed");
  return Search(method, x, y, options).run(how);
}

}  // namespace tare

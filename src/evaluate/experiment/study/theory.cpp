// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/study/theory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>

#include "base/fail.h"
#include "base/parallel.h"
#include "data/rows.h"
#include "evaluate/experiment/study/column_pinball.h"
#include "tare/calibrate/bandwidth.h"
#include "tare/calibrate/snq.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

constexpr std::size_t kTheoremColumns = 4;  // features of the problems of Theorems 3 and 5

const std::vector<Level>& theory_levels() {
  static const std::vector<Level> levels = {Level{0.1}, Level{0.25}, Level{0.5}, Level{0.75},
                                            Level{0.9}};
  return levels;
}

/// What a rate is measured on: a problem, and how many of its first features the kernel sees.
struct RateSetting {
  int theorem;
  const char* name;
  std::size_t dims;      // features of the problem
  std::size_t relevant;  // number of them that matter
  std::size_t seen;      // by the kernel
  double constant;       // c of h = c n^(-1/(seen+2))
};

// The constants are on the small side, where the variance leads: these laws are smooth, and their
// bias falls faster than the theorem's Lipschitz bound. They are not so small that a window holds
// too few rows for a quantile: at least 40 at n = 4,000. History: with n from 1,000 to 64,000 and
// queries everywhere seed 1 gave -0.44 for d = 4; sizes, constants and queries were then changed
// with seed 77 in view. Seed 2, which the tests use, was not looked at before.
constexpr RateSetting kRates[] = {
    {1, "d = 1", 1, 1, 1, 0.4},
    {1, "d = 2", 2, 2, 2, 0.5},
    {1, "d = 4", 4, 4, 4, 0.85},
    {3, "Z: the feature that matters", kTheoremColumns, 1, 1, 0.4},
    {3, "all four features", kTheoremColumns, 1, 4, 0.85},
};

struct Residuals {
  Matrix z;
  std::vector<double> u;
};

/// Rows of a problem as a perfect f would leave them, with the first features only.
Residuals draw_residuals(const Problem& problem, std::size_t rows, std::size_t seen, Seed seed) {
  const Sample sample = draw(problem, rows, seed);
  Residuals result{take_rows(sample.x, all_rows(rows), all_rows(seen)), sample.y};
  for (std::size_t i = 0; i < rows; ++i) result.u[i] -= problem.law(sample.x.row(i)).mean();
  return result;
}

/// Fresh rows from the middle of the cube, [1/4, 3/4] in each feature. Near its walls a window
/// sticks out, the less so the smaller it is, and the slope is steeper than the theorem's bound:
/// with queries everywhere seed 77 gives -0.66, -0.52, -0.43 for d = 1, 2, 4, and -0.64, -0.49,
/// -0.37 in the middle.
Matrix draw_queries(const Problem& problem, std::size_t rows, Seed seed) {
  Matrix x = draw(problem, rows, seed).x;
  for (double& value : x.values()) value = 0.25 + 0.5 * value;
  return x;
}

/// Mean squared error over fresh rows and levels, from one draw of the data.
double squared_error(const RateSetting& setting, std::size_t rows, std::size_t queries, Seed seed) {
  const Problem problem = known_law_problem(LawShape::kNormal, setting.dims, setting.relevant);
  const Residuals data = draw_residuals(problem, rows, setting.seen, split(seed, 0));
  const double h = setting.constant * std::pow(static_cast<double>(rows),
                                               -1.0 / (static_cast<double>(setting.seen) + 2.0));
  const Snq snq(data.z, data.u, {}, {.kernel = KernelKind::kNaive, .bandwidth = h});
  const Matrix fresh = draw_queries(problem, queries, split(seed, 1));
  const Matrix z = take_rows(fresh, all_rows(queries), all_rows(setting.seen));
  Prediction p = snq.predict(z, theory_levels(), one_thread());
  for (std::size_t i = 0; i < queries; ++i) {
    for (double& q : p.quantiles.row(i)) q += problem.law(fresh.row(i)).mean();
  }
  const double rmse = quantile_rmse(problem, fresh, p.quantiles, theory_levels());
  return rmse * rmse;
}

/// The expected pinball loss of SNQ on the first `seen` features, over the rows of a feature grid.
double column_loss(const Problem& problem, std::size_t rows, std::size_t seen,
                   const TheoryOptions& options, Seed seed) {
  // Without a feature the bandwidth is infinite, and any column gives the same result.
  const std::size_t columns = std::max<std::size_t>(seen, 1);
  const Residuals data = draw_residuals(problem, rows, columns, split(seed, 0));
  SnqOptions snq_options;
  snq_options.bandwidth = std::numeric_limits<double>::infinity();
  if (seen > 0) {
    snq_options.bandwidth =
        choose_bandwidth(data.z, data.u, {}, snq_options, split(seed, 1), one_thread()).bandwidth;
  }
  const Matrix grid = feature_grid(problem.dims, options.grid);
  const Matrix z = take_rows(grid, all_rows(grid.rows()), all_rows(columns));
  const Prediction p =
      Snq(data.z, data.u, {}, snq_options).predict(z, theory_levels(), one_thread());
  double sum = 0.0;
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    const double sd = problem.law(grid.row(i)).scale;
    for (std::size_t j = 0; j < theory_levels().size(); ++j) {
      sum += expected_normal_pinball(p.quantiles(i, j), sd, theory_levels()[j]);
    }
  }
  return sum / static_cast<double>(grid.rows() * theory_levels().size());
}

/// A figure to be computed, as the mean over samples, and where it goes.
struct Task {
  std::size_t rows = 0;
  std::uint64_t stream = 0;  // tasks of one stream see the same rows
  std::function<double(Seed)> sample;
  double* result = nullptr;
};

void run_tasks(std::vector<Task> tasks, const TheoryOptions& options, const Execution& how) {
  const std::size_t samples = options.samples;
  std::vector<double> values(tasks.size() * samples);
  // The longest first, so that threads finish at about the same time.
  std::vector<std::size_t> order = all_rows(tasks.size());
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t t) { return tasks[t].rows; });
  std::mutex guard;
  std::size_t done = 0;
  parallel_for(how, values.size(), [&](std::size_t i) {
    const std::size_t t = order[i / samples];
    const std::size_t s = i % samples;
    values[t * samples + s] = tasks[t].sample(split(split(options.seed, tasks[t].stream), s));
    const std::lock_guard lock(guard);
    ++done;
    if (how.progress) {
      how.progress("theorems", static_cast<double>(done) / static_cast<double>(values.size()));
    }
  });
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(t * samples);
    *tasks[t].result = std::accumulate(first, first + static_cast<std::ptrdiff_t>(samples), 0.0) /
                       static_cast<double>(samples);
  }
}

void add_rates(const TheoryOptions& options, Theory& theory, std::vector<Task>& tasks) {
  for (const RateSetting& setting : kRates) {
    RateCurve curve;
    curve.theorem = setting.theorem;
    curve.name = setting.name;
    curve.expected = -2.0 / (static_cast<double>(setting.seen) + 2.0);
    for (std::size_t n = options.least_rows; n <= options.most_rows; n *= 2) {
      curve.rows.push_back(static_cast<double>(n));
    }
    curve.error.resize(curve.rows.size());
    theory.rates.push_back(std::move(curve));
  }
  // Only now, when no curve moves any more.
  for (std::size_t c = 0; c < theory.rates.size(); ++c) {
    RateCurve& curve = theory.rates[c];
    for (std::size_t k = 0; k < curve.rows.size(); ++k) {
      const auto n = static_cast<std::size_t>(curve.rows[k]);
      tasks.push_back({n, tasks.size(),  // no two alike: a slope's points are independent
                       [c, n, queries = options.queries](Seed seed) {
                         return squared_error(kRates[c], n, queries, seed);
                       },
                       &curve.error[k]});
    }
  }
}

void add_columns(const TheoryOptions& options, const Problem& problem, Theory& theory,
                 std::vector<Task>& tasks) {
  theory.columns.push_back(
      {"the law itself", 0, best_column_pinball(problem, options.grid, theory_levels())});
  for (const std::size_t n : options.column_rows) {
    theory.columns.push_back(
        {fmt::format("SNQ, n = {}", n), n, std::vector<double>(kTheoremColumns + 1)});
  }
  for (ColumnCurve& curve : theory.columns) {
    for (std::size_t k = 0; curve.rows > 0 && k <= kTheoremColumns; ++k) {
      // Not those of the rates, and the same for every k: what differs is then the features.
      tasks.push_back({curve.rows, 1'000'000 + curve.rows,
                       [&problem, &options, n = curve.rows, k](Seed seed) {
                         return column_loss(problem, n, k, options, seed);
                       },
                       &curve.loss[k]});
    }
  }
}

void check(const TheoryOptions& options) {
  const bool rows = options.least_rows > 0 && options.most_rows >= options.least_rows &&
                    std::ranges::find(options.column_rows, 0U) == options.column_rows.end();
  if (options.samples == 0 || options.queries == 0 || options.grid == 0 || !rows) {
    fail(ErrorCode::kInvalidArgument,
         "theory: samples, queries, rows and grid must all be at least 1");
  }
}

}  // namespace

LogSlope log_slope(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) {
    fail(ErrorCode::kShapeMismatch, "log_slope: {} x but {} y", x.size(), y.size());
  }
  const auto count = static_cast<double>(x.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  double xx = 0.0;
  double xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
    xy += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
  }
  LogSlope result{xy / xx, std::numeric_limits<double>::quiet_NaN()};
  if (x.size() < 3) return result;
  double squares = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double miss = std::log(y[i]) - mean_y - result.slope * (std::log(x[i]) - mean_x);
    squares += miss * miss;
  }
  result.standard_error = std::sqrt(squares / (count - 2.0) / xx);
  return result;
}

Theory run_theory(const TheoryOptions& options, const Execution& how) {
  check(options);
  Theory theory;
  std::vector<Task> tasks;
  const Problem problem = known_law_problem(LawShape::kNormal, kTheoremColumns, kTheoremColumns);
  add_rates(options, theory, tasks);
  add_columns(options, problem, theory, tasks);
  run_tasks(std::move(tasks), options, how);
  for (RateCurve& curve : theory.rates) curve.fitted = log_slope(curve.rows, curve.error);
  return theory;
}

}  // namespace tare

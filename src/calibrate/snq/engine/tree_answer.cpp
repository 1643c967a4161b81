// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/tree_answer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "calibrate/snq/window/rank_rule.h"
#include "index/row_key.h"
#include "index/shared_window.h"
#include "math/kernel.h"

namespace tare {
namespace {

constexpr double kShareCut = 1e-6;  // share of the weight that a cut kernel may lose

}  // namespace

double window_reach(const SnqOptions& options, std::size_t rows) {
  const double support = kernel_support(options.kernel);
  if (!std::isinf(support)) return support * options.bandwidth;
  // n k(s) <= kShareCut, as if the query had one row of full weight.
  const double tail = std::log(static_cast<double>(rows) / kShareCut);
  const double s = options.kernel == KernelKind::kGaussian ? std::sqrt(2.0 * tail) : tail;
  return s * options.bandwidth;
}

namespace {

/// Rows that a tree would have to look at around a typical row: those within the radius and, since
/// a leaf is looked at as a whole, about one leaf's width more.
double rows_around(const LocalSample& sample, const SnqOptions& options, double reach) {
  constexpr std::size_t kProbes = 8;  // rows around which the others are counted
  constexpr std::size_t kLeafWidthRows = 64;
  LocalSample::Scratch scratch;
  double sum = 0.0;
  for (std::size_t p = 0; p < kProbes; ++p) {
    const std::size_t place = (2 * p + 1) * sample.rows() / (2 * kProbes);
    sample.measure(sample.features().row(place), scratch);
    auto& r2 = scratch.squared_distance;
    const auto nth = [&](std::size_t k) {
      const auto at = r2.begin() + static_cast<std::ptrdiff_t>(std::min(k, r2.size()) - 1);
      std::nth_element(r2.begin(), at, r2.end());
      return std::sqrt(*at);
    };
    const double leaf = nth(kLeafWidthRows);
    const double radius = options.kernel == KernelKind::kKnn
                              ? nth(static_cast<std::size_t>(options.bandwidth))
                              : reach;
    const double wide = radius + leaf;
    sum += static_cast<double>(
        std::count_if(r2.begin(), r2.end(), [=](double v) { return v <= wide * wide; }));
  }
  return sum / static_cast<double>(kProbes);
}

double tree_cost(const LocalSample& sample, const SnqOptions& options) {
  constexpr RowCost kVisited{3.0, 0.5};
  constexpr double kWeighed = 6.0;  // more where a row gets a weight
  const bool ranks = sample.weights().empty() &&
                     (options.kernel == KernelKind::kNaive || options.kernel == KernelKind::kKnn);
  const double visited = rows_around(sample, options, window_reach(options, sample.rows()));
  return visited * (kVisited(static_cast<double>(sample.dims())) + (ranks ? 0.0 : kWeighed));
}

}  // namespace

SnqEngineInfo TreeAnswer::info() {
  return {.name = "tree",
          .made_for = "every kernel",
          .takes_kernel = [](KernelKind) { return true; },
          .serves = [](const LocalSample&, const SnqOptions&) { return true; },
          .cost = tree_cost,
          .make = [](const std::shared_ptr<const LocalSample>& sample,
                     const SnqOptions&) -> std::unique_ptr<const SnqEngine> {
            return std::make_unique<const TreeAnswer>(*sample);
          },
          .losses = nullptr};
}

/// What one call of predict is about.
struct TreeAnswer::Task {
  MatrixView z;
  std::span<const Level> levels;
  const SnqOptions& options;
  double reach2;  // 0 for knn
  bool nearest;   // whether the distance to the nearest row is wanted
  Prediction& result;
};

/// Working memory of a thread.
struct TreeAnswer::Memory {
  SharedWindow window;
  KdTree::Found found;
  KeyList spare;
  KdTree::Nearest nearest;
  LocalSample::Scratch scratch;
  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> columns;
  std::vector<double> residuals;
  std::vector<double> weights;
  std::vector<double> values;  // residual of each slot, where it pays to have them side by side
  RankRule rule;
  std::vector<std::uint32_t> slots;  // of the ranks it needs
  std::vector<double> at_ranks;
};

TreeAnswer::TreeAnswer(const LocalSample& sample)
    : sample_(sample), tree_(sample.features().columns(), sample.rows(), sample.dims()) {}

bool TreeAnswer::counts_ranks(const SnqOptions& options) const {
  return sample_.weights().empty() &&
         (options.kernel == KernelKind::kNaive || options.kernel == KernelKind::kKnn);
}

void TreeAnswer::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                         const Execution& how, Prediction& result) const {
  const bool knn = options.kernel == KernelKind::kKnn;
  const double radius = knn ? 0.0 : window_reach(options, sample_.rows());
  // A knn window's radius is its query's own: groups of one, but still in a good order.
  const QueryGroups queries = group_queries(z, knn ? 1e-300 : radius);
  const Task task{z, levels, options, radius * radius, how.diagnostics, result};
  parallel_for(how, queries.groups.size(), [&](std::size_t g) {
    thread_local Memory memory;
    memory.rule.start(options.ranks, levels);
    const QueryGroups::Group& group = queries.groups[g];
    const auto members = std::span(queries.order).subspan(group.first, group.last - group.first);
    if (knn) {
      for (const std::uint32_t i : members) {
        answer_nearest(task, i, static_cast<std::size_t>(options.bandwidth), memory);
      }
    } else if (counts_ranks(options)) {
      answer_ranks(task, members, memory);
    } else {
      answer_weights(task, members, memory);
    }
    if (!task.nearest) return;
    for (const std::uint32_t i : members) {
      result.nearest[i] =
          std::sqrt(tree_.nearest(z.row(i), 1, LocalSample::kFarthestRow, memory.nearest));
    }
  });
}

void TreeAnswer::select_quantiles(const Task& task, std::uint32_t query, std::size_t in_reach,
                                  Memory& memory) const {
  const auto ranks = memory.rule.ranks(in_reach);
  memory.slots.resize(ranks.size());
  memory.at_ranks.resize(ranks.size());
  memory.window.select(ranks, memory.slots);
  if (!memory.values.empty()) {
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      memory.at_ranks[j] = memory.values[memory.slots[j]];
    }
  } else {
    const auto residuals = sample_.residuals();
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      memory.at_ranks[j] = residuals[memory.window.place(memory.slots[j])];
    }
  }
  memory.rule.answer(memory.at_ranks, task.result.quantiles.row(query));
}

void TreeAnswer::answer_ranks(const Task& task, std::span<const std::uint32_t> group,
                              Memory& memory) const {
  memory.window.open(tree_, task.z, group, task.reach2);
  memory.values.clear();
  if (memory.window.slots() <= group.size() * task.levels.size()) {
    memory.values.resize(memory.window.slots());
    for (std::size_t slot = 0; slot < memory.values.size(); ++slot) {
      memory.values[slot] = sample_.residuals()[memory.window.place(slot)];
    }
  }
  bool alone = false;
  for (const std::uint32_t i : group) {
    const std::size_t in_reach = memory.window.look(task.z.row(i));
    task.result.window_n[i] = static_cast<double>(in_reach);
    task.result.fallback[i] = in_reach == 0 ? 1 : 0;
    alone = alone || in_reach == 0;
    if (in_reach > 0) select_quantiles(task, i, in_reach, memory);
  }
  if (!alone) return;
  for (const std::uint32_t i : group) {
    if (task.result.fallback[i] != 0) answer_fallback(task, i, memory);
  }
}

LocalSample TreeAnswer::found_rows(Memory& memory) const {
  sort_by_place(memory.found.sure, tree_.rows(), memory.spare);
  const auto keys = memory.found.sure.keys();
  const std::size_t dims = tree_.dims();
  memory.columns.resize(keys.size() * dims);
  memory.residuals.resize(keys.size());
  memory.weights.resize(sample_.weights().empty() ? 0 : keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < dims; ++j) {
      memory.columns[j * keys.size() + i] = tree_.value(key_row(keys[i]), j);
    }
    memory.residuals[i] = sample_.residuals()[key_place(keys[i])];
    if (!memory.weights.empty()) memory.weights[i] = sample_.weights()[key_place(keys[i])];
  }
  return sample_.part(memory.columns, memory.residuals, memory.weights);
}

void TreeAnswer::answer_weights(const Task& task, std::span<const std::uint32_t> group,
                                Memory& memory) const {
  bounding_box(task.z, group, memory.low, memory.high);
  tree_.near_box(memory.low, memory.high, task.reach2, memory.found);
  const auto maybe = memory.found.maybe.keys();
  std::copy(maybe.begin(), maybe.end(), memory.found.sure.room(maybe.size()));
  memory.found.sure.grow(maybe.size());
  const bool cut = std::isinf(kernel_support(task.options.kernel));
  const auto answer_remote = [&](std::uint32_t i) {
    cut ? answer_from_all(task, i, memory) : answer_fallback(task, i, memory);
  };
  if (memory.found.sure.size() == 0) {
    for (const std::uint32_t i : group) answer_remote(i);
    return;
  }
  const LocalSample around = found_rows(memory);
  const auto others = static_cast<double>(sample_.rows() - around.rows());
  std::vector<std::uint32_t> later;
  for (const std::uint32_t i : group) {
    around.measure(task.z.row(i), memory.scratch);
    // A neighbour's rows are no part of this window, or the answer would depend on the company.
    if (cut) around.leave_out_beyond(task.reach2, memory.scratch);
    const bool in_reach = around.weigh_in_reach(task.options, memory.scratch);
    // Beyond the radius a row has less than kShareCut / n of the largest weight.
    const double left_out =
        cut ? others * (kShareCut / static_cast<double>(sample_.rows())) * sample_.largest_weight()
            : 0.0;
    if (!in_reach || left_out > kShareCut * memory.scratch.sums.total) {
      later.push_back(i);
      continue;
    }
    task.result.window_n[i] = memory.scratch.sums.effective_size();
    task.result.fallback[i] = 0;
    around.quantiles(memory.rule, memory.scratch, task.result.quantiles.row(i));
  }
  for (const std::uint32_t i : later) answer_remote(i);
}

void TreeAnswer::answer_from_all(const Task& task, std::uint32_t query, Memory& memory) const {
  sample_.measure(task.z.row(query), memory.scratch);
  const auto support = sample_.weigh(task.options, memory.scratch);
  task.result.window_n[query] = support.effective_n;
  task.result.fallback[query] = support.fallback ? 1 : 0;
  sample_.quantiles(memory.rule, memory.scratch, task.result.quantiles.row(query));
}

void TreeAnswer::answer_nearest(const Task& task, std::uint32_t query, std::size_t count,
                                Memory& memory) const {
  const auto z = task.z.row(query);
  const double tolerance = task.options.tie_tolerance;
  const double reach2 =
      tied_reach(tree_.nearest(z, count, LocalSample::kFarthestRow, memory.nearest), tolerance);
  task.result.fallback[query] = 0;
  if (reach2 >= LocalSample::kFarthestRow) {  // distances were cut: all rows beyond are equally far
    sample_.measure(z, memory.scratch);
    sample_.weigh_nearest(count, tolerance, memory.scratch);
    task.result.window_n[query] = memory.scratch.sums.effective_size();
    sample_.quantiles(memory.rule, memory.scratch, task.result.quantiles.row(query));
    return;
  }
  if (sample_.weights().empty()) {
    memory.window.open(tree_, z, reach2);
    memory.values.clear();
    const std::size_t in_reach = memory.window.look(z);
    task.result.window_n[query] = static_cast<double>(in_reach);
    select_quantiles(task, query, in_reach, memory);
    return;
  }
  tree_.near_point(z, reach2, memory.found);
  const LocalSample window = found_rows(memory);
  window.measure(z, memory.scratch);
  window.weigh_nearest(window.rows(), tolerance, memory.scratch);
  task.result.window_n[query] = memory.scratch.sums.effective_size();
  window.quantiles(memory.rule, memory.scratch, task.result.quantiles.row(query));
}

void TreeAnswer::answer_fallback(const Task& task, std::uint32_t query, Memory& memory) const {
  if (task.options.fallback == Fallback::kMarginal) {
    SnqOptions marginal = task.options;
    marginal.bandwidth = std::numeric_limits<double>::infinity();
    answer_from_all({task.z, task.levels, marginal, 0.0, false, task.result}, query, memory);
  } else {
    answer_nearest(task, query, task.options.min_support, memory);
  }
  task.result.fallback[query] = 1;
}

}  // namespace tare

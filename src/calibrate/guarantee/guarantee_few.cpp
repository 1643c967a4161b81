// SPDX-License-Identifier: BSD-3-Clause
// Predictions of folds at a few levels; guarantee_answer.cpp has those at all others.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "calibrate/answers/each_level.h"
#include "calibrate/answers/merge_diagnostics.h"
#include "calibrate/answers/row_blocks.h"
#include "calibrate/guarantee/guarantee.h"
#include "data/rows.h"

namespace tare {
namespace {

using Target = MergeWindows::Target;
using Reach = MergeWindows::Reach;

constexpr std::size_t kFewLevels = 8;
// Rows of a block: their quantiles fit into a core's cache, and a model answers them together.
constexpr std::size_t kFewBlock = 256;
// A sample of the rows says how wide the windows are that most rows need.
constexpr std::size_t kSampledRows = 256;
constexpr std::size_t kSampledShare = 16;  // one row of as many
constexpr double kTooNarrow = 0.02;        // of the sampled rows, on each side of a level

/// Some rows, side by side.
struct SomeRows {
  Matrix x, given;
  Rows rows() const { return {x, given}; }
  SomeRows(const Rows& all, std::span<const std::size_t> which) : x(take_rows(all.x, which)) {
    if (all.given.cols() > 0) given = take_rows(all.given, which);
  }
};

/// The quantiles of all folds' models for a block of rows, and the answers that windows have.
class FewBlock {
 public:
  using Inner = std::vector<std::unique_ptr<const QuantileModel>>;

  /// Writes answers into result.quantiles, and diagnostics; `failed` are the rows whose windows are
  /// too narrow.
  FewBlock(const Inner& inner, const MergeWindows& windows, const Rows& rows, const Execution& how,
           Prediction& result, std::vector<Reach>* seen = nullptr) {
    const std::size_t levels = result.quantiles.cols();
    std::vector<Matrix> quantiles;
    for (std::size_t k = 0; k < inner.size(); ++k) {
      Prediction p = inner[k]->predict(rows, windows.levels(k), how);
      merge_diagnostics(result, p, 1.0 / static_cast<double>(inner.size()));
      quantiles.push_back(std::move(p.quantiles));
    }
    std::vector<std::span<const double>> row(inner.size());
    std::vector<Reach> among(seen != nullptr ? levels : 0);
    MergeWindows::Scratch scratch;
    for (std::size_t i = 0; i < rows.x.rows(); ++i) {
      for (std::size_t k = 0; k < inner.size(); ++k) row[k] = quantiles[k].view().row(i);
      if (!windows.answer(row, scratch, result.quantiles.row(i), among)) {
        failed.push_back(i);
      } else if (seen != nullptr) {
        seen->insert(seen->end(), among.begin(), among.end());
      }
    }
  }

  std::vector<std::size_t> failed;
};

/// The windows that all but a few of the sampled rows need; seen[i * targets + t] are of row i.
std::vector<Reach> reach_of(std::vector<Reach> seen, std::span<const Reach> usual) {
  std::vector<Reach> reach(usual.begin(), usual.end());
  const std::size_t rows = seen.size() / reach.size();
  if (rows == 0) return reach;
  const auto rank = static_cast<std::ptrdiff_t>(kTooNarrow * static_cast<double>(rows));
  std::vector<double> low(rows);
  std::vector<double> high(rows);
  for (std::size_t t = 0; t < reach.size(); ++t) {
    for (std::size_t i = 0; i < rows; ++i) {
      low[i] = seen[i * reach.size() + t].low;
      high[i] = -seen[i * reach.size() + t].high;
    }
    std::nth_element(low.begin(), low.begin() + rank, low.end());
    std::nth_element(high.begin(), high.begin() + rank, high.end());
    reach[t] = {low[static_cast<std::size_t>(rank)], -high[static_cast<std::size_t>(rank)]};
  }
  return reach;
}

}  // namespace

std::vector<Target> GuaranteedModel::few_targets(const Rows& rows,
                                                 std::span<const Level> levels) const {
  const bool one_line = ranks_.size() == 1;  // else rows differ in their targets
  if (shift_ || folds() == 1 || !one_line || levels.empty() || levels.size() > kFewLevels ||
      rows.x.rows() == 0 || asked_.merges.front().caps_at_median()) {
    return {};
  }
  const FoldRanks& line = ranks_.front();
  const Mass fresh = line.largest();
  std::vector<Target> targets;
  for (const Level& level : levels) {
    if (!line.keeps(level, fresh)) return {};
    const bool upper = level.value() >= 0.5;
    targets.push_back({.mass = upper ? upper_target(level, line.mass(), fresh)
                                     : lower_target(level, line.mass(), fresh),
                       .upper = upper});
  }
  const auto alone = [](const auto& inner) { return answers_each_level_alone(*inner); };
  return std::ranges::all_of(inner_, alone) ? targets : std::vector<Target>();
}

Prediction GuaranteedModel::predict_few(const Rows& rows, std::span<const Target> targets,
                                        std::span<const Level> levels, const Execution& how) const {
  const FoldRanks& line = ranks_.front();
  const std::vector<Reach> usual = MergeWindows::usual_reach(line, knots_, targets);
  const MergeWindows wide(line, knots_, targets, usual);
  MergeWindows narrow = wide;
  const std::size_t all = rows.x.rows();
  if (const std::size_t some = std::min(kSampledRows, all / kSampledShare); some >= 8) {
    std::vector<std::size_t> which(some);
    for (std::size_t k = 0; k < some; ++k) which[k] = k * all / some;
    const SomeRows sample({rows.x, rows.given}, which);
    Prediction unused;
    unused.quantiles = Matrix(some, levels.size());
    Execution quick = how;
    quick.diagnostics = false;
    std::vector<Reach> seen;
    const FewBlock block(inner_, wide, sample.rows(), quick, unused, &seen);
    narrow = MergeWindows(line, knots_, targets, reach_of(std::move(seen), usual));
  }

  // Small blocks, so that every thread has some; within a block there is one thread.
  const std::size_t threads = thread_count(how);
  const std::size_t share = (all + threads - 1) / threads;
  const std::size_t size = std::max<std::size_t>(1, std::min(kFewBlock, share));
  std::vector<Prediction> parts((all + size - 1) / size);
  std::vector<std::vector<std::size_t>> failed(parts.size());
  Execution own = one_thread();
  own.diagnostics = how.diagnostics;
  own.stop = how.stop;
  parallel_blocks(how, all, size, [&](std::size_t first, std::size_t last) {
    Prediction& part = parts[first / size];
    part.quantiles = Matrix(last - first, levels.size());
    const Rows block = middle_of({rows.x, rows.given}, first, last - first);
    failed[first / size] = FewBlock(inner_, narrow, block, own, part).failed;
  });
  Prediction result;
  result.quantiles = Matrix(all, levels.size());
  std::vector<std::size_t> left;
  for (std::size_t b = 0; b < parts.size(); ++b) {
    std::ranges::copy(
        parts[b].quantiles.values(),
        result.quantiles.values().begin() + static_cast<std::ptrdiff_t>(b * size * levels.size()));
    append_diagnostics(result, parts[b]);
    for (const std::size_t i : failed[b]) left.push_back(b * size + i);
  }

  // The others: with wide windows, and with all steps.
  Execution quick = how;
  quick.diagnostics = false;
  const auto put = [&](std::span<const std::size_t> which, const Matrix& answers) {
    for (std::size_t k = 0; k < which.size(); ++k) {
      std::ranges::copy(answers.row(k), result.quantiles.row(which[k]).begin());
    }
  };
  if (!left.empty() && narrow.columns() < wide.columns()) {
    std::vector<std::size_t> again;
    for (std::size_t first = 0; first < left.size(); first += kFewBlock) {
      const auto which = std::span(left).subspan(first, std::min(kFewBlock, left.size() - first));
      const SomeRows some({rows.x, rows.given}, which);
      Prediction part;
      part.quantiles = Matrix(which.size(), levels.size());
      const FewBlock block(inner_, wide, some.rows(), quick, part);
      put(which, part.quantiles);
      for (const std::size_t i : block.failed) again.push_back(which[i]);
    }
    left = std::move(again);
  }
  if (!left.empty()) {
    const SomeRows some({rows.x, rows.given}, left);
    put(left, predict_all_steps(some.rows(), levels, quick).quantiles);
  }
  return result;
}

}  // namespace tare

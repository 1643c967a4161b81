// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/best_first_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "math/vector_targets.h"

namespace tare {
namespace {

// A gain below this share of what a leaf explains is rounding.
constexpr double kLeastGain = 1e-9;

constexpr std::size_t kLanes = 8;

/// Sums of y and of weight of the rows that would go left, for each bin with rows in it, and what a
/// split behind that bin would explain. The last one is followed by room for a whole vector.
struct SplitScores {
  std::array<std::uint8_t, BinnedRows::kMaxBins> bin;
  std::array<double, BinnedRows::kMaxBins + kLanes> y;
  std::array<double, BinnedRows::kMaxBins + kLanes> weight;
  std::array<double, BinnedRows::kMaxBins + kLanes> score;
};

/// left y^2 / left weight + right y^2 / right weight, by one quotient; 0 where a side is too light.
/// Returns the largest.
TARE_VECTOR_TARGETS double score_splits(SplitScores& at, std::size_t count, double all_y,
                                        double all_weight, double least, double shrink) {
  const double* __restrict y = at.y.data();
  const double* __restrict weight = at.weight.data();
  double* __restrict score = at.score.data();
  std::array<double, kLanes> largest{};
  for (std::size_t b = 0; b < count; b += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double right_y = all_y - y[b + k];
      const double right_weight = all_weight - weight[b + k];
      const double left = weight[b + k] + shrink;
      const double right = right_weight + shrink;
      const double both = (y[b + k] * y[b + k] * right + right_y * right_y * left) / (left * right);
      const double light = weight[b + k] < right_weight ? weight[b + k] : right_weight;
      const double own = light >= least ? both : 0.0;
      score[b + k] = own;
      largest[k] = own > largest[k] ? own : largest[k];
    }
  }
  double result = 0.0;
  for (const double one : largest) result = one > result ? one : result;
  return result;
}

}  // namespace

BestFirstGrower::BestFirstGrower(const BinnedRows& binned, const BestFirstOptions& options)
    : binned_(binned), options_(options), columns_(binned.cols()) {
  for (std::size_t j = 0; j < binned.cols(); ++j) {
    first_.push_back(bins_);
    bins_ += binned.bins(j);
    if (binned.bins(j) < binned.bins(fewest_)) fewest_ = j;
  }
  std::iota(columns_.begin(), columns_.end(), std::size_t{0});
  const double share = options.columns * static_cast<double>(columns_.size());
  tried_ = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(share)), 1,
                                   std::max<std::size_t>(1, columns_.size()));
  histograms_.resize(options.leaves * bins_);
}

void BestFirstGrower::count(const BestFirstData& data, std::span<const std::uint32_t> rows,
                            Sums* histogram) {
  std::fill(histogram, histogram + bins_, Sums{});
  const std::size_t cols = columns_.size();
  for (const std::uint32_t row : rows) {
    const std::uint8_t* bin = data.by_row.data() + row * cols;
    const Sums sums = sums_[row];
    for (std::size_t j = 0; j < cols; ++j) histogram[first_[j] + bin[j]] += sums;
  }
}

BestFirstGrower::Split BestFirstGrower::best_of_column(std::size_t column, const Sums* histogram,
                                                       Sums all) const {
  Split best{column, 0, 0.0};
  const Sums* bins = histogram + first_[column];
  const std::size_t count = binned_.bins(column) - 1;  // splits
  SplitScores scores;
  Sums left{};
  std::size_t filled = 0;  // most bins of a small leaf are empty; all are written, as a branch is
                           // unpredictable
  for (std::size_t b = 0; b < count; ++b) {
    left += bins[b];
    scores.y[filled] = left[0];
    scores.weight[filled] = left[1];
    scores.bin[filled] = static_cast<std::uint8_t>(b);
    filled += bins[b][1] > 0.0 ? 1U : 0U;
  }
  for (std::size_t k = filled; k < filled + kLanes; ++k) scores.y[k] = scores.weight[k] = 0.0;
  const double explained =
      score_splits(scores, filled, all[0], all[1], options_.min_leaf, options_.shrink);
  if (!(explained > 0.0)) return best;
  const auto* const at = std::find(scores.score.data(), scores.score.data() + filled, explained);
  best.bin = std::size_t{scores.bin[static_cast<std::size_t>(at - scores.score.data())]} + 1;
  best.gain = explained;
  return best;
}

void BestFirstGrower::find_split(Leaf& leaf, Rng& rng) {
  const Sums* sums = histogram(leaf.histogram);
  Sums all{};
  const std::size_t bins = binned_.bins(fewest_);
  for (std::size_t b = 0; b < bins; ++b) all += sums[first_[fewest_] + b];
  leaf.value = static_cast<float>(all[0] / (all[1] + options_.shrink));
  leaf.split = {};
  if (all[1] < 2.0 * options_.min_leaf || leaf.seen.size() < 2) return;
  if (tried_ < columns_.size()) {
    for (std::size_t k = 0; k < tried_; ++k) {
      std::swap(columns_[k], columns_[k + rng.below(columns_.size() - k)]);
    }
  }
  const double whole = all[0] * all[0] / (all[1] + options_.shrink);
  for (std::size_t k = 0; k < tried_; ++k) {
    Split split = best_of_column(columns_[k], sums, all);
    split.gain -= whole;
    if (split.bin > 0 && split.gain > leaf.split.gain && split.gain > kLeastGain * whole) {
      leaf.split = split;
    }
  }
}

/// Rows that go left come first, in their order; returns how many.
std::size_t BestFirstGrower::partition(const BestFirstData& data, const Split& split,
                                       std::span<std::uint32_t> rows) {
  right_.resize(std::max(right_.size(), rows.size()));
  const std::uint8_t* bin = data.by_column.data() + split.column * data.y.size();
  std::size_t lefts = 0;
  std::size_t rights = 0;
  for (const std::uint32_t row : rows) {  // both writes always, as a branch is unpredictable
    const bool goes_left = bin[row] < split.bin;
    rows[lefts] = row;
    right_[rights] = row;
    lefts += goes_left ? 1U : 0U;
    rights += goes_left ? 0U : 1U;
  }
  std::copy_n(right_.begin(), rights, rows.begin() + static_cast<std::ptrdiff_t>(lefts));
  return lefts;
}

void BestFirstGrower::split_leaf(std::size_t at, const BestFirstData& data,
                                 std::span<std::uint32_t> seen, std::span<std::uint32_t> others,
                                 TreeNodes& tree, Rng& rng) {
  Leaf left = leaves_[at];
  Leaf right = left;
  const Split split = left.split;
  right.seen.first = left.seen.last =
      left.seen.first + partition(data, split, seen.subspan(left.seen.first, left.seen.size()));
  right.others.first = left.others.last =
      left.others.first +
      partition(data, split, others.subspan(left.others.first, left.others.size()));
  left.node = static_cast<std::int32_t>(tree.node.size());
  right.node = left.node + 1;
  tree.node[static_cast<std::size_t>(leaves_[at].node)] = {static_cast<std::int32_t>(split.column),
                                                           binned_.edge(split.column, split.bin),
                                                           left.node, right.node};
  tree.node.resize(tree.node.size() + 2);
  // The smaller side is counted; the other is the rest.
  Leaf& smaller = left.seen.size() <= right.seen.size() ? left : right;
  smaller.histogram = leaves_.size();
  Sums* counted = histogram(smaller.histogram);
  count(data, seen.subspan(smaller.seen.first, smaller.seen.size()), counted);
  Sums* whole = histogram(leaves_[at].histogram);
  for (std::size_t b = 0; b < bins_; ++b) whole[b] -= counted[b];
  find_split(left, rng);
  find_split(right, rng);
  leaves_[at] = left;
  leaves_.push_back(right);
}

TreeNodes BestFirstGrower::grow(const BestFirstData& data, std::span<std::uint32_t> seen,
                                std::span<std::uint32_t> others, Rng& rng) {
  sums_.resize(data.y.size());
  for (const std::uint32_t row : seen) {
    const auto weight = static_cast<double>(data.weight[row]);
    sums_[row] = Sums{weight * static_cast<double>(data.y[row]), weight};
  }
  TreeNodes tree;
  tree.root.push_back(0);
  tree.node.resize(1);
  leaves_.assign(1, {{0, seen.size()}, {0, others.size()}, 0, 0, 0.0F, {}});
  count(data, seen, histogram(0));
  find_split(leaves_.front(), rng);
  while (leaves_.size() < options_.leaves) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < leaves_.size(); ++k) {
      if (leaves_[k].split.gain > leaves_[best].split.gain) best = k;
    }
    if (!(leaves_[best].split.gain > 0.0)) break;
    split_leaf(best, data, seen, others, tree, rng);
  }
  for (const Leaf& leaf : leaves_) {
    tree.node[static_cast<std::size_t>(leaf.node)] = {-1, leaf.value, 0, 0};
  }
  return tree;
}

}  // namespace tare

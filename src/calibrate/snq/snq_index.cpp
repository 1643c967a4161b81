// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/snq_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/strings.h"
#include "base/unknown_name.h"
#include "calibrate/snq/window/rank_rule.h"
#include "math/kernel.h"

namespace tare {
namespace {

constexpr std::size_t kBlockQueries = 64;   // that a thread takes at a time
constexpr std::size_t kDenseQueries = 512;  // the same where they share the rows
constexpr std::size_t kFewRows = 1'000;     // all of them are looked at faster than any structure
constexpr std::size_t kProbes = 8;          // rows around which the others are counted

/// Nanoseconds for a row and query: so much, and more for each feature. Measured with
/// bench/index_costs (bench/RESULTS.md); what counts is their ratios.
struct RowCost {
  double row;
  double feature;
  double operator()(double dims) const { return row + feature * dims; }
};
constexpr RowCost kOneByOne{1.5, 0.3};
constexpr RowCost kMasks{0.05, 0.125};
constexpr RowCost kCoarseMasks{0.05, 0.02};
constexpr RowCost kDense{0.35, 0.025};
constexpr RowCost kTree{3.0, 0.5};   // for a row that is visited
constexpr double kTreeWeight = 6.0;  // more where it gets a weight

constexpr double kSomeRows = 2'000.0;  // a query of a tree or line: what it finds is not known here
constexpr double kLevel = 20.0;        // a quantile of a query
// Starting and joining a thread takes 25 microseconds on the machine of bench/RESULTS.md.
constexpr double kThreadWork = 250'000.0;

constexpr std::array kIndexes = {IndexKind::kAuto, IndexKind::kBrute, IndexKind::kTree,
                                 IndexKind::kLine, IndexKind::kDense};

bool reaches_everywhere(const SnqOptions& options) {
  return std::isinf(kernel_support(options.kernel));
}

/// Rows that a tree would have to look at around a typical row: those within the radius and, since
/// a leaf is looked at as a whole, about one leaf's width more.
double rows_around(const LocalSample& sample, const SnqOptions& options, double reach) {
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

double mask_cost(const LocalSample& sample, const SnqOptions& options) {
  const auto grid = coarse_grid(sample.features().columns(), sample.rows(), sample.dims());
  const auto dims = static_cast<double>(sample.dims());
  return grid.serves(options.bandwidth) ? kCoarseMasks(dims) : kMasks(dims);
}

/// Nanoseconds for a query but for its levels, with an index that is not kAuto.
double query_cost(IndexKind kind, const LocalSample& sample, const SnqOptions& options) {
  const auto rows = static_cast<double>(sample.rows());
  const auto dims = static_cast<double>(sample.dims());
  switch (kind) {
    case IndexKind::kTree:
    case IndexKind::kLine:
      return kSomeRows;
    case IndexKind::kDense:
      return rows * kDense(dims);
    default:
      return rows *
             (MaskAnswer::serves(sample, options) ? mask_cost(sample, options) : kOneByOne(dims));
  }
}

}  // namespace

std::string_view index_name(IndexKind kind) {
  switch (kind) {
    case IndexKind::kAuto:
      return "auto";
    case IndexKind::kBrute:
      return "brute";
    case IndexKind::kTree:
      return "tree";
    case IndexKind::kLine:
      return "line";
    case IndexKind::kDense:
      return "dense";
  }
  return "?";
}

IndexKind parse_index(std::string_view name) {
  std::vector<std::string> names;
  for (const IndexKind kind : kIndexes) {
    if (index_name(kind) == canonical_name(name)) return kind;
    names.emplace_back(index_name(kind));
  }
  fail_unknown_name(ErrorCode::kInvalidArgument, "index", name, names);
}

IndexKind choose_index(const LocalSample& sample, const SnqOptions& options) {
  if (std::isinf(options.bandwidth) || sample.rows() < kFewRows || sample.dims() == 0) {
    return IndexKind::kBrute;
  }
  if (LineAnswer::serves(sample, options)) return IndexKind::kLine;
  const auto rows = static_cast<double>(sample.rows());
  const auto dims = static_cast<double>(sample.dims());
  const bool equal = sample.weights().empty();
  const bool naive = options.kernel == KernelKind::kNaive;
  const bool ranks = equal && (naive || options.kernel == KernelKind::kKnn);
  const double visited = rows_around(sample, options, window_reach(options, sample.rows()));
  const double tree = visited * (kTree(dims) + (ranks ? 0.0 : kTreeWeight));
  if (reaches_everywhere(options)) {
    return tree < rows * kDense(dims) ? IndexKind::kTree : IndexKind::kDense;
  }
  const double all = rows * (naive && equal ? mask_cost(sample, options) : kOneByOne(dims));
  return tree < all ? IndexKind::kTree : IndexKind::kBrute;
}

void check_index_and_kernel(const SnqOptions& options) {
  if (options.index == IndexKind::kDense && !reaches_everywhere(options)) {
    fail(ErrorCode::kInvalidArgument,
         "the dense index is for gaussian and laplace kernels, not for {} (index=auto takes one "
         "that fits)",
         kernel_name(options.kernel));
  }
}

SnqIndex::SnqIndex(std::shared_ptr<const LocalSample> sample, const SnqOptions& options)
    : sample_(std::move(sample)), kind_(options.index) {
  // A window of everything has nothing to be found.
  if (std::isinf(options.bandwidth) || sample_->dims() == 0) kind_ = IndexKind::kBrute;
  check_index_and_kernel(options);
  if (kind_ == IndexKind::kAuto) kind_ = choose_index(*sample_, options);
  if (kind_ == IndexKind::kTree) tree_ = std::make_unique<const TreeAnswer>(*sample_);
  if (kind_ == IndexKind::kLine) {
    if (!LineAnswer::serves(*sample_, options)) {
      fail(ErrorCode::kInvalidArgument,
           "the line index is for one feature, naive or knn kernels and equal weights (index=auto "
           "takes one that fits)");
    }
    line_ = std::make_unique<const LineAnswer>(*sample_);
  }
  if (kind_ == IndexKind::kDense) {
    dense_ = std::make_unique<const DenseAnswer>(sample_);
    // Features out of reach of single precision: all rows one by one give the same answers.
    if (!dense_->serves(options)) {
      dense_.reset();
      kind_ = IndexKind::kBrute;
    }
  }
  if (kind_ == IndexKind::kBrute && MaskAnswer::serves(*sample_, options)) {
    masks_ = std::make_unique<const MaskAnswer>(*sample_, options);
  }
  query_cost_ = query_cost(kind_, *sample_, options);
}

std::size_t worthwhile_threads(std::size_t asked, double nanoseconds) {
  const double most = std::max(1.0, nanoseconds / kThreadWork);
  return static_cast<double>(asked) <= most ? asked : static_cast<std::size_t>(most);
}

Execution SnqIndex::with_worthwhile_threads(const Execution& how, std::size_t queries,
                                            std::size_t levels) const {
  const double query = query_cost_ + kLevel * static_cast<double>(levels);
  Execution within = how;
  within.threads = worthwhile_threads(thread_count(how), query * static_cast<double>(queries));
  return within;
}

void SnqIndex::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                       const Execution& asked, Prediction& result) const {
  const Execution how = with_worthwhile_threads(asked, z.rows(), levels.size());
  switch (kind_) {
    case IndexKind::kTree:
      return tree_->predict(z, levels, options, how, result);
    case IndexKind::kLine:
      return line_->predict(z, levels, options, how, result);
    case IndexKind::kDense:
      return parallel_blocks(how, z.rows(), kDenseQueries,
                             [&](std::size_t first, std::size_t last) {
                               dense_->predict(z, first, last, options, levels, result);
                             });
    default:
      if (masks_) return masks_->predict(z, levels, options, how, result);
      return predict_one_by_one(z, levels, options, how, result);
  }
}

void SnqIndex::predict_one_by_one(MatrixView z, std::span<const Level> levels,
                                  const SnqOptions& options, const Execution& how,
                                  Prediction& result) const {
  parallel_blocks(how, z.rows(), kBlockQueries, [&](std::size_t first, std::size_t last) {
    thread_local LocalSample::Scratch scratch;
    RankRule rule(options.ranks, levels);
    for (std::size_t i = first; i < last; ++i) {
      const double nearest = sample_->measure(z.row(i), scratch);
      if (!result.nearest.empty()) result.nearest[i] = nearest;
      const auto support = sample_->weigh(options, scratch);
      result.window_n[i] = support.effective_n;
      result.fallback[i] = support.fallback ? 1 : 0;
      sample_->quantiles(rule, scratch, result.quantiles.row(i));
    }
  });
}

}  // namespace tare

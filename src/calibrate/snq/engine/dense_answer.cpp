// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/dense_answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "calibrate/snq/engine/brute_answer.h"
#include "calibrate/snq/engine/dense_losses.h"
#include "calibrate/snq/window/rank_rule.h"
#include "index/dense/dense_weights.h"
#include "math/weighted_quantile.h"

namespace tare {
namespace {

// Blocks of queries that pass over the rows together, where rows come from far away. More take more
// memory, which a small job would touch for the first time.
constexpr std::size_t kQueryBlocks = 4;
// Up to here distances by differences are as quick as by the product, since the exponential takes
// longer than either.
constexpr std::size_t kFewDims = 8;
// The largest relative error of a weight that counts. Errors of different rows cancel, so that of a
// cumulative weight is far smaller.
constexpr double kWeightError = 1e-4;
// The same where the metric is chosen, for a query in the middle of the rows: leaves room for
// queries at the rim.
constexpr double kTypicalError = 5e-5;
// Rows whose weight is below exp(-12) of the largest do not count.
constexpr double kReachExponent = 12.0;
// A total below this would lose rows to underflow.
constexpr double kLeastTotal = 0x1.0p-30;

/// Bound on the relative error of the weights that count, for a query at `nearest` of its nearest
/// row.
double weight_error(const SnqOptions& options, DenseMetric metric, const DenseRows& rows,
                    double query_norm, double nearest) {
  const double h = options.bandwidth;
  const bool laplace = options.kernel == KernelKind::kLaplace;
  const double reach = laplace ? nearest + kReachExponent * h
                               : std::sqrt(nearest * nearest + 2.0 * kReachExponent * h * h);
  const double row_norm = std::min(query_norm + reach, rows.largest_norm());
  const DensePair pair{rows.dims(), query_norm, row_norm, std::min(reach, query_norm + row_norm)};
  return laplace ? dense_distance_error(metric, pair) / h
                 : dense_squared_error(metric, pair) / (2.0 * h * h);
}

}  // namespace

/// The memory of one thread, and the steps for a few blocks of queries.
class DenseAnswer::Work {
 public:
  Work(const DenseAnswer& answer, const SnqOptions& options, std::span<const Level> levels)
      : sample_(*answer.sample_),
        rows_(answer.rows_),
        options_(options),
        levels_(levels),
        curve_(dense_curve(options.kernel, options.bandwidth)),
        blocks_(answer.rows_.in_cache() ? 1 : kQueryBlocks,
                DenseQueries(answer.rows_, answer.metric(options))),
        sums_(blocks_.size()),
        rule_(options.ranks, levels),
        targets_(queries(), rule_.most_ranks()),
        places_(queries() * rule_.most_ranks()) {}

  /// That are answered at once.
  std::size_t queries() const noexcept { return blocks_.size() * kDenseBlock; }

  void answer(MatrixView z, std::size_t first, std::size_t last, Prediction& result) {
    const std::size_t used = (last - first + kDenseBlock - 1) / kDenseBlock;
    for (std::size_t i = first; i < last; ++i) {
      fits_[i - first] =
          blocks_[(i - first) / kDenseBlock].set((i - first) % kDenseBlock, z.row(i));
    }
    sum_dense_weights(rows_, {blocks_.data(), used}, curve_, {sums_.data(), used});
    find_places(last - first, used);
    for (std::size_t b = 0; b < used; ++b) {
      const std::size_t start = first + b * kDenseBlock;
      answer_block(z, start, std::min(last, start + kDenseBlock), b, result);
    }
  }

  std::size_t in_double() const noexcept { return in_double_; }

 private:
  bool good_enough(std::size_t block, std::size_t lane) const {
    const DenseSums& sums = sums_[block];
    if (!(sums.total(lane) >= kLeastTotal)) return false;
    const double nearest = std::sqrt(static_cast<double>(sums.nearest(lane)));
    return weight_error(options_, blocks_[block].metric(), rows_, blocks_[block].norm(lane),
                        nearest) <= kWeightError;
  }

  /// Every query of the block goes all the way: those that are not good enough are few, and are
  /// then answered again.
  void answer_block(MatrixView z, std::size_t first, std::size_t last, std::size_t block,
                    Prediction& result) {
    const std::span<const double> residuals = sample_.residuals();
    const bool diagnose = !result.nearest.empty();
    const auto nearest =
        diagnose ? exact_nearest(z, first, last, block) : std::array<double, kDenseBlock>{};
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t lane = i - first;
      const std::size_t query = block * kDenseBlock + lane;
      if (!fits_[query] || !good_enough(block, lane)) {
        from_sample(z.row(i), i, result);
        continue;
      }
      result.window_n[i] = effective_size(block, lane);
      const std::uint32_t* places = places_.data() + query * targets_.cols();
      const std::size_t needed = needed_targets(block, lane);
      values_.resize(needed);
      for (std::size_t j = 0; j < needed; ++j) values_[j] = residuals[places[j]];
      rule_.answer(values_, result.quantiles.row(i));
      if (diagnose) result.nearest[i] = nearest[lane];
      result.fallback[i] = 0;
    }
  }

  double effective_size(std::size_t block, std::size_t lane) const {
    const DenseSums& sums = sums_[block];
    return sums.total(lane) * (sums.total(lane) / sums.squares(lane));
  }

  /// Makes the rule ready for a query, and says how many of its targets it needs.
  std::size_t needed_targets(std::size_t block, std::size_t lane) {
    if (options_.ranks == Ranks::kPaper) return levels_.size();
    return rule_.targets(sums_[block].total(lane), effective_size(block, lane), WeightType::kReal)
        .size();
  }

  void find_places(std::size_t queries, std::size_t used) {
    for (std::size_t q = 0; q < queries; ++q) {
      const double total = sums_[q / kDenseBlock].total(q % kDenseBlock);
      const auto out = targets_.row(q);
      if (options_.ranks == Ranks::kPaper) {
        for (std::size_t j = 0; j < out.size(); ++j) {
          out[j] = levels_[j].value() * (total * (1.0 - kTieSlack));
        }
        continue;
      }
      const auto needed =
          rule_.targets(total, effective_size(q / kDenseBlock, q % kDenseBlock), WeightType::kReal);
      // Windows need different numbers of them: the last one fills the row.
      std::ranges::copy(needed, out.begin());
      std::fill(out.begin() + static_cast<std::ptrdiff_t>(needed.size()), out.end(), needed.back());
    }
    dense_places(rows_, {blocks_.data(), used}, curve_, {sums_.data(), used},
                 targets_.view().middle_rows(0, queries), places_);
  }

  void from_sample(std::span<const double> query, std::size_t i, Prediction& result) {
    ++in_double_;
    answer_in_double(sample_, query, i, options_, rule_, result);
  }

  /// Distances to the nearest rows in double precision, over the chunks that may hold one.
  std::array<double, kDenseBlock> exact_nearest(MatrixView z, std::size_t first, std::size_t last,
                                                std::size_t block) const {
    const DenseSums& sums = sums_[block];
    std::array<double, kDenseBlock> best{};   // squared
    std::array<double, kDenseBlock> error{};  // of single precision
    std::array<float, kDenseBlock> limit;     // no chunk beyond it is looked at
    limit.fill(-1.0F);
    const auto set_limit = [&](std::size_t lane) {
      const double farthest = best[lane] > 0.0 ? best[lane] + error[lane] : -1.0;
      limit[lane] = static_cast<float>(farthest * (1.0 + 1e-6));
    };
    for (std::size_t lane = 0; lane < last - first; ++lane) {
      if (!fits_[block * kDenseBlock + lane] || !good_enough(block, lane)) continue;
      const double least = static_cast<double>(sums.nearest(lane));
      const double norm = blocks_[block].norm(lane);
      // Well above the true distance of the row that looks nearest, whatever the rounding.
      const double reach = 2.0 * std::sqrt(least) + 0.1 * norm;
      error[lane] =
          dense_squared_error(blocks_[block].metric(), {rows_.dims(), norm, norm + reach, reach});
      best[lane] = least + 2.0 * error[lane];
      set_limit(lane);
    }
    for (std::size_t chunk = 0; chunk < rows_.chunks(); ++chunk) {
      const auto nearest = sums.chunk_nearest(chunk);
      int near = 0;
      for (std::size_t lane = 0; lane < kDenseBlock; ++lane) near |= nearest[lane] <= limit[lane];
      if (near == 0) continue;
      for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
        if (nearest[lane] > limit[lane]) continue;
        best[lane] = std::min(best[lane], nearest_in_chunk(z.row(first + lane), chunk));
        set_limit(lane);
      }
    }
    for (double& value : best) value = std::sqrt(value);
    return best;
  }

  /// The additions of BruteForce, in its order, so that the distance is the same to the bit.
  double nearest_in_chunk(std::span<const double> query, std::size_t chunk) const {
    const std::span<const double> columns = sample_.features().columns();
    const std::size_t first = chunk * kDenseChunk;
    const std::size_t count = std::min(kDenseChunk, rows_.rows() - first);
    std::array<double, kDenseChunk> squared{};
    for (std::size_t j = 0; j < query.size(); ++j) {
      const double* column = columns.data() + j * rows_.rows() + first;
      for (std::size_t r = 0; r < count; ++r) {
        const double difference = column[r] - query[j];
        squared[r] += difference * difference;
      }
    }
    return *std::min_element(squared.begin(), squared.begin() + static_cast<std::ptrdiff_t>(count));
  }

  const LocalSample& sample_;
  const DenseRows& rows_;
  const SnqOptions& options_;
  std::span<const Level> levels_;
  DenseCurve curve_;
  std::vector<DenseQueries> blocks_;
  std::vector<DenseSums> sums_;
  RankRule rule_;
  Matrix targets_;                     // (query, what the rule needs)
  std::vector<std::uint32_t> places_;  // of targets_
  std::vector<double> values_;
  std::array<bool, kQueryBlocks * kDenseBlock> fits_{};
  std::size_t in_double_ = 0;
};

DenseAnswer::DenseAnswer(std::shared_ptr<const LocalSample> sample)
    : sample_(std::move(sample)),
      rows_(sample_->features().columns(), sample_->rows(), sample_->dims(), sample_->weights()) {}

namespace {

constexpr RowCost kDenseRow{0.35, 0.025};
constexpr std::size_t kDenseQueries = 512;  // that a thread takes at a time
constexpr std::size_t kRowsForDenseLosses =
    1'000;  // from here on one sweep for all bandwidths pays

double dense_cost(const LocalSample& sample) {
  return static_cast<double>(sample.rows()) * kDenseRow(static_cast<double>(sample.dims()));
}

bool reaches_everywhere(KernelKind kernel) {
  return kernel == KernelKind::kGaussian || kernel == KernelKind::kLaplace;
}

std::unique_ptr<const SnqEngine> make_dense(const std::shared_ptr<const LocalSample>& sample,
                                            const SnqOptions& options) {
  auto engine = std::make_unique<const DenseAnswer>(sample);
  // Features out of reach of single precision.
  if (!engine->serves(options)) return nullptr;
  return engine;
}

std::optional<Matrix> try_dense_losses(const LocalSample& sample, const SnqOptions& options,
                                       std::span<const double> bandwidths,
                                       std::span<const std::size_t> places, const Execution& how) {
  if (sample.rows() < kRowsForDenseLosses || options.kernel == KernelKind::kKnn) {
    return std::nullopt;
  }
  const DenseRows rows(sample.features().columns(), sample.rows(), sample.dims(), sample.weights());
  if (!dense_losses_serve(rows, options.kernel, bandwidths)) return std::nullopt;
  return dense_losses(sample, rows, options, bandwidths, places, how);
}

}  // namespace

SnqEngineInfo DenseAnswer::info() {
  return {.name = "dense",
          .made_for = "gaussian and laplace kernels",
          .takes_kernel = reaches_everywhere,
          .serves = [](const LocalSample&,
                       const SnqOptions& options) { return reaches_everywhere(options.kernel); },
          .cost = [](const LocalSample& sample, const SnqOptions&) { return dense_cost(sample); },
          .make = make_dense,
          .losses = try_dense_losses};
}

double DenseAnswer::query_cost() const { return dense_cost(*sample_); }

void DenseAnswer::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                          const Execution& how, Prediction& result) const {
  parallel_blocks(how, z.rows(), kDenseQueries, [&](std::size_t first, std::size_t last) {
    predict(z, first, last, options, levels, result);
  });
}

bool DenseAnswer::serves(const SnqOptions& options) const {
  return rows_.usable() &&
         (options.kernel == KernelKind::kGaussian || options.kernel == KernelKind::kLaplace) &&
         options.bandwidth >= kNarrowestDense && options.bandwidth <= kWidestDense;
}

DenseMetric DenseAnswer::metric(const SnqOptions& options) const {
  const auto good_enough = [&](DenseMetric metric) {
    return weight_error(options, metric, rows_, rows_.typical_norm(), options.bandwidth) <=
           kTypicalError;
  };
  const bool product = rows_.dims() > kFewDims && options.kernel == KernelKind::kGaussian;
  if (product && good_enough(DenseMetric::kProduct)) return DenseMetric::kProduct;
  return good_enough(DenseMetric::kDifferences) ? DenseMetric::kDifferences : DenseMetric::kSplit;
}

std::size_t DenseAnswer::predict(MatrixView z, std::size_t first, std::size_t last,
                                 const SnqOptions& options, std::span<const Level> ascending,
                                 Prediction& result) const {
  Work work(*this, options, ascending);
  for (std::size_t i = first; i < last; i += work.queries()) {
    work.answer(z, i, std::min(last, i + work.queries()), result);
  }
  return work.in_double();
}

}  // namespace tare

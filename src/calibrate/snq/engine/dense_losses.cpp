// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/dense_losses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/cache_aligned.h"
#include "base/parallel.h"
#include "math/kernel.h"
#include "math/pinball.h"
#include "math/weighted_quantile.h"

namespace tare {
namespace {

constexpr std::size_t kChunkPairs = kDenseChunk * kDenseBlock;
// A shift of rows by this many bandwidths changes a loss by less than its own noise.
constexpr double kLargestBlur = 1e-4;
// Totals below this, where the largest weight is 1, come from rows on the rim of a window or of
// tiny sample weight: floats do not resolve them.
constexpr double kLeastSweepTotal = 1e-3;
// The logarithm of the share of the largest weight below which LocalSample ignores a row.
constexpr double kLogReach = -322.36;  // ln 1e-140

/// Distances are a small part of the sweep: nothing is gained by the product.
DenseMetric sweep_metric(const DenseRows& rows, std::span<const double> bandwidths) {
  constexpr double kLargestMove = 1e-6;
  const double narrowest = *std::min_element(bandwidths.begin(), bandwidths.end());
  const double norm = rows.typical_norm();
  const double move =
      dense_distance_error(DenseMetric::kDifferences, {rows.dims(), norm, norm, 0.0});
  return move <= kLargestMove * narrowest ? DenseMetric::kDifferences : DenseMetric::kSplit;
}

/// The losses of one left-out row on the sample itself, in double precision.
class ExactLosses {
 public:
  ExactLosses(const LocalSample& sample, const SnqOptions& options, std::span<const Level> levels,
              std::size_t place)
      : sample_(sample), options_(options), levels_(levels), place_(place) {}

  double at(double bandwidth) {
    prepare();
    SnqOptions trial = options_;
    trial.bandwidth = bandwidth;
    sample_.weigh(trial, scratch());
    return mean_loss();
  }

 private:
  static LocalSample::Scratch& scratch() {
    thread_local LocalSample::Scratch memory;
    return memory;
  }

  void prepare() {
    if (prepared_) return;
    prepared_ = true;
    sample_.measure(sample_.features().row(place_), scratch());
    sample_.leave_out(place_, scratch());
  }

  double mean_loss() const {
    thread_local std::vector<double> quantiles;
    quantiles.resize(levels_.size());
    sample_.quantiles(levels_, scratch(), quantiles);
    double loss = 0.0;
    for (std::size_t j = 0; j < levels_.size(); ++j) {
      loss += pinball_of_error(sample_.residuals()[place_] - quantiles[j], levels_[j].value());
    }
    return loss / static_cast<double>(levels_.size());
  }

  const LocalSample& sample_;
  const SnqOptions& options_;
  std::span<const Level> levels_;
  std::size_t place_;
  bool prepared_ = false;
};

/// A block of left-out rows: the memory of one thread and the steps of the sweep.
class SweepBlock {
 public:
  SweepBlock(const LocalSample& sample, const DenseRows& rows, const SnqOptions& options,
             std::span<const double> bandwidths, std::span<const Level> levels)
      : sample_(sample),
        rows_(rows),
        options_(options),
        bandwidths_(bandwidths),
        levels_(levels),
        queries_(rows, sweep_metric(rows, bandwidths)),
        distances_(rows.chunks() * kChunkPairs),
        own_(rows.chunks() * kDenseChunk),
        sums_(bandwidths.size() * rows.chunks() * kDenseBlock),
        by_lane_(sums_.size()),
        totals_(bandwidths.size() * kDenseBlock),
        targets_(levels.size()),
        found_(levels.size()) {
    for (const double h : bandwidths) curves_.push_back(dense_curve(options.kernel, h));
    exponential_ =
        options.kernel == KernelKind::kGaussian || options.kernel == KernelKind::kLaplace;
    counts_ = options.kernel == KernelKind::kNaive && sample.weights().empty();
  }

  /// Losses of places[p] go to row first + p.
  void run(std::span<const std::size_t> places, std::size_t first, Matrix& losses) {
    for (std::size_t lane = 0; lane < places.size(); ++lane) {
      queries_.set(lane, sample_.features().row(places[lane]));
    }
    measure(places);
    add_up();
    for (std::size_t lane = 0; lane < places.size(); ++lane) {
      lose(places[lane], lane, losses.row(first + lane));
    }
  }

 private:
  /// Distances of all pairs, without those of a left-out row to itself, and the smallest.
  void measure(std::span<const std::size_t> places) {
    constexpr float kNever = std::numeric_limits<float>::infinity();
    for (std::size_t chunk = 0; chunk < rows_.chunks(); ++chunk) {
      dense_chunk_distances(rows_.view(), queries_.view(), chunk, options_.kernel,
                            distances_.data() + chunk * kChunkPairs);
    }
    for (std::size_t lane = 0; lane < places.size(); ++lane) {
      distances_[places[lane] * kDenseBlock + lane] = kNever;
    }
    // Exponential weights are taken relative to that of the nearest row: they never underflow.
    shifts_.fill(exponential_ ? kNever : 0.0F);
    for (std::size_t row = 0; row < rows_.rows() && exponential_; ++row) {
      const float* distance = distances_.data() + row * kDenseBlock;
      for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
        shifts_[lane] = distance[lane] < shifts_[lane] ? distance[lane] : shifts_[lane];
      }
    }
  }

  void add_up() {
    const std::size_t chunks = rows_.chunks();
    const float* weights = rows_.view().weights;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      dense_sweep_sums(curves_, distances_.data() + chunk * kChunkPairs, shifts_.data(),
                       weights == nullptr ? nullptr : weights + chunk * kDenseChunk,
                       chunks * kDenseBlock, sums_.data() + chunk * kDenseBlock);
    }
    for (std::size_t b = 0; b < curves_.size(); ++b) {
      double* totals = totals_.data() + b * kDenseBlock;
      std::fill(totals, totals + kDenseBlock, 0.0);
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const float* sums = sums_.data() + (b * chunks + chunk) * kDenseBlock;
        for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
          totals[lane] += static_cast<double>(sums[lane]);
        }
      }
    }
    sort_by_lane();
  }

  /// In steps of a cache line, whole on both sides.
  void sort_by_lane() {
    constexpr std::size_t kStep = 16;
    const std::size_t chunks = rows_.chunks();
    for (std::size_t b = 0; b < curves_.size(); ++b) {
      const float* sums = sums_.data() + b * chunks * kDenseBlock;
      for (std::size_t first = 0; first < chunks; first += kStep) {
        const std::size_t last = std::min(chunks, first + kStep);
        for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
          float* out = by_lane_.data() + (lane * curves_.size() + b) * chunks;
          for (std::size_t chunk = first; chunk < last; ++chunk) {
            out[chunk] = sums[chunk * kDenseBlock + lane];
          }
        }
      }
    }
  }

  void lose(std::size_t place, std::size_t lane, std::span<double> losses) {
    ExactLosses exact(sample_, options_, levels_, place);
    dense_row_distances(rows_.view(), queries_.view(), lane, {0, rows_.chunks()}, options_.kernel,
                        own_.data());
    own_[place] = std::numeric_limits<float>::infinity();
    double fallback = -1.0;  // the same for all bandwidths without support; not known yet
    for (std::size_t b = 0; b < bandwidths_.size(); ++b) {
      const double total = totals_[b * kDenseBlock + lane];
      if (out_of_reach(b, lane, total)) {
        if (fallback < 0.0) {
          fallback =
              window_found_quickly() ? nearest_window_loss(place, lane) : exact.at(bandwidths_[b]);
        }
        losses[b] = fallback;
      } else if (total < kLeastSweepTotal || blurred(b, lane)) {
        losses[b] = exact.at(bandwidths_[b]);
      } else {
        losses[b] = walk(b, lane, total, sample_.residuals()[place]);
      }
    }
  }

  bool window_found_quickly() const {
    return options_.fallback == Fallback::kNearest && sample_.weights().empty() &&
           options_.min_support < rows_.chunks();
  }

  /// The loss of the window of the nearest min_support rows.
  double nearest_window_loss(std::size_t place, std::size_t lane) {
    find_nearest(place, lane);
    weights_.assign(window_.size(), 1.0);
    sum_weights(weights_, weight_sums_);
    window_places_.resize(levels_.size());
    weighted_quantile_places(weights_, weight_sums_, WeightType::kWhole, levels_, window_places_);
    double loss = 0.0;
    for (std::size_t j = 0; j < levels_.size(); ++j) {
      const double quantile = sample_.residuals()[window_[window_places_[j]]];
      loss += pinball_of_error(sample_.residuals()[place] - quantile, levels_[j].value());
    }
    return loss / static_cast<double>(levels_.size());
  }

  /// Fills window_ with the nearest min_support rows and those as far as the last of them. That
  /// many chunks have a row no farther than the limit, so the window lies within it.
  void find_nearest(std::size_t place, std::size_t lane) {
    minima_.resize(rows_.chunks());
    for (std::size_t chunk = 0; chunk < rows_.chunks(); ++chunk) {
      const float* own = own_.data() + chunk * kDenseChunk;
      minima_[chunk] = *std::min_element(own, own + kDenseChunk);
    }
    selection_ = minima_;
    const auto kth = static_cast<std::ptrdiff_t>(options_.min_support - 1);
    std::nth_element(selection_.begin(), selection_.begin() + kth, selection_.end());
    const float limit = with_rounding(selection_[options_.min_support - 1], lane);
    window_.clear();
    squared_.clear();
    for (std::size_t chunk = 0; chunk < rows_.chunks(); ++chunk) {
      if (minima_[chunk] > limit) continue;
      for (std::size_t i = chunk * kDenseChunk; i < (chunk + 1) * kDenseChunk; ++i) {
        if (own_[i] > limit) continue;
        window_.push_back(i);
        squared_.push_back(squared_distance(i, place));
      }
    }
    keep_nearest();
  }

  /// A limit that no row at the true distance `limit` or less exceeds, nor one that looks as near.
  float with_rounding(float limit, std::size_t lane) const {
    const double norm = queries_.norm(lane);
    const bool root = dense_takes_root(options_.kernel);
    const auto value = static_cast<double>(limit);
    const double distance = 1.01 * (root ? value : std::sqrt(value));
    const DensePair pair{rows_.dims(), norm, norm + distance, distance};
    const double error = root ? dense_distance_error(queries_.metric(), pair)
                              : dense_squared_error(queries_.metric(), pair);
    return static_cast<float>((value + 2.0 * error) * (1.0 + 1e-6));
  }

  double squared_distance(std::size_t one, std::size_t other) const {
    const double* column = sample_.features().columns().data();
    double sum = 0.0;
    for (std::size_t j = 0; j < rows_.dims(); ++j, column += rows_.rows()) {
      sum += (column[one] - column[other]) * (column[one] - column[other]);
    }
    return sum;
  }

  void keep_nearest() {
    std::vector<double> sorted = squared_;
    const auto kth = static_cast<std::ptrdiff_t>(options_.min_support - 1);
    std::nth_element(sorted.begin(), sorted.begin() + kth, sorted.end());
    const double reach = tied_reach(sorted[options_.min_support - 1], options_.tie_tolerance);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < window_.size(); ++i) {
      if (squared_[i] <= reach) window_[kept++] = window_[i];
    }
    window_.resize(kept);
  }

  bool out_of_reach(std::size_t b, std::size_t lane, double total) const {
    if (!exponential_) return total <= 0.0;
    const double h = bandwidths_[b];
    const double nearest = static_cast<double>(shifts_[lane]);
    const double exponent =
        options_.kernel == KernelKind::kLaplace ? nearest / h : nearest / (2.0 * h * h);
    return std::log(total) - exponent <= kLogReach;
  }

  bool blurred(std::size_t b, std::size_t lane) const {
    const double h = bandwidths_[b];
    const double norm = queries_.norm(lane);
    const double row_norm = std::min(norm + h, rows_.largest_norm());
    return dense_distance_error(queries_.metric(), {rows_.dims(), norm, row_norm, h}) >
           kLargestBlur * h;
  }

  void set_targets(double total) {
    for (std::size_t j = 0; j < levels_.size(); ++j) {
      targets_[j] = counts_
                        ? static_cast<double>(levels_[j].rank(static_cast<std::uint64_t>(total)))
                        : levels_[j].value() * total * (1.0 - kTieSlack);
    }
  }

  /// A chunk into which some levels fall.
  struct Hit {
    std::size_t chunk;
    double before;  // the weight of all chunks before
    std::size_t first_level;
    std::size_t last_level;
  };

  /// The mean loss of all levels. First all chunks are found, then all are looked into: where the
  /// next one is cannot be foreseen, and the processor would wait for it each time.
  double walk(std::size_t b, std::size_t lane, double total, double u) {
    set_targets(total);
    find_hits(b, lane);
    double loss = 0.0;
    for (const Hit& hit : hits_) loss += chunk_loss(curves_[b], lane, hit, u);
    return loss / static_cast<double>(levels_.size());
  }

  void find_hits(std::size_t b, std::size_t lane) {
    const std::size_t chunks = rows_.chunks();
    const float* sums = by_lane_.data() + (lane * curves_.size() + b) * chunks;
    hits_.clear();
    double before = 0.0;
    std::size_t level = 0;
    for (std::size_t chunk = 0; chunk < chunks && level < levels_.size(); ++chunk) {
      const double after = before + static_cast<double>(sums[chunk]);
      if (after >= targets_[level]) {
        std::size_t end = level + 1;
        while (end < levels_.size() && targets_[end] <= after) ++end;
        hits_.push_back({chunk, before, level, end});
        level = end;
      }
      before = after;
    }
  }

  /// The sum of the losses of levels that fall into one chunk.
  double chunk_loss(DenseCurve curve, std::size_t lane, const Hit& hit, double u) {
    const float* weights = rows_.view().weights;
    const std::size_t first_row = hit.chunk * kDenseChunk;
    std::array<float, kDenseChunk> weight;
    dense_row_weights(curve, own_.data() + first_row, shifts_[lane],
                      weights == nullptr ? nullptr : weights + first_row, weight.data());
    const std::size_t count = hit.last_level - hit.first_level;
    dense_row_places(weight.data(), hit.before, std::span(targets_).subspan(hit.first_level, count),
                     found_.data());
    double loss = 0.0;
    for (std::size_t j = 0; j < count; ++j) {
      const double error = u - sample_.residuals()[first_row + found_[j]];
      loss += pinball_of_error(error, levels_[hit.first_level + j].value());
    }
    return loss;
  }

  const LocalSample& sample_;
  const DenseRows& rows_;
  const SnqOptions& options_;
  std::span<const double> bandwidths_;
  std::span<const Level> levels_;
  DenseQueries queries_;
  std::vector<DenseCurve> curves_;
  bool exponential_ = false;
  bool counts_ = false;             // every weight is 0 or 1
  AlignedVector<float> distances_;  // [row][lane], squared for kernels of squares
  AlignedVector<float> own_;        // of one lane
  AlignedVector<float> sums_;       // [bandwidth][chunk][lane]
  std::vector<float> by_lane_;      // [lane][bandwidth][chunk]
  std::vector<double> totals_;      // [bandwidth][lane]
  std::vector<double> targets_;
  std::vector<Hit> hits_;
  std::vector<std::size_t> found_;  // places of targets in a chunk
  std::vector<float> minima_;       // of own_, by chunk
  std::vector<float> selection_;
  std::vector<std::size_t> window_;  // nearest rows, ascending
  std::vector<double> squared_;      // their squared distances
  std::vector<double> weights_;
  WeightSums weight_sums_;
  std::vector<std::size_t> window_places_;
  alignas(64) std::array<float, kDenseBlock> shifts_{};
};

}  // namespace

bool dense_losses_serve(const DenseRows& rows, KernelKind kernel,
                        std::span<const double> bandwidths) {
  return rows.usable() && kernel != KernelKind::kKnn &&
         std::all_of(bandwidths.begin(), bandwidths.end(),
                     [](double h) { return h >= kNarrowestDense && h <= kWidestDense; });
}

Matrix dense_losses(const LocalSample& sample, const DenseRows& rows, const SnqOptions& options,
                    std::span<const double> bandwidths, std::span<const std::size_t> places,
                    const Execution& how) {
  const std::vector<Level> levels = metric_levels();
  Matrix losses(places.size(), bandwidths.size());
  if (bandwidths.empty()) return losses;
  // Several blocks per piece of work share its memory.
  constexpr std::size_t kPiece = 8 * kDenseBlock;
  parallel_blocks(how, places.size(), kPiece, [&](std::size_t first, std::size_t last) {
    SweepBlock block(sample, rows, options, bandwidths, levels);
    for (std::size_t p = first; p < last; p += kDenseBlock) {
      block.run(places.subspan(p, std::min(kDenseBlock, last - p)), p, losses);
    }
  });
  return losses;
}

}  // namespace tare

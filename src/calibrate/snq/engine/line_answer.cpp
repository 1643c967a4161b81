// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/line_answer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "calibrate/snq/engine/line_losses.h"
#include "calibrate/snq/engine/sorted_line.h"
#include "calibrate/snq/window/rank_rule.h"

namespace tare {
namespace {

constexpr std::size_t kLineBlock = 256;      // queries that a thread takes at a time
constexpr std::uint32_t kSmallWindow = 300;  // rows that are sorted faster than looked up
// A row enters and leaves in the time that a sweep saves with half a quantile.
constexpr std::size_t kRowsOfQuantile = 2;
constexpr std::size_t kSweeps = 4;  // of a thread, so that none waits long for another

/// Queries in the order of the line.
std::vector<std::uint32_t> sorted_queries(MatrixView z) {
  std::vector<std::uint32_t> queries(z.rows());
  std::iota(queries.begin(), queries.end(), 0U);
  std::ranges::sort(queries, {}, [&](std::uint32_t i) { return std::pair(z(i, 0), i); });
  return queries;
}

}  // namespace

struct LineAnswer::Memory {
  RankRule rule;
  RankBlocks::Scratch scratch;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> sorted;
  std::vector<double> values;

  /// The quantiles, once there are places.
  void answer(std::span<const double> residuals, std::span<double> out) {
    values.resize(places.size());
    for (std::size_t j = 0; j < places.size(); ++j) values[j] = residuals[places[j]];
    rule.answer(values, out);
  }
};

LineAnswer::LineAnswer(const LocalSample& sample)
    : sample_(sample), line_(sample.features().columns()) {
  assert(sample.dims() == 1 && sample.weights().empty() && "the line is for one feature");
}

const RankBlocks& LineAnswer::ranks() const {
  std::call_once(once_, [&] { ranks_ = RankBlocks(line_.positions()); });
  return ranks_;
}

SnqEngineInfo LineAnswer::info() {
  return {.name = "line",
          .made_for = "one feature, naive or knn kernels and equal weights",
          .takes_kernel =
              [](KernelKind kernel) {
                return kernel == KernelKind::kNaive || kernel == KernelKind::kKnn;
              },
          .serves = serves,
          .cost = [](const LocalSample&, const SnqOptions&) { return 0.0; },  // none is faster
          .make = [](const std::shared_ptr<const LocalSample>& sample,
                     const SnqOptions&) -> std::unique_ptr<const SnqEngine> {
            return std::make_unique<const LineAnswer>(*sample);
          },
          .losses = [](const LocalSample& sample, const SnqOptions& options,
                       std::span<const double> bandwidths, std::span<const std::size_t> places,
                       const Execution& how) -> std::optional<Matrix> {
            if (!line_losses_serve(sample, options)) return std::nullopt;
            return line_losses(sample, options, bandwidths, places, how);
          }};
}

bool LineAnswer::serves(const LocalSample& sample, const SnqOptions& options) {
  return sample.dims() == 1 && sample.weights().empty() && !std::isinf(options.bandwidth) &&
         (options.kernel == KernelKind::kNaive || options.kernel == KernelKind::kKnn);
}

void LineAnswer::select(const SortedLine::Window& window, Memory& memory,
                        std::span<double> out) const {
  const std::uint32_t count = window.rows();
  const auto ranks_wanted = memory.rule.ranks(count);
  memory.places.resize(ranks_wanted.size());
  if (count < kSmallWindow) {
    const auto rows = line_.places().subspan(window.first, count);
    memory.sorted.assign(rows.begin(), rows.end());
    std::sort(memory.sorted.begin(), memory.sorted.end());
    for (std::size_t j = 0; j < ranks_wanted.size(); ++j) {
      memory.places[j] = memory.sorted[ranks_wanted[j] - 1];
    }
  } else {
    ranks().select(window.first, window.last, ranks_wanted, memory.scratch, memory.places);
  }
  memory.answer(sample_.residuals(), out);
}

/// The rows that answer a query; says in `result` all but its quantiles.
SortedLine::Window LineAnswer::window_of(double z, const SnqOptions& options,
                                         const SortedLine::Window& guess, std::size_t row,
                                         Prediction& result) const {
  SortedLine::Window window = options.kernel == KernelKind::kKnn
                                  ? line_.nearest(z, static_cast<std::size_t>(options.bandwidth),
                                                  options.tie_tolerance, guess)
                                  : line_.within(z, options.bandwidth * options.bandwidth, guess);
  const bool alone = window.rows() == 0;
  if (alone) {
    window = line_.nearest(
        z, options.fallback == Fallback::kMarginal ? line_.rows() : options.min_support,
        options.tie_tolerance, guess);
  }
  result.fallback[row] = alone ? 1 : 0;
  result.window_n[row] = static_cast<double>(window.rows());
  if (!result.nearest.empty()) {
    result.nearest[row] = std::sqrt(line_.squared(z, line_.nearest(z, 1, 0.0, guess).first));
  }
  return window;
}

void LineAnswer::sweep(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                       const Execution& how, Prediction& result) const {
  const auto queries = sorted_queries(z);
  // Each sweep begins with all rows of its first window.
  const std::size_t least = std::min(kLineBlock, line_.rows() / (levels.size() + 1) + 1);
  const std::size_t block = std::max(least, z.rows() / (kSweeps * thread_count(how)) + 1);
  parallel_blocks(how, z.rows(), block, [&](std::size_t first, std::size_t last) {
    LineSweep sweep(line_);
    Memory memory;
    memory.rule.start(options.ranks, levels);
    for (std::size_t k = first; k < last; ++k) {
      const std::uint32_t row = queries[k];
      sweep.move_to(window_of(z(row, 0), options, sweep.window(), row, result));
      const auto ranks = memory.rule.ranks(sweep.rows());
      memory.places.resize(ranks.size());
      sweep.select(ranks, memory.places);
      memory.answer(sample_.residuals(), result.quantiles.row(row));
    }
  });
}

void LineAnswer::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                         const Execution& how, Prediction& result) const {
  if (z.rows() * levels.size() * kRowsOfQuantile >= line_.rows()) {
    return sweep(z, levels, options, how, result);
  }
  parallel_blocks(how, z.rows(), kLineBlock, [&](std::size_t first, std::size_t last) {
    thread_local Memory memory;
    memory.rule.start(options.ranks, levels);
    for (std::size_t i = first; i < last; ++i) {
      const SortedLine::Window middle{line_.all().last / 2, line_.all().last / 2};
      select(window_of(z(i, 0), options, middle, i, result), memory, result.quantiles.row(i));
    }
  });
}

}  // namespace tare

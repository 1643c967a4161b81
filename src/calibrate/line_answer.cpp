// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/line_answer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "base/parallel.h"

namespace tare {
namespace {

constexpr std::size_t kLineBlock = 256;      // queries that a thread takes at a time
constexpr std::uint32_t kSmallWindow = 300;  // rows that are sorted faster than looked up

/// Where each place stands on the sorted line; places break ties.
std::vector<std::uint32_t> line_positions(std::span<const double> feature) {
  std::vector<std::uint32_t> places(feature.size());
  std::iota(places.begin(), places.end(), 0U);
  std::stable_sort(places.begin(), places.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return feature[a] < feature[b]; });
  std::vector<std::uint32_t> positions(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    positions[places[i]] = static_cast<std::uint32_t>(i);
  }
  return positions;
}

}  // namespace

struct LineAnswer::Memory {
  RankBlocks::Scratch scratch;
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> sorted;
};

LineAnswer::LineAnswer(const LocalSample& sample)
    : sample_(sample),
      line_(sample.features().columns().begin(), sample.features().columns().end()),
      ranks_(line_positions(sample.features().columns())) {
  assert(sample.dims() == 1 && sample.weights().empty() && "the line is for one feature");
  std::sort(line_.begin(), line_.end());
}

bool LineAnswer::serves(const LocalSample& sample, const SnqOptions& options) {
  return sample.dims() == 1 && sample.weights().empty() && !std::isinf(options.bandwidth) &&
         (options.kernel == KernelKind::kNaive || options.kernel == KernelKind::kKnn);
}

double LineAnswer::squared(double z, std::size_t position) const {
  const double difference = line_[position] - z;
  return std::min(difference * difference, LocalSample::kFarthestRow);
}

LineAnswer::Window LineAnswer::within(double z, double reach2) const {
  // Squares fall up to z and rise from there, rounded or not.
  const auto middle =
      static_cast<std::size_t>(std::lower_bound(line_.begin(), line_.end(), z) - line_.begin());
  const auto first_where = [&](std::size_t low, std::size_t high, auto holds) {
    while (low < high) {
      const std::size_t at = low + (high - low) / 2;
      if (holds(at)) {
        high = at;
      } else {
        low = at + 1;
      }
    }
    return static_cast<std::uint32_t>(low);
  };
  return {first_where(0, middle, [&](std::size_t i) { return squared(z, i) <= reach2; }),
          first_where(middle, line_.size(), [&](std::size_t i) { return squared(z, i) > reach2; })};
}

LineAnswer::Window LineAnswer::nearest(double z, std::size_t count) const {
  const std::size_t wanted = std::min(count, line_.size());
  std::size_t low = 0;
  std::size_t high = line_.size() - wanted;
  while (low < high) {
    const std::size_t at = low + (high - low) / 2;
    // Moving on drops the row at `at` for the one at `at + wanted`.
    const bool nearer = line_[at + wanted] <= z || squared(z, at) > squared(z, at + wanted);
    if (line_[at] < z && nearer) {
      low = at + 1;
    } else {
      high = at;
    }
  }
  const double reach2 = std::max(squared(z, low), squared(z, low + wanted - 1));
  return within(z, reach2);
}

void LineAnswer::select(const Window& window, std::span<const Level> levels, Memory& memory,
                        std::span<double> out) const {
  const std::uint32_t count = window.last - window.first;
  memory.ranks.resize(levels.size());
  memory.places.resize(levels.size());
  for (std::size_t j = 0; j < levels.size(); ++j) {
    memory.ranks[j] = static_cast<std::uint32_t>(levels[j].rank(count));
  }
  if (count < kSmallWindow) {
    const auto rows = ranks_.places().subspan(window.first, count);
    memory.sorted.assign(rows.begin(), rows.end());
    std::sort(memory.sorted.begin(), memory.sorted.end());
    for (std::size_t j = 0; j < levels.size(); ++j) {
      memory.places[j] = memory.sorted[memory.ranks[j] - 1];
    }
  } else {
    ranks_.select(window.first, window.last, memory.ranks, memory.scratch, memory.places);
  }
  for (std::size_t j = 0; j < levels.size(); ++j) out[j] = sample_.residuals()[memory.places[j]];
}

void LineAnswer::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                         const Execution& how, Prediction& result) const {
  const double reach2 = options.bandwidth * options.bandwidth;
  const bool knn = options.kernel == KernelKind::kKnn;
  parallel_blocks(how, z.rows(), kLineBlock, [&](std::size_t first, std::size_t last) {
    thread_local Memory memory;
    for (std::size_t i = first; i < last; ++i) {
      const double at = z(i, 0);
      Window window =
          knn ? nearest(at, static_cast<std::size_t>(options.bandwidth)) : within(at, reach2);
      const bool alone = window.first == window.last;
      if (alone) {
        window = nearest(
            at, options.fallback == Fallback::kMarginal ? line_.size() : options.min_support);
      }
      result.fallback[i] = alone ? 1 : 0;
      result.effective_n[i] = static_cast<double>(window.last - window.first);
      if (!result.nearest.empty()) {
        const Window closest = nearest(at, 1);
        result.nearest[i] = std::sqrt(squared(at, closest.first));
      }
      select(window, levels, memory, result.quantiles.row(i));
    }
  });
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "index/dense/dense_weights.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <numeric>

namespace tare {
namespace {

// Chunks of rows that stay in the first-level cache while all blocks of queries pass over them.
constexpr std::size_t kRowBlockBytes = 16 * 1024;

}  // namespace

void DenseSums::start(std::size_t chunks) {
  chunks_ = chunks;
  sums_.resize(chunks * kDenseBlock);
  nearest_.resize(chunks * kDenseBlock);
  squares_.fill(0.0);
}

void DenseSums::finish() {
  total_.fill(0.0);
  least_.fill(std::numeric_limits<float>::infinity());
  for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
    const float* sums = sums_.data() + chunk * kDenseBlock;
    const float* nearest = nearest_.data() + chunk * kDenseBlock;
    for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
      total_[lane] += static_cast<double>(sums[lane]);
      least_[lane] = nearest[lane] < least_[lane] ? nearest[lane] : least_[lane];
    }
  }
}

void DenseSums::cumulate(std::size_t lane, const std::array<double*, kAtOnce>& after) const {
  std::array<double, kAtOnce> sum{};
  for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
    const float* sums = sums_.data() + chunk * kDenseBlock + lane;
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      sum[k] += static_cast<double>(sums[k]);
      after[k][chunk] = sum[k];
    }
  }
}

void sum_dense_weights(const DenseRows& rows, std::span<const DenseQueries> blocks,
                       DenseCurve curve, std::span<DenseSums> out) {
  assert(rows.usable() && blocks.size() == out.size());
  const std::size_t chunks = rows.chunks();
  const std::size_t chunk_bytes = kDenseChunk * rows.dims() * sizeof(float);
  const std::size_t step = std::max<std::size_t>(1, kRowBlockBytes / chunk_bytes);
  for (DenseSums& sums : out) sums.start(chunks);
  for (std::size_t first = 0; first < chunks; first += step) {
    const ChunkRange range{first, std::min(chunks, first + step)};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      dense_chunk_sums(rows.view(), blocks[b].view(), range, curve,
                       {out[b].sums_.data(), out[b].nearest_.data(), out[b].squares_.data()});
    }
  }
  for (DenseSums& sums : out) sums.finish();
}

namespace {

/// Visits of the same chunk side by side, so that its rows are in the cache for all of them.
std::vector<ChunkVisit> sorted_by_chunk(std::span<const ChunkVisit> visits, std::size_t chunks) {
  std::vector<std::uint32_t> next(chunks + 1, 0);
  for (const ChunkVisit& visit : visits) ++next[visit.chunk + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<ChunkVisit> sorted(visits.size());
  for (const ChunkVisit& visit : visits) sorted[next[visit.chunk]++] = visit;
  return sorted;
}

/// The visits of queries first, ..., last - 1; `first` is the first of its block or of four.
void find_visits(std::span<const DenseSums> sums, std::size_t chunks, MatrixView targets,
                 std::size_t first, std::size_t last, std::vector<ChunkVisit>& visits) {
  constexpr std::size_t kAtOnce = DenseSums::kAtOnce;
  static_assert(kDenseBlock % kAtOnce == 0);
  const std::size_t stride = 1 + chunks + kDenseSearch;
  std::vector<double> cumulated(kAtOnce * stride, 0.0);
  visits.resize((last - first) * targets.cols());
  std::size_t count = 0;
  for (std::size_t q = first; q < last; q += kAtOnce) {
    std::array<double*, kAtOnce> after{};
    for (std::size_t k = 0; k < kAtOnce; ++k) after[k] = cumulated.data() + k * stride + 1;
    sums[q / kDenseBlock].cumulate(q % kDenseBlock, after);
    for (std::size_t k = 0; k < kAtOnce && q + k < last; ++k) {
      // What rounding leaves out of reach is in the last chunk.
      std::fill_n(after[k] + chunks - 1, kDenseSearch, std::numeric_limits<double>::infinity());
      count += dense_find_visits(after[k], targets.row(q + k), static_cast<std::uint32_t>(q + k),
                                 static_cast<std::uint32_t>((q + k) * targets.cols()),
                                 visits.data() + count);
    }
  }
  visits.resize(count);
}

}  // namespace

void dense_places(const DenseRows& rows, std::span<const DenseQueries> blocks, DenseCurve curve,
                  std::span<const DenseSums> sums, MatrixView targets,
                  std::span<std::uint32_t> out) {
  if (targets.rows() == 0 || targets.cols() == 0) return;
  const std::size_t step = rows.in_cache() ? kDenseBlock : targets.rows();
  std::vector<DenseQueriesView> views;
  for (const DenseQueries& block : blocks) views.push_back(block.view());
  std::vector<ChunkVisit> visits;
  for (std::size_t first = 0; first < targets.rows(); first += step) {
    find_visits(sums, rows.chunks(), targets, first, std::min(targets.rows(), first + step),
                visits);
    if (!rows.in_cache()) visits = sorted_by_chunk(visits, rows.chunks());
    dense_visit_places(rows.view(), views, curve, visits, targets.row(0).data(), out.data());
  }
}

}  // namespace tare

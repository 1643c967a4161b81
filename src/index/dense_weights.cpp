// SPDX-License-Identifier: BSD-3-Clause
#include "index/dense_weights.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>

namespace tare {
namespace {

// Chunks of rows that stay in the first-level cache while all blocks of queries pass over them.
constexpr std::size_t kRowBlockBytes = 16 * 1024;
// Chunks between stored cumulative weights.
constexpr std::size_t kGroup = 32;

}  // namespace

void DenseSums::start(std::size_t chunks) {
  chunks_ = chunks;
  sums_.resize(chunks * kDenseBlock);
  nearest_.resize(chunks * kDenseBlock);
  before_.resize((chunks + kGroup - 1) / kGroup * kDenseBlock);
  squares_.fill(0.0);
}

void DenseSums::finish() {
  total_.fill(0.0);
  least_.fill(std::numeric_limits<float>::infinity());
  for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
    if (chunk % kGroup == 0) {
      std::copy(total_.begin(), total_.end(),
                before_.begin() + static_cast<std::ptrdiff_t>(chunk / kGroup * kDenseBlock));
    }
    const float* sums = sums_.data() + chunk * kDenseBlock;
    const float* nearest = nearest_.data() + chunk * kDenseBlock;
    for (std::size_t lane = 0; lane < kDenseBlock; ++lane) {
      total_[lane] += static_cast<double>(sums[lane]);
      least_[lane] = nearest[lane] < least_[lane] ? nearest[lane] : least_[lane];
    }
  }
}

DenseSums::Position DenseSums::find(double target, std::size_t lane, Position from) const {
  Position at = from;
  // Whole groups first. What is stored for a group is the very sum that the steps would reach.
  for (std::size_t group = at.chunk / kGroup + 1; group * kGroup < chunks_; ++group) {
    const double before = before_[group * kDenseBlock + lane];
    if (before >= target) break;
    at = {group * kGroup, before};
  }
  while (at.chunk + 1 < chunks_) {
    const double after = at.before + static_cast<double>(sums_[at.chunk * kDenseBlock + lane]);
    if (after >= target) break;
    at = {at.chunk + 1, after};
  }
  return at;
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

/// For each query (row) and target (column) the chunk in which it falls. All queries of a block
/// advance together: at one level they are in much the same chunks.
std::vector<DenseSums::Position> find_chunks(std::span<const DenseSums> sums, MatrixView targets) {
  std::vector<DenseSums::Position> found(targets.rows() * targets.cols());
  for (std::size_t first = 0; first < targets.rows(); first += kDenseBlock) {
    const std::size_t lanes = std::min(kDenseBlock, targets.rows() - first);
    std::array<DenseSums::Position, kDenseBlock> at{};
    for (std::size_t t = 0; t < targets.cols(); ++t) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        at[lane] = sums[first / kDenseBlock].find(targets(first + lane, t), lane, at[lane]);
        found[(first + lane) * targets.cols() + t] = at[lane];
      }
    }
  }
  return found;
}

/// What falls into each chunk, as lists: `first` of a chunk and then `next` of an entry. Entries
/// are counted from 1; 0 ends a list. Those of one query are neighbours.
struct ChunkLists {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> next;
};

ChunkLists lists_by_chunk(std::span<const DenseSums::Position> found, std::size_t chunks) {
  ChunkLists lists{std::vector<std::uint32_t>(chunks, 0),
                   std::vector<std::uint32_t>(found.size() + 1, 0)};
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::uint32_t& first = lists.first[found[i].chunk];
    lists.next[i + 1] = first;
    first = static_cast<std::uint32_t>(i + 1);
  }
  return lists;
}

}  // namespace

void dense_places(const DenseRows& rows, std::span<const DenseQueries> blocks, DenseCurve curve,
                  std::span<const DenseSums> sums, MatrixView targets, std::span<std::size_t> out) {
  const DenseRowsView view = rows.view();
  const auto found = find_chunks(sums, targets);
  // Chunk by chunk, so that all queries use a chunk's rows while they are in the cache.
  const ChunkLists lists = lists_by_chunk(found, rows.chunks());
  std::array<float, kDenseChunk> distances;
  std::array<float, kDenseChunk> weights;
  for (std::size_t chunk = 0; chunk < rows.chunks(); ++chunk) {
    const std::size_t first_row = chunk * kDenseChunk;
    std::size_t known = targets.rows();  // the query whose weights these are
    for (std::uint32_t entry = lists.first[chunk]; entry != 0; entry = lists.next[entry]) {
      const std::size_t query = (entry - 1) / targets.cols();
      const std::size_t t = (entry - 1) % targets.cols();
      if (query != known) {
        known = query;
        dense_row_distances(view, blocks[query / kDenseBlock].view(), query % kDenseBlock,
                            {chunk, chunk + 1}, curve.kind, distances.data());
        dense_row_weights(curve, distances.data(), 0.0F,
                          view.weights == nullptr ? nullptr : view.weights + first_row,
                          weights.data());
      }
      std::size_t place = 0;
      dense_row_places(weights.data(), found[entry - 1].before, targets.row(query).subspan(t, 1),
                       &place);
      out[entry - 1] = first_row + place;
    }
  }
}

}  // namespace tare

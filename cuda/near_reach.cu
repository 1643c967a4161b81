// SPDX-License-Identifier: BSD-3-Clause
#include "near_reach.cuh"
#include "near_rows.cuh"

namespace tare_cuda {
namespace {

constexpr int kBins = 16;
constexpr int kBinBits = 4;
constexpr int kFewCandidates = 8;  // a bin of so few is narrow enough
constexpr int kKept = 16;          // rows around the sought one that are compared at once
constexpr int kMostRounds = 64;

/// How far out the k nearest rows of a query reach. Distances in single precision say in which of
/// 2^31 steps the k-th one is, but for their error; rows of that and the neighbouring steps are
/// compared in double precision, in which the host chooses, too.
template <int kDims>
class ReachSearch {
 public:
  /// `most`: no less than the squared distance of the k-th row.
  __device__ ReachSearch(const RowsView& rows, const NearQuery<kDims>& query, float most,
                         int wanted, NearStage<kDims>& stage)
      : rows_(rows), query_(query), stage_(stage), wanted_(wanted), most_(most) {
    constexpr float kSteps = 0x1p31F;
    scale_ = kSteps / fmaxf(most, kLeastSquare);  // finite
    const float reach = sqrtf(most);
    const float error = difference_error(rows.dims, query.norm, query.norm + reach, reach) * scale_;
    searched_ = !(query.reachable && error < 0x1p28F);
    usable_ = !searched_;
    margin_ = usable_ ? 2U * static_cast<unsigned>(error) + 4U : 0U;
  }

  __device__ unsigned step_of(float squared) const {
    return static_cast<unsigned>(fminf(squared * scale_, 4294967040.0F));
  }

  /// Counts of steps in bins of the range that is left; narrows it.
  __device__ void narrow(const int* list, int count, int* histogram) {
    for (int shift = 32 - kBinBits; shift >= 0; shift -= kBinBits) {
      if (__syncthreads_and(searched_ ? 1 : 0) != 0) return;
      int* mine = histogram + threadIdx.x;
      for (int bin = 0; bin < kBins; ++bin) mine[bin * kTile] = 0;
      for_each_near<kDims>(
          rows_, list, count, stage_,
          [&](int, const float(&values)[kDims]) {
            const unsigned step = step_of(query_.squared_distance(values));
            if (step < low_) return;
            const unsigned bin = (step - low_) >> shift;
            if (bin < kBins) ++mine[bin * kTile];
          },
          [](int) {});
      if (searched_) continue;
      int before = below_;
      int bin = 0;
      while (bin + 1 < kBins && before + mine[bin * kTile] < wanted_) {
        before += mine[bin * kTile];
        ++bin;
      }
      below_ = before;
      low_ += static_cast<unsigned>(bin) << shift;
      width_ = 1U << shift;
      searched_ = mine[bin * kTile] <= kFewCandidates;
    }
  }

  /// No less than the squared distance of the k-th row.
  __device__ float bound() const {
    const unsigned room = ~0U - low_;
    const unsigned step = low_ + min(room, width_ + margin_);
    return usable_ ? static_cast<float>(step) / scale_ : most_;
  }

  /// The squared distance of the k-th row, in double precision; NaN where it is not found.
  __device__ double exact(const int* list, int count) {
    const unsigned from = low_ > margin_ ? low_ - margin_ : 0U;
    const unsigned room = ~0U - low_;
    const unsigned to = low_ + min(room, width_ + margin_);
    int kept[kKept];
    int found = 0;
    int below = 0;
    for_each_near<kDims>(
        rows_, list, count, stage_,
        [&](int row, const float(&values)[kDims]) {
          const unsigned step = step_of(query_.squared_distance(values));
          if (step < from) {
            ++below;
          } else if (step <= to) {
            if (found < kKept) kept[found] = row;
            ++found;
          }
        },
        [](int) {});
    double answer = NAN;
    const int rank = wanted_ - below;  // among those found, from 1
    bool open = usable_ && rank >= 1 && rank <= found;
    if (open && found <= kKept) {
      answer = among(kept, found, rank);
      open = false;
    }
    // Many rows as far away, as on a grid: one distance after the other.
    double reached = -1.0;
    int seen = below;
    for (int round = 0; round < kMostRounds; ++round) {
      if (__syncthreads_or(open ? 1 : 0) == 0) break;
      double next = INFINITY;
      int times = 0;
      for_each_near<kDims>(
          rows_, list, count, stage_,
          [&](int row, const float(&values)[kDims]) {
            const unsigned step = step_of(query_.squared_distance(values));
            if (!open || step < from || step > to) return;
            const double squared = exact_squared_distance(rows_, query_.raw, row);
            if (squared <= reached) return;
            if (squared < next) {
              next = squared;
              times = 0;
            }
            if (squared == next) ++times;
          },
          [](int) {});
      if (!open) continue;
      reached = next;
      seen += times;
      if (seen >= wanted_) {
        answer = reached;
        open = false;
      }
    }
    return answer;
  }

 private:
  __device__ double among(const int (&kept)[kKept], int found, int rank) const {
    double reached = -1.0;
    for (int seen = 0; seen < rank;) {
      double next = INFINITY;
      int times = 0;
      for (int k = 0; k < found; ++k) {
        const double squared = exact_squared_distance(rows_, query_.raw, kept[k]);
        if (squared <= reached) continue;
        if (squared < next) {
          next = squared;
          times = 0;
        }
        if (squared == next) ++times;
      }
      if (times == 0) return NAN;
      reached = next;
      seen += times;
    }
    return reached;
  }

  const RowsView& rows_;
  const NearQuery<kDims>& query_;
  NearStage<kDims>& stage_;
  int wanted_;
  float most_;
  float scale_ = 1.0F;
  unsigned margin_ = 0;  // in steps: twice the error of a distance
  bool usable_ = false;
  bool searched_ = false;
  unsigned low_ = 0;
  unsigned width_ = ~0U;
  int below_ = 0;
};

__device__ inline int wanted_rows(const RowsView& rows, const NearRule& rule) {
  return rule.bandwidth < rows.rows ? static_cast<int>(rule.bandwidth) : rows.rows;
}

/// The largest bound of a tile's queries.
template <int kDims>
__global__ void __launch_bounds__(kTile)
    near_bounds(RowsView rows, BatchView batch, TilesView tiles, NearRule rule) {
  __shared__ int histogram[kBins * kTile];
  __shared__ NearStage<kDims> stage;
  __shared__ unsigned largest;
  __shared__ unsigned largest_norm;
  const int tile = tiles.first + static_cast<int>(blockIdx.x);
  if (tiles.counts[tile] == 0) return;
  if (threadIdx.x == 0) largest = largest_norm = 0;
  const NearQuery<kDims> query(rows, batch, tiles, tile, static_cast<int>(threadIdx.x));
  const int* list = tiles.lists + tiles.offsets[blockIdx.x];
  float farthest = 0.0F;
  for_each_near<kDims>(
      rows, list, tiles.counts[tile], stage,
      [&](int, const float(&values)[kDims]) {
        farthest = fmaxf(farthest, query.squared_distance(values));
      },
      [](int) {});
  ReachSearch<kDims> search(rows, query, farthest, wanted_rows(rows, rule), stage);
  search.narrow(list, tiles.counts[tile], histogram);
  __syncthreads();
  if (query.reachable) {  // positive floats are in the order of their bits
    atomicMax(&largest, static_cast<unsigned>(__float_as_int(search.bound())));
    atomicMax(&largest_norm, static_cast<unsigned>(__float_as_int(query.norm)));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const float squared =
      __int_as_float(static_cast<int>(largest)) * (1.0F + static_cast<float>(rule.tie_tolerance));
  tiles.reach2[tile] = widened(rows, squared, __int_as_float(static_cast<int>(largest_norm)));
}

template <int kDims>
__global__ void __launch_bounds__(kTile)
    near_reach(RowsView rows, BatchView batch, TilesView tiles, NearRule rule) {
  __shared__ int histogram[kBins * kTile];
  __shared__ NearStage<kDims> stage;
  const int tile = tiles.first + static_cast<int>(blockIdx.x);
  if (tiles.counts[tile] == 0) return;
  const NearQuery<kDims> query(rows, batch, tiles, tile, static_cast<int>(threadIdx.x));
  ReachSearch<kDims> search(rows, query, tiles.reach2[tile], wanted_rows(rows, rule), stage);
  const int* list = tiles.lists + tiles.offsets[blockIdx.x];
  search.narrow(list, tiles.counts[tile], histogram);
  const double squared = search.exact(list, tiles.counts[tile]);
  if (query.number >= 0) {
    tiles.query_reach2[query.number] = __dmul_rn(squared, __dadd_rn(1.0, rule.tie_tolerance));
  }
}

}  // namespace

void narrow_reach(const RowsView& rows, const BatchView& batch, const NearRule& rule,
                  const TilesView& tiles, int count, cudaStream_t stream) {
  with_dims(rows.padded, [&](auto dims) {
    near_bounds<decltype(dims)::value>
        <<<static_cast<unsigned>(count), kTile, 0, stream>>>(rows, batch, tiles, rule);
  });
  check_launch("bounds of near rows");
}

void find_reach(const RowsView& rows, const BatchView& batch, const NearRule& rule,
                const TilesView& tiles, int count, cudaStream_t stream) {
  with_dims(rows.padded, [&](auto dims) {
    near_reach<decltype(dims)::value>
        <<<static_cast<unsigned>(count), kTile, 0, stream>>>(rows, batch, tiles, rule);
  });
  check_launch("distances of near rows");
}

}  // namespace tare_cuda

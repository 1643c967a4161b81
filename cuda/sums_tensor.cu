// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_pipeline.h>

#include "tensor_split.cuh"
#include "weights.cuh"

// The gaussian kernel's weight is 2 to the power of 2 s x q - |x|^2 s - |q|^2 s. A warp has some
// tiles of 16 queries in its registers, and takes 8 rows at a time: the products come from tensor
// cores, and -|x|^2 s is what these start from. The lanes of a group of four have the same queries
// and different rows.

namespace tare_cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kTileQueries = 16;

// What was quickest on an H200 (bench/RESULTS.md).

/// Tiles of queries of one warp: as many as its registers hold.
__host__ __device__ constexpr int tiles_per_warp(int dims) {
  return dims <= 4 ? 4 : dims <= 32 ? 2 : 1;
}
/// Blocks of threads on a multiprocessor.
__host__ __device__ constexpr int blocks_at_once(int dims) { return dims == 8 ? 4 : 2; }

/// out = a b + c, of 16 queries and 8 rows.
__device__ inline void multiply(float (&out)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                const float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%11,%12,%13};"
      : "=f"(out[0]), "=f"(out[1]), "=f"(out[2]), "=f"(out[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
}

/// A number as the sum of three of half precision.
__device__ inline void split_in_three(float value, __half (&parts)[3]) {
  for (__half& part : parts) {
    part = __float2half_rn(value);
    value -= __half2float(part);
  }
}

/// The first factor of a warp's tiles: queries times 2 s, in two parts, and their biases -|q|^2 s.
template <int kDims>
struct Queries {
  static constexpr int kTiles = tiles_per_warp(kDims);
  static constexpr int kParts = kDims <= 8 ? 1 : kDims / kTilePlaces;
  static constexpr bool kBiasInside = kDims <= 8;

  // Of an instruction: places 2 t, 2 t + 1 of queries g and g + 8, then places 2 t + 8, 2 t + 9.
  unsigned high[kTiles][kParts][4];
  unsigned low[kTiles][kParts][4];  // with 4 features all is in `high`
  float bias[kTiles][2];            // where it is not inside

  __device__ void load(const BatchView& batch, int first, float scale, float unit) {
    const int lane = threadIdx.x % 32;
    const int g = lane / 4;
    const int t = lane % 4;
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int query = min(first + tile * kTileQueries + g + 8 * half, batch.count - 1);
        load_one(batch.values + static_cast<long>(query) * kDims, 2.0F * scale * unit, scale, t,
                 tile, half);
      }
    }
  }

 private:
  /// Of a query that half precision cannot hold nothing is left; cumulate.cu knows.
  __device__ static Split scaled(float value, float factor) {
    const float product = value * factor;
    return split_in_halves(fabsf(product) <= kLargestHalf ? product : 0.0F);
  }

  __device__ void load_one(const float* values, float factor, float scale, int t, int tile,
                           int half) {
    double norm = 0.0;  // of the four lanes together
    const auto take = [&](int j, unsigned& high_pair, unsigned& low_pair) {
      const Split a = scaled(values[j], factor);
      const Split b = scaled(values[j + 1], factor);
      norm += held(a) * held(a) + held(b) * held(b);
      high_pair = pair_of(a.high, b.high);
      low_pair = pair_of(a.low, b.low);
    };
    if constexpr (kDims == 4) {
      unsigned low_pair = 0;
      take(2 * (t % 2), high[tile][0][half], low_pair);
      high[tile][0][2 + half] = low_pair;
      if (t >= 2) norm = 0.0;
    } else if constexpr (kDims == 8) {
      take(2 * t, high[tile][0][half], low[tile][0][half]);
      high[tile][0][2 + half] = high[tile][0][half];
    } else {
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
#pragma unroll
        for (int eight = 0; eight < 2; ++eight) {
          take(part * kTilePlaces + 8 * eight + 2 * t, high[tile][part][2 * eight + half],
               low[tile][part][2 * eight + half]);
        }
      }
    }
    norm += __shfl_xor_sync(~0U, norm, 1);
    norm += __shfl_xor_sync(~0U, norm, 2);
    const double in_units = static_cast<double>(factor) * static_cast<double>(factor);
    const auto exponent = static_cast<float>(-norm / in_units * static_cast<double>(scale));
    put_bias(exponent, t, tile, half);
  }

  __device__ void put_bias(float exponent, int t, int tile, int half) {
    if constexpr (kBiasInside) {
      __half parts[3];
      split_in_three(fabsf(exponent) <= kLargestHalf ? exponent : -kLargestHalf, parts);
      const __half none = __float2half_rn(0.0F);
      const unsigned first_two = pair_of(parts[0], parts[1]);
      const unsigned third = pair_of(parts[2], none);
      if constexpr (kDims == 4) {
        if (t == 2) high[tile][0][2 + half] = first_two;
        if (t == 3) high[tile][0][2 + half] = third;
      } else {
        low[tile][0][2 + half] = t == 0 ? first_two : t == 1 ? third : 0U;
      }
    } else {
      bias[tile][half] = exponent;
    }
  }
};

/// The exponents of a tile of rows; where biases of queries are not inside, without them.
template <int kDims>
__device__ inline void multiply_tile(const Queries<kDims>& queries, const unsigned* words, int tile,
                                     int lane, float2 bias,
                                     float (&out)[Queries<kDims>::kTiles][4]) {
  using Mine = Queries<kDims>;
  const float start[4] = {bias.x, bias.y, bias.x, bias.y};
  if constexpr (kDims <= 8) {
    const uint2 row = reinterpret_cast<const uint2*>(words)[tile * 32 + lane];
    const int t = lane % 4;
    // The ones that biases are multiplied by.
    const unsigned one = pair_of(__float2half_rn(1.0F), __float2half_rn(t == 0 ? 1.0F : 0.0F));
    const unsigned ones = t < 2 ? one : 0U;
#pragma unroll
    for (int m = 0; m < Mine::kTiles; ++m) {
      if constexpr (kDims == 8) {
        multiply(out[m], queries.low[m][0], row.x, ones, start);
        multiply(out[m], queries.high[m][0], row.x, row.y, out[m]);
      } else {
        multiply(out[m], queries.high[m][0], row.x, row.y, start);
      }
    }
  } else {
#pragma unroll
    for (int part = 0; part < Mine::kParts; ++part) {
      const uint4 row =
          reinterpret_cast<const uint4*>(words)[(tile * Mine::kParts + part) * 32 + lane];
#pragma unroll
      for (int m = 0; m < Mine::kTiles; ++m) {
        if (part == 0) {
          multiply(out[m], queries.low[m][part], row.x, row.y, start);
        } else {
          multiply(out[m], queries.low[m][part], row.x, row.y, out[m]);
        }
        multiply(out[m], queries.high[m][part], row.z, row.w, out[m]);
        multiply(out[m], queries.high[m][part], row.x, row.y, out[m]);
      }
    }
  }
}

/// What the products of a row start from: its weight's exponent less |x|^2 s; nothing is left of
/// rows that fill up the last block.
__global__ void prepare_biases(RowsView rows, float scale, float* biases) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows.blocks * kBlock) return;
  const float weight = rows.log_weights != nullptr ? rows.log_weights[i] : 0.0F;
  biases[i] = i < rows.rows ? fmaf(-scale, rows.norms[i], weight) : -INFINITY;
}

/// Copies a block's second factors and biases into shared memory while another is in use.
template <int kDims>
__device__ inline void fetch_block(const RowsView& rows, const float* biases, int block,
                                   unsigned* stage) {
  constexpr int kWords = words_of_rows(kDims, kBlock);
  const unsigned* source = rows.words + static_cast<long>(block) * kWords;
  for (int i = threadIdx.x; i < kWords / 4; i += kThreads) {
    __pipeline_memcpy_async(stage + 4 * i, source + 4 * i, 16);
  }
  for (int i = threadIdx.x; i < kBlock / 4; i += kThreads) {
    __pipeline_memcpy_async(stage + kWords + 4 * i,
                            biases + static_cast<long>(block) * kBlock + 4 * i, 16);
  }
  __pipeline_commit();
}

/// `limit`: the exponent at the rim of the naive kernel's window.
template <int kDims, int kChunkRows, bool kNearest, bool kNaive>
__global__ void __launch_bounds__(kThreads, blocks_at_once(kDims))
    tensor_sums(RowsView rows, BatchView batch, float scale, float limit) {
  using Mine = Queries<kDims>;
  constexpr int kMine = Mine::kTiles;
  constexpr int kWords = words_of_rows(kDims, kBlock);
  constexpr int kStage = kWords + kBlock;  // second factors and biases; there are two stages
  constexpr int kChunksOfBlock = kBlock / kChunkRows;
  constexpr int kTilesOfChunk = kChunkRows / kTileRows;
  extern __shared__ __align__(16) unsigned shared[];
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  const int first = (blockIdx.x * kWarps + threadIdx.x / 32) * kMine * kTileQueries;
  Mine queries;
  queries.load(batch, first, scale, rows.word_unit);
  const auto query_of = [&](int m, int half) { return first + m * kTileQueries + g + 8 * half; };
  float squares[kMine][2] = {};
  float rim[kMine][2] = {};
  if constexpr (kNaive) {
#pragma unroll
    for (int m = 0; m < kMine; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float norm = batch.norms[min(query_of(m, half), batch.count - 1)];
        rim[m][half] =
            scale * rim_of(rows, Metric::kTensor, norm, static_cast<float>(batch.bandwidth));
      }
    }
  }
  float best[kMine][2];
  int best_block[kMine][2] = {};
#pragma unroll
  for (int m = 0; m < kMine; ++m) best[m][0] = best[m][1] = -INFINITY;

  const int begin = blockIdx.y * batch.blocks_per_slice;
  const int end = min(rows.blocks, begin + batch.blocks_per_slice);
  const auto stage_of = [&](int block) { return shared + (block - begin) % 2 * kStage; };
  if (begin < end) fetch_block<kDims>(rows, batch.biases, begin, stage_of(begin));
  for (int block = begin; block < end; ++block) {
    if (block + 1 < end) {
      fetch_block<kDims>(rows, batch.biases, block + 1, stage_of(block + 1));
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    const unsigned* stage = stage_of(block);
    float most[kMine][2];
#pragma unroll
    for (int m = 0; m < kMine; ++m) most[m][0] = most[m][1] = -INFINITY;
#pragma unroll 1
    for (int part = 0; part < kChunksOfBlock; ++part) {
      float sums[kMine][2] = {};
#pragma unroll 2
      for (int k = 0; k < kTilesOfChunk; ++k) {
        const int tile = part * kTilesOfChunk + k;
        const float2 bias =
            *reinterpret_cast<const float2*>(stage + kWords + tile * kTileRows + 2 * t);
        float exponents[kMine][4];
        multiply_tile(queries, stage, tile, lane, bias, exponents);
        const auto exponent_of = [&](int m, int v) {
          return Mine::kBiasInside ? exponents[m][v] : exponents[m][v] + queries.bias[m][v / 2];
        };
        bool at_rim = false;
#pragma unroll
        for (int m = 0; m < kMine; ++m) {
#pragma unroll
          for (int v = 0; v < 4; ++v) {
            const int half = v / 2;
            const float exponent = exponent_of(m, v);
            if constexpr (kNaive) {
              sums[m][half] += exponent >= limit ? 1.0F : 0.0F;
              at_rim = at_rim || fabsf(exponent - limit) <= rim[m][half];
            } else {
              const float weight = exp2_quick(exponent);
              sums[m][half] += weight;
              squares[m][half] = fmaf(weight, weight, squares[m][half]);
            }
            if constexpr (kNearest) most[m][half] = fmaxf(most[m][half], exponent);
          }
        }
        if (kNaive && at_rim) {  // seldom: these rows are looked at again, in double precision
#pragma unroll
          for (int m = 0; m < kMine; ++m) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
              const int half = v / 2;
              const float exponent = exponent_of(m, v);
              if (!(fabsf(exponent - limit) <= rim[m][half])) continue;
              const int query = min(query_of(m, half), batch.count - 1);
              const bool inside = within_exactly(
                  rows, batch.raw + static_cast<long>(query) * rows.dims,
                  static_cast<long>(block) * kBlock + tile * kTileRows + 2 * t + v % 2,
                  batch.bandwidth);
              sums[m][half] += (inside ? 1.0F : 0.0F) - (exponent >= limit ? 1.0F : 0.0F);
            }
          }
        }
      }
      const long chunk = static_cast<long>(block) * kChunksOfBlock + part;
#pragma unroll
      for (int m = 0; m < kMine; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float sum = sums[m][half];
          if constexpr (kNaive) squares[m][half] += sum;  // of weights that are 0 or 1
          sum += __shfl_xor_sync(~0U, sum, 1);
          sum += __shfl_xor_sync(~0U, sum, 2);
          const int query = query_of(m, half);
          if (t == 0 && query < batch.count) batch.sums[chunk * batch.pitch + query] = sum;
        }
      }
    }
    if constexpr (kNearest) {
#pragma unroll
      for (int m = 0; m < kMine; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          if (most[m][half] <= best[m][half]) continue;
          best[m][half] = most[m][half];
          best_block[m][half] = block;
        }
      }
    }
    __syncthreads();  // the stage is filled again
  }
#pragma unroll
  for (int m = 0; m < kMine; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = squares[m][half];
      float most = best[m][half];
      int where = best_block[m][half];
#pragma unroll
      for (int step = 1; step <= 2; step *= 2) {
        sum += __shfl_xor_sync(~0U, sum, step);
        const float other = __shfl_xor_sync(~0U, most, step);
        const int there = __shfl_xor_sync(~0U, where, step);
        if (other > most || (other == most && there < where)) {
          most = other;
          where = there;
        }
      }
      const int query = query_of(m, half);
      if (t != 0 || query >= batch.count) continue;
      const long at = static_cast<long>(blockIdx.y) * batch.pitch + query;
      batch.squares[at] = sum;
      if constexpr (kNearest) {
        batch.nearest[at] = fmaxf(0.0F, -most / scale);
        batch.nearest_block[at] = where;
      }
    }
  }
}

template <int kDims, int kChunkRows, bool kNearest, bool kNaive>
void launch_one(const RowsView& rows, const BatchView& batch, cudaStream_t stream) {
  constexpr int kPerBlock = kWarps * Queries<kDims>::kTiles * kTileQueries;
  constexpr std::size_t kBytes = 2 * sizeof(float) * (words_of_rows(kDims, kBlock) + kBlock);
  const dim3 grid(static_cast<unsigned>((batch.count + kPerBlock - 1) / kPerBlock),
                  static_cast<unsigned>(batch.slices));
  const auto kernel = tensor_sums<kDims, kChunkRows, kNearest, kNaive>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kBytes)),
        "shared memory for sums");
  const double scale = tensor_scale(rows, batch.kernel, batch.bandwidth);
  kernel<<<grid, kThreads, kBytes, stream>>>(
      rows, batch, static_cast<float>(scale),
      static_cast<float>(-scale * batch.bandwidth * batch.bandwidth));
}

template <int kDims, int kChunkRows, bool kNaive>
void launch(const RowsView& rows, const BatchView& batch, cudaStream_t stream) {
  if (batch.want_nearest) {
    launch_one<kDims, kChunkRows, true, kNaive>(rows, batch, stream);
  } else {
    launch_one<kDims, kChunkRows, false, kNaive>(rows, batch, stream);
  }
}

}  // namespace

void prepare_tensor(const RowsView& rows, int kernel, double bandwidth, float* biases,
                    cudaStream_t stream) {
  constexpr int kPrepareThreads = 256;
  const int count = rows.blocks * kBlock;
  prepare_biases<<<(count + kPrepareThreads - 1) / kPrepareThreads, kPrepareThreads, 0, stream>>>(
      rows, static_cast<float>(tensor_scale(rows, kernel, bandwidth)), biases);
  check_launch("preparing biases");
}

void sum_by_tensor(const RowsView& rows, const BatchView& batch, cudaStream_t stream) {
  with_dims(rows.padded, [&](auto dims) {
    constexpr int kDims = decltype(dims)::value;
    if (batch.kernel == kTareCudaNaive) return launch<kDims, kBlock, true>(rows, batch, stream);
    switch (batch.chunk_rows) {
      case 32:
        return launch<kDims, 32, false>(rows, batch, stream);
      case 64:
        return launch<kDims, 64, false>(rows, batch, stream);
      default:
        return launch<kDims, kBlock, false>(rows, batch, stream);
    }
  });
  check_launch("sums by tensor cores");
}

}  // namespace tare_cuda

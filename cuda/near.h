// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "batch.h"
#include "rows.h"

namespace tare_cuda {

/// Windows that are small: queries that are near to each other are a tile, and only rows that may
/// be in one of its windows are looked at, in the order of residuals. The rest of the work is that
/// of other kernels: cumulated sums of chunks, and a second look into the chunk of a level. Weights
/// are added up one by one in double precision, and rows without a weight change no sum, so no bit
/// depends on the other queries of the tile.

inline constexpr int kTile = 128;      // queries
inline constexpr int kNearChunk = 64;  // rows

/// What kernels see of the tiles of a batch. Some are looked at together: a round.
struct TilesView {
  RegionsView regions;
  const int* order = nullptr;      // queries, near ones together
  const int2* ranges = nullptr;    // [tile]: its queries, places in `order`; at most kTile
  const float* boxes = nullptr;    // [tile][low, high][padded]
  float* reach2 = nullptr;         // [tile]: rows farther from the box are in no window
  const int* counts = nullptr;     // [tile]: rows to look at
  int first = 0;                   // tile of the round
  const long* offsets = nullptr;   // of a tile of the round among lists; whole chunks
  int* lists = nullptr;            // rows to look at, in the order of residuals
  double* sums = nullptr;          // cumulated, [chunk][query of the tile]
  double* query_reach2 = nullptr;  // of each query of the batch
};

/// Which rows count, and how.
struct NearRule {
  int kernel = 0;
  double bandwidth = 0.0;  // of knn: rows
  double tie_tolerance = 0.0;
};

/// Tiles, some of them empty; returns their number. The queries of a tile are in one part of the
/// regions, so that its box is small.
int make_tiles(const RowsView& rows, const BatchView& batch, const RegionsView& regions,
               NearWorkspace& work, cudaStream_t stream);

/// How far rows may be from each tile. With the nearest rows it is a distance within which leaves
/// with enough rows are, and narrow_reach makes it less.
void set_reach(const RowsView& rows, const RegionsView& regions, const NearRule& rule, int tiles,
               NearWorkspace& work, cudaStream_t stream);

/// Rows within the reach of each tile: how many, and which. `whole_leaves`: all rows of leaves that
/// are within it.
void count_rows(const RowsView& rows, const RegionsView& regions, bool whole_leaves, int tiles,
                NearWorkspace& work, cudaStream_t stream);
void list_rows(const RowsView& rows, const TilesView& tiles, bool whole_leaves, int count,
               cudaStream_t stream);

/// The reach of tiles from some rows, among which each query has enough: the k-th of all rows is
/// not farther than the k-th of these.
void narrow_reach(const RowsView& rows, const BatchView& batch, const NearRule& rule,
                  const TilesView& tiles, int count, cudaStream_t stream);
/// The squared distance up to which rows are in the window of a query: that of the nearest rows.
void find_reach(const RowsView& rows, const BatchView& batch, const NearRule& rule,
                const TilesView& tiles, int count, cudaStream_t stream);
/// Fills sums, and totals, window_n, distance and quality of the batch.
void sum_near(const RowsView& rows, const BatchView& batch, const TilesView& tiles, int count,
              cudaStream_t stream);
void pick_near(const RowsView& rows, const BatchView& batch, const TilesView& tiles, int count,
               const LevelsView& levels, double* quantiles, cudaStream_t stream);

/// All of it, for one batch.
void answer_near(TareCudaRows& rows, const BatchView& batch, const NearRule& rule,
                 const LevelsView& levels, double* quantiles, cudaStream_t stream);

}  // namespace tare_cuda

// SPDX-License-Identifier: BSD-3-Clause
#include "near.h"

#include <algorithm>

namespace tare_cuda {
namespace {

constexpr double kShareOfMemory = 0.5;  // of what is free

long in_chunks(long count) { return (count + kNearChunk - 1) / kNearChunk * kNearChunk; }

/// Makes room for the rows that are looked at in one round: all of them, or as many as there is
/// memory for, and those of one tile at least.
void reserve_lists(NearWorkspace& work, long all, long most_of_tile) {
  if (static_cast<long>(work.candidates) >= all) return;
  constexpr long kBytes = sizeof(int) + kTile * sizeof(double) / kNearChunk;
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the device's memory");
  free += work.lists.bytes() + work.sums.bytes();
  const auto room = static_cast<long>(kShareOfMemory * static_cast<double>(free)) / kBytes;
  // A little more, as the next batch is of about the same size.
  all += all / 8 / kNearChunk * kNearChunk;
  long wanted = std::max(most_of_tile, std::min(all, room / kNearChunk * kNearChunk));
  if (static_cast<long>(work.candidates) >= wanted) return;
  work.lists = DeviceArray<int>();
  work.sums = DeviceArray<double>();
  work.candidates = 0;
  while (true) {
    try {
      work.lists = DeviceArray<int>(static_cast<std::size_t>(wanted));
      work.sums = DeviceArray<double>(static_cast<std::size_t>(wanted) / kNearChunk * kTile);
      work.candidates = static_cast<std::size_t>(wanted);
      return;
    } catch (const DeviceError& error) {
      work.lists = DeviceArray<int>();
      if (error.code != cudaErrorMemoryAllocation || wanted <= most_of_tile) throw;
      wanted =
          std::max(most_of_tile, in_chunks(static_cast<int>(std::min(wanted / 2, 0x7fffff00L))));
    }
  }
}

/// Calls work_on(tiles of a round, how many), with room for the rows of each round.
template <class WorkOn>
void in_rounds(const RegionsView& regions, NearWorkspace& work, int tiles, cudaStream_t stream,
               const WorkOn& work_on) {
  check(cudaMemcpyAsync(work.host_counts.data(), work.counts.data(),
                        static_cast<std::size_t>(tiles) * sizeof(int), cudaMemcpyDeviceToHost,
                        stream),
        "counting near rows");
  check(cudaStreamSynchronize(stream), "counting near rows");
  long all = 0;
  long most = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const long count = in_chunks(work.host_counts.data()[tile]);
    all += count;
    most = std::max(most, count);
  }
  reserve_lists(work, all, most);
  TilesView view;
  view.regions = regions;
  view.order = work.order.data();
  view.ranges = work.ranges.data();
  view.boxes = work.boxes.data();
  view.reach2 = work.reach2.data();
  view.counts = work.counts.data();
  view.offsets = work.offsets.data();
  view.lists = work.lists.data();
  view.sums = work.sums.data();
  view.query_reach2 = work.query_reach2.data();
  for (int last = 0; view.first < tiles; view.first = last) {
    if (view.first > 0) check(cudaStreamSynchronize(stream), "answering queries");
    long used = 0;
    for (last = view.first; last < tiles; ++last) {
      const long count = in_chunks(work.host_counts.data()[last]);
      if (used + count > static_cast<long>(work.candidates)) break;
      work.host_offsets.data()[last - view.first] = used;
      used += count;
    }
    const int count = last - view.first;
    check(cudaMemcpyAsync(work.offsets.data(), work.host_offsets.data(),
                          static_cast<std::size_t>(count) * sizeof(long), cudaMemcpyHostToDevice,
                          stream),
          "listing near rows");
    work_on(view, count);
  }
}

}  // namespace

void answer_near(TareCudaRows& rows, const BatchView& batch, const NearRule& rule,
                 const LevelsView& levels, double* quantiles, cudaStream_t stream) {
  NearWorkspace& work = rows.near;
  const RowsView& all = rows.view;
  const RegionsView regions = rows.regions().view();
  const int tiles = make_tiles(all, batch, regions, work, stream);
  set_reach(all, regions, rule, tiles, work, stream);
  const bool nearest = rule.kernel == kTareCudaKnn;
  if (nearest) {
    count_rows(all, regions, true, tiles, work, stream);
    in_rounds(regions, work, tiles, stream, [&](const TilesView& view, int count) {
      list_rows(all, view, true, count, stream);
      narrow_reach(all, batch, rule, view, count, stream);
    });
  }
  count_rows(all, regions, false, tiles, work, stream);
  in_rounds(regions, work, tiles, stream, [&](const TilesView& view, int count) {
    list_rows(all, view, false, count, stream);
    if (nearest) find_reach(all, batch, rule, view, count, stream);
    sum_near(all, batch, view, count, stream);
    pick_near(all, batch, view, count, levels, quantiles, stream);
  });
}

}  // namespace tare_cuda

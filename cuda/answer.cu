// SPDX-License-Identifier: BSD-3-Clause
#include "answer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "batch.h"
#include "host_threads.h"
#include "near.h"
#include "weights.cuh"

namespace tare_cuda {
namespace {

constexpr std::size_t kMostQueries = 131'072;  // of a batch
constexpr std::size_t kMostNearQueries = 524'288;
// Below so many rows, or where a larger share of them is near, all of them are looked at. Tensor
// cores, where they can be used, make that three times as quick.
constexpr int kFewRows = 4'096;
constexpr double kMostNearShare = 0.25;
constexpr double kMostNearShareForTensor = 0.045;
constexpr double kMostNearShareForTensorInManyDims = 0.01;  // where boxes are near to most leaves
constexpr std::size_t kFewestQueries = 512;
constexpr double kShareOfMemory = 0.5;
constexpr int kMostSlices = 64;
constexpr int kFewestBlocks = 8;  // of a slice

/// How the rows are cut up. It depends on the rows alone, so that no bit of an answer depends on
/// the other queries or levels.
struct Cut {
  /// Small chunks make sums many, large ones make it long to look into one for a level. Where both
  /// take as long for fifty levels.
  Cut(const RowsView& rows, int kernel, Metric metric) {
    if (metric == Metric::kNear) {  // whose sums are elsewhere
      slices = 1;
      most_queries = kMostNearQueries;
      return;
    }
    const double best = std::sqrt(static_cast<double>(rows.rows) / (12.0 * rows.padded));
    if (metric == Metric::kTensor && kernel == kTareCudaGaussian) {
      chunk_rows = best < 45.0 ? 32 : best < 90.0 ? 64 : kBlock;
    }
    chunks = rows.blocks * (kBlock / chunk_rows);
    blocks_per_slice = std::max(kFewestBlocks, (rows.blocks + kMostSlices - 1) / kMostSlices);
    slices = (rows.blocks + blocks_per_slice - 1) / blocks_per_slice;
  }

  int chunk_rows = kBlock;
  int chunks = 0;
  int blocks_per_slice = 0;
  int slices = 0;
  std::size_t most_queries = kMostQueries;
};

std::size_t batch_size(const Cut& cut, std::size_t levels, const Workspace& held) {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the device's memory");
  free += held.sums.bytes();
  const std::size_t of_query = static_cast<std::size_t>(cut.chunks) * sizeof(float) +
                               2 * levels * sizeof(double) + kMostSlices * 12 + 24 * 64 + 64;
  const auto most = static_cast<std::size_t>(kShareOfMemory * static_cast<double>(free)) / of_query;
  return std::clamp(most / kFewestQueries * kFewestQueries, kFewestQueries, cut.most_queries);
}

Workspace make_workspace(const RowsView& rows, const Cut& cut, std::size_t queries,
                         std::size_t levels) {
  Workspace work;
  const auto dims = static_cast<std::size_t>(rows.dims);
  const auto sliced = queries * static_cast<std::size_t>(cut.slices);
  work.sums = DeviceArray<float>(queries * static_cast<std::size_t>(cut.chunks));
  work.raw = DeviceArray<double>(queries * dims);
  work.values = DeviceArray<float>(queries * static_cast<std::size_t>(rows.padded));
  work.norms = DeviceArray<float>(queries);
  work.biases = DeviceArray<float>(static_cast<std::size_t>(rows.blocks) * kBlock);
  work.squares = DeviceArray<float>(sliced);
  work.nearest = DeviceArray<float>(sliced);
  work.nearest_block = DeviceArray<int>(sliced);
  work.totals = DeviceArray<double>(queries);
  work.level_values = DeviceArray<double>(std::max<std::size_t>(levels, 1));
  for (BatchBuffers& buffers : work.buffers) {
    buffers.given = DeviceArray<double>(queries * dims);
    buffers.quantiles = DeviceArray<double>(queries * levels);
    buffers.window_n = DeviceArray<double>(queries);
    buffers.distance = DeviceArray<double>(queries);
    buffers.quality = DeviceArray<std::uint8_t>(queries);
    buffers.host_quantiles = PinnedArray<double>(queries * levels);
    buffers.host_window_n = PinnedArray<double>(queries);
    buffers.host_distance = PinnedArray<double>(queries);
    buffers.host_quality = PinnedArray<std::uint8_t>(queries);
  }
  work.levels = levels;
  work.queries = queries;
  work.chunks = static_cast<std::size_t>(cut.chunks);
  return work;
}

/// Makes room for the largest batch for which there is memory, and returns its queries.
std::size_t reserve(Workspace& work, const RowsView& rows, const Cut& cut, std::size_t count,
                    std::size_t levels) {
  std::size_t queries = std::min(batch_size(cut, levels, work),
                                 (count + kFewestQueries - 1) / kFewestQueries * kFewestQueries);
  const bool enough = work.queries >= queries && work.levels >= levels &&
                      work.chunks >= static_cast<std::size_t>(cut.chunks);
  if (enough) return queries;
  while (true) {
    work = Workspace();  // before the new one is made
    try {
      work = make_workspace(rows, cut, queries, levels);
      return queries;
    } catch (const DeviceError& error) {
      if (error.code != cudaErrorMemoryAllocation || queries <= kFewestQueries) throw;
      queries = std::max(kFewestQueries, queries / 2 / kFewestQueries * kFewestQueries);
    }
  }
}

struct Stream {
  Stream() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { (void)cudaStreamDestroy(stream); }
  cudaStream_t stream = nullptr;
};
struct Event {
  Event() { check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { (void)cudaEventDestroy(event); }
  cudaEvent_t event = nullptr;
};

/// One pass over some queries with one metric.
class Pass {
 public:
  Pass(TareCudaRows& rows, const TareCudaQuestion& question, const TareCudaAnswer& answer,
       Metric metric)
      : owner_(rows),
        rows_(rows.view),
        work_(rows.workspace),
        question_(question),
        answer_(answer),
        metric_(metric),
        cut_(rows.view, question.kernel, metric),
        batch_(reserve(rows.workspace, rows.view, cut_, question.count, question.level_count)) {}

  void run(double done_before, double share) {
    check(
        cudaMemcpyAsync(work_.level_values.data(), question_.levels,
                        question_.level_count * sizeof(double), cudaMemcpyDefault, compute_.stream),
        "copying levels");
    if (metric_ == Metric::kTensor) {
      prepare_tensor(rows_, question_.kernel, question_.bandwidth, work_.biases.data(),
                     compute_.stream);
    }
    const std::size_t parts = (question_.count + batch_ - 1) / batch_;
    for (std::size_t part = 0; part < parts; ++part) {
      start(part);
      // While the device works on this batch, the one before is copied to its place.
      if (part > 0) finish(part - 1);
      go_on(done_before + share * static_cast<double>(part) / static_cast<double>(parts));
    }
    if (parts > 0) finish(parts - 1);
  }

 private:
  std::size_t count_of(std::size_t part) const {
    return std::min(batch_, question_.count - part * batch_);
  }

  void go_on(double share) const {
    if (question_.go_on != nullptr && question_.go_on(question_.context, share) == 0) {
      check(cudaDeviceSynchronize(), "stopping");
      throw StoppedWork();
    }
  }

  /// Three streams: queries come in and answers go out while others are computed.
  void start(std::size_t part) {
    const std::size_t count = count_of(part);
    BatchBuffers& buffers = work_.buffers[part % 2];
    const auto dims = static_cast<std::size_t>(rows_.dims);
    const std::size_t size = question_.single_precision != 0 ? sizeof(float) : sizeof(double);
    if (part >= 2) wait(in_, computed_[part % 2]);  // the buffer is free
    const char* queries = static_cast<const char*>(question_.queries) + part * batch_ * dims * size;
    check(cudaMemcpyAsync(buffers.given.data(), queries, count * dims * size, cudaMemcpyDefault,
                          in_.stream),
          "copying queries");
    record(given_[part % 2], in_);
    wait(compute_, given_[part % 2]);
    if (part >= 2) wait(compute_, fetched_[part % 2]);
    const BatchView view = view_of(count, buffers);
    prepare_queries(rows_, buffers.given.data(), question_.single_precision != 0,
                    static_cast<int>(count), work_.raw.data(), work_.values.data(),
                    work_.norms.data(), compute_.stream);
    compute(view, buffers.quantiles.data());
    record(computed_[part % 2], compute_);
    wait(out_, computed_[part % 2]);
    fetch(buffers.host_quantiles, buffers.quantiles, count * question_.level_count);
    fetch(buffers.host_window_n, buffers.window_n, count);
    fetch(buffers.host_quality, buffers.quality, count);
    if (question_.nearest != 0) fetch(buffers.host_distance, buffers.distance, count);
    record(fetched_[part % 2], out_);
  }

  void compute(const BatchView& view, double* quantiles) {
    const LevelsView levels{work_.level_values.data(), static_cast<int>(question_.level_count),
                            question_.ranks};
    if (metric_ == Metric::kNear) {
      const NearRule rule{question_.kernel, question_.bandwidth, question_.tie_tolerance};
      answer_near(owner_, view, rule, levels, quantiles, compute_.stream);
      return;
    }
    if (metric_ == Metric::kTensor) {
      sum_by_tensor(rows_, view, compute_.stream);
    } else {
      sum_by_differences(rows_, view, compute_.stream);
    }
    cumulate(rows_, view, metric_, compute_.stream);
    pick_quantiles(rows_, view, levels, quantiles, compute_.stream);
  }

  static void wait(const Stream& stream, const Event& event) {
    check(cudaStreamWaitEvent(stream.stream, event.event, 0), "waiting for an event");
  }
  static void record(const Event& event, const Stream& stream) {
    check(cudaEventRecord(event.event, stream.stream), "recording an event");
  }

  template <class T>
  void fetch(const PinnedArray<T>& to, const DeviceArray<T>& from, std::size_t count) const {
    check(cudaMemcpyAsync(to.data(), from.data(), count * sizeof(T), cudaMemcpyDeviceToHost,
                          out_.stream),
          "copying answers");
  }

  void finish(std::size_t part) {
    const std::size_t count = count_of(part);
    const std::size_t first = part * batch_;
    const std::size_t levels = question_.level_count;
    const BatchBuffers& buffers = work_.buffers[part % 2];
    check(cudaEventSynchronize(fetched_[part % 2].event), "answering queries");
    copy_by_threads(answer_.quantiles + first * levels, buffers.host_quantiles.data(),
                    count * levels * sizeof(double));
    std::memcpy(answer_.window_n + first, buffers.host_window_n.data(), count * sizeof(double));
    std::memcpy(answer_.quality + first, buffers.host_quality.data(), count);
    if (question_.nearest != 0) {
      std::memcpy(answer_.nearest + first, buffers.host_distance.data(), count * sizeof(double));
    }
  }

  BatchView view_of(std::size_t count, const BatchBuffers& buffers) const {
    BatchView view;
    view.count = static_cast<int>(count);
    view.pitch = static_cast<int>(batch_);
    view.chunk_rows = cut_.chunk_rows;
    view.chunks = cut_.chunks;
    view.slices = cut_.slices;
    view.blocks_per_slice = cut_.blocks_per_slice;
    view.kernel = question_.kernel;
    view.bandwidth = question_.bandwidth;
    view.want_nearest = question_.nearest != 0;
    view.raw = work_.raw.data();
    view.values = work_.values.data();
    view.norms = work_.norms.data();
    view.biases = work_.biases.data();
    view.sums = work_.sums.data();
    view.squares = work_.squares.data();
    view.nearest = work_.nearest.data();
    view.nearest_block = work_.nearest_block.data();
    view.totals = work_.totals.data();
    view.window_n = buffers.window_n.data();
    view.distance = buffers.distance.data();
    view.quality = buffers.quality.data();
    return view;
  }

  TareCudaRows& owner_;
  const RowsView rows_;
  Workspace& work_;
  const TareCudaQuestion& question_;
  const TareCudaAnswer& answer_;
  Metric metric_;
  Cut cut_;
  std::size_t batch_;
  Stream in_;
  Stream compute_;
  Stream out_;
  Event given_[2];
  Event computed_[2];
  Event fetched_[2];
};

bool has_tensor_cores(int device) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "asking for the device's kind");
  return major >= 8;
}

/// Whether few rows are so near to the rim of a window that they must be looked at again. Where a
/// window is small against the distances between rows, sums by differences are quicker.
bool has_thin_rim(const RowsView& rows, double bandwidth) {
  const auto h = static_cast<float>(bandwidth);
  return rim_of(rows, Metric::kTensor, rows.largest_norm, h) <= 2e-3F * h * h;
}

/// Whether tensor cores serve the job.
bool serves_tensor(const TareCudaRows& rows, const TareCudaQuestion& question) {
  // Weights of rows are part of the exponents that tensor cores start from: neither the nearest row
  // nor a window is to be seen there.
  const bool weighted = rows.view.weights != nullptr;
  const bool served = question.kernel == kTareCudaGaussian
                          ? !weighted || question.nearest == 0
                          : question.kernel == kTareCudaNaive && !weighted &&
                                has_thin_rim(rows.view, question.bandwidth);
  return served && has_tensor_cores(rows.device);
}

/// Whether only rows near a query are looked at. By the rows alone, so that no bit of an answer
/// depends on other queries.
bool looks_near(TareCudaRows& rows, const TareCudaQuestion& question, bool tensor) {
  if (question.kernel == kTareCudaKnn) return true;
  if (question.kernel == kTareCudaGaussian || question.kernel == kTareCudaLaplace) return false;
  const double most = !tensor                ? kMostNearShare
                      : rows.view.padded > 4 ? kMostNearShareForTensorInManyDims
                                             : kMostNearShareForTensor;
  return rows.view.rows >= kFewRows && rows.near_share(question.bandwidth) <= most;
}

/// Answers again, by differences, what tensor cores could not answer well enough.
void answer_rest(TareCudaRows& rows, const TareCudaQuestion& question,
                 const TareCudaAnswer& answer) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < question.count; ++i) {
    if (answer.quality[i] != kTareCudaAnswered) rest.push_back(i);
  }
  if (rest.empty()) return;
  const std::size_t bytes = static_cast<std::size_t>(rows.view.dims) *
                            (question.single_precision != 0 ? sizeof(float) : sizeof(double));
  std::vector<char> queries(rest.size() * bytes);
  for (std::size_t k = 0; k < rest.size(); ++k) {
    check(cudaMemcpy(queries.data() + k * bytes,
                     static_cast<const char*>(question.queries) + rest[k] * bytes, bytes,
                     cudaMemcpyDefault),
          "gathering queries");
  }
  const std::size_t levels = question.level_count;
  std::vector<double> quantiles(rest.size() * levels);
  std::vector<double> window_n(rest.size());
  std::vector<double> nearest(rest.size());
  std::vector<std::uint8_t> quality(rest.size());
  TareCudaQuestion again = question;
  again.queries = queries.data();
  again.count = rest.size();
  Pass(rows, again, {quantiles.data(), window_n.data(), nearest.data(), quality.data()},
       Metric::kDifferences)
      .run(0.9, 0.1);
  for (std::size_t k = 0; k < rest.size(); ++k) {
    std::copy_n(quantiles.data() + k * levels, levels, answer.quantiles + rest[k] * levels);
    answer.window_n[rest[k]] = window_n[k];
    if (question.nearest != 0) answer.nearest[rest[k]] = nearest[k];
    answer.quality[rest[k]] = quality[k];
  }
}

}  // namespace

void answer_queries(TareCudaRows& rows, const TareCudaQuestion& question,
                    const TareCudaAnswer& answer) {
  check(cudaSetDevice(rows.device), "choosing the device");
  const bool tensor = serves_tensor(rows, question);
  if (looks_near(rows, question, tensor)) {
    Pass(rows, question, answer, Metric::kNear).run(0.0, 1.0);
    return;
  }
  Pass(rows, question, answer, tensor ? Metric::kTensor : Metric::kDifferences)
      .run(0.0, tensor ? 0.9 : 1.0);
  if (tensor) answer_rest(rows, question, answer);
}

}  // namespace tare_cuda

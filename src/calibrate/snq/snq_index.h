// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "calibrate/snq/engine/cuda_answer.h"
#include "calibrate/snq/engine/engine.h"

namespace tare {

/// The engine that answers SNQ's queries on a sample: the one asked for, or the one that costs
/// least. A job that is large enough, or is told to, runs on a GPU instead.
class SnqIndex {
 public:
  /// Throws kInvalidArgument where options.index is no engine, or not made for the kernel, the
  /// weights or the features.
  SnqIndex(std::shared_ptr<const LocalSample> sample, const SnqOptions& options);

  std::string_view name() const noexcept { return info_->name; }
  /// Fills `result`, whose vectors have their sizes. Levels ascend.
  void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const;

 private:
  std::shared_ptr<const LocalSample> sample_;
  const SnqEngineInfo* info_;
  std::unique_ptr<const SnqEngine> engine_;

  /// The rows on a GPU, from the first job there on; null where the job stays on the processor.
  std::shared_ptr<const CudaAnswer> on_gpu(double seconds_here, std::size_t threads,
                                           std::size_t queries, const SnqOptions& options,
                                           const Device& asked) const;
  mutable std::mutex gpu_guard_;
  mutable std::shared_ptr<const CudaAnswer> gpu_;
  mutable bool gpu_failed_ = false;  // it is not tried again
};

/// Throws kInvalidArgument where options.index is no engine, or one that is made for no sample with
/// this kernel: what can be said before there are rows.
void check_index_and_kernel(const SnqOptions& options);

/// At most as many threads as asked for, and no more than the work keeps busy for so long that
/// starting them does not matter.
std::size_t worthwhile_threads(std::size_t asked, double nanoseconds);

}  // namespace tare

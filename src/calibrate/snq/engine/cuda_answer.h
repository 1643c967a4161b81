// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "calibrate/snq/engine/engine.h"
#include "device/cuda_library.h"

namespace tare {

/// SNQ on a GPU: all rows for every query, or with windows those near to it, in single precision.
/// The cumulative weight of an answer is within 1e-5 of the level. A query for which single
/// precision is not good enough, or without a row within the bandwidth, is answered by the sample
/// itself on the processor.
///
/// Not in the table of engines: which engine a model has is part of its file, and where it runs is
/// not. Immutable; predict may be called from several threads at once, which then take turns. An
/// answer does not depend on the queries beside it, and has the same bits each time on the same
/// GPU.
class CudaAnswer {
 public:
  /// Null where the GPU has no memory for the rows, or fails: note_device_problem then says why.
  static std::unique_ptr<const CudaAnswer> make(std::shared_ptr<const LocalSample> sample,
                                                int device);

  /// False where the GPU failed or has too little memory; the result then has no meaning. Throws
  /// Stopped.
  bool predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const;

  int device() const noexcept { return device_; }

 private:
  CudaAnswer(std::shared_ptr<const LocalSample> sample, CudaRows rows, int device);
  void answer_rest(MatrixView z, std::span<const std::size_t> rest, std::span<const Level> levels,
                   const SnqOptions& options, const Execution& how, Prediction& result) const;

  std::shared_ptr<const LocalSample> sample_;
  CudaRows rows_;
  int device_;
};

/// Whether CudaAnswer takes such a job at all: a finite bandwidth within reach of single precision,
/// 1 to 64 features.
bool cuda_serves(const LocalSample& sample, const SnqOptions& options);

/// The GPU that a job of some seconds on the processor, and some there, should run on: the one that
/// was asked for, or with auto the first one where it is quicker. Nothing where it should stay on
/// the processor. Says why not where a GPU was asked for.
std::optional<int> device_for(const Device& asked, double seconds_here, double seconds_there);

/// How long a GPU needs for pairs of a row and a query.
double seconds_of_pairs(double pairs, std::size_t dims);

/// leave_one_out_losses for rows in no order, by a GPU: for gaussian and laplace kernels. Nothing
/// where the job should stay on the processor.
std::optional<Matrix> cuda_losses(const LocalSample& sample, const SnqOptions& options,
                                  std::span<const double> bandwidths,
                                  std::span<const std::size_t> places, const Execution& how);

}  // namespace tare

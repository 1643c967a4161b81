// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "calibrate/snq/engine/dense_answer.h"
#include "calibrate/snq/engine/line_answer.h"
#include "calibrate/snq/engine/mask_answer.h"
#include "calibrate/snq/engine/tree_answer.h"
#include "calibrate/snq/window/local_sample.h"
#include "tare/base/execution.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// One of the ways to answer SNQ's queries, and what it keeps for that.
class SnqIndex {
 public:
  /// Builds options.index, or what choose_index says. Throws kInvalidArgument where the index is
  /// not made for the kernel, the weights or the features.
  SnqIndex(std::shared_ptr<const LocalSample> sample, const SnqOptions& options);

  IndexKind kind() const noexcept { return kind_; }
  /// Fills `result`, whose vectors have their sizes. Levels ascend.
  void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const;

 private:
  void predict_one_by_one(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                          const Execution& how, Prediction& result) const;

  Execution with_worthwhile_threads(const Execution& how, std::size_t queries,
                                    std::size_t levels) const;

  std::shared_ptr<const LocalSample> sample_;
  IndexKind kind_;
  double query_cost_ = 0.0;  // nanoseconds, about
  std::unique_ptr<const TreeAnswer> tree_;
  std::unique_ptr<const LineAnswer> line_;
  std::unique_ptr<const DenseAnswer> dense_;
  std::unique_ptr<const MaskAnswer> masks_;  // of kBrute, where it serves
};

/// Throws kInvalidArgument where the index is made for no sample with this kernel: what can be said
/// before there are rows.
void check_index_and_kernel(const SnqOptions& options);

/// At most as many threads as asked for, and no more than the work keeps busy for so long that
/// starting them does not matter.
std::size_t worthwhile_threads(std::size_t asked, double nanoseconds);

/// The index that answers fastest, by what some rows see around them.
IndexKind choose_index(const LocalSample& sample, const SnqOptions& options);

}  // namespace tare

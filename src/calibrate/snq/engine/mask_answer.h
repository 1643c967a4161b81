// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "calibrate/snq/window/local_sample.h"
#include "index/coarse_rows.h"
#include "tare/base/execution.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// SNQ's answers for naive windows with equal weights, where no structure helps: every row is
/// tested, a block of rows for many queries while it is in the cache, and all that is kept of a
/// query is a bit per row. Rows stand in the order of their residuals, so a quantile is the k-th
/// bit. Rows are tested on a coarse grid where that is fine enough, and in boxes where that leaves
/// out enough of them; else in double precision. All find the same.
class MaskAnswer {
 public:
  static bool serves(const LocalSample& sample, const SnqOptions& options);

  /// Needs serves. The sample must outlive this.
  MaskAnswer(const LocalSample& sample, const SnqOptions& options);

  /// Fills `result`, whose vectors have their sizes. Levels ascend. The options are
  /// those of the constructor.
  void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const;

 private:
  struct Task;
  struct Memory;
  void find_near(const Task& task, std::size_t first, std::size_t last, Memory& memory) const;
  void answer_query(const Task& task, std::size_t query, const std::uint64_t* mask,
                    Memory& memory) const;
  double nearest(std::span<const double> query, const std::uint64_t* mask, std::size_t count,
                 Memory& memory) const;

  const LocalSample& sample_;
  CoarseRows coarse_;
  std::vector<double> last_word_;  // rows after the last full word, filled up
};

}  // namespace tare

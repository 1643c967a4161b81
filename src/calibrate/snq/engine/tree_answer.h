// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "calibrate/snq/engine/engine.h"
#include "index/kd_tree.h"
#include "index/query_groups.h"

namespace tare {

/// The radius within which the rows of a query are looked for among `rows`; not for knn.
double window_reach(const SnqOptions& options, std::size_t rows);

/// SNQ's answers from the rows within the bandwidth, found by a tree.
///
/// Queries are taken in groups of neighbours. Windows of rows with equal weight need no weights at
/// all: their quantiles are ranks, counted in a SharedWindow. For other weights the rows around a
/// group are a small LocalSample, on which a query takes the very steps it would take on all rows.
///
/// Gaussian and laplace weights reach everywhere. They are cut at a radius beyond which all rows
/// together could add no more than 1e-6 of the weight found; a query for which that does not
/// hold, far from all rows, is answered from all of them.
class TreeAnswer final : public SnqEngine {
 public:
  /// The sample must outlive this.
  explicit TreeAnswer(const LocalSample& sample);

  static SnqEngineInfo info();

  /// The bandwidth is finite.
  void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const override;
  double query_cost() const override { return kCostOfSomeRows; }

 private:
  struct Task;
  struct Memory;
  bool counts_ranks(const SnqOptions& options) const;
  void answer_ranks(const Task& task, std::span<const std::uint32_t> group, Memory& memory) const;
  void answer_weights(const Task& task, std::span<const std::uint32_t> group, Memory& memory) const;
  void answer_nearest(const Task& task, std::uint32_t query, std::size_t count,
                      Memory& memory) const;
  void answer_fallback(const Task& task, std::uint32_t query, Memory& memory) const;
  void answer_from_all(const Task& task, std::uint32_t query, Memory& memory) const;
  LocalSample found_rows(Memory& memory) const;
  void select_quantiles(const Task& task, std::uint32_t query, std::size_t in_reach,
                        Memory& memory) const;

  const LocalSample& sample_;
  KdTree tree_;
};

}  // namespace tare

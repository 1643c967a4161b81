// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "calibrate/snq/engine/engine.h"
#include "index/dense/dense_rows.h"

namespace tare {

/// SNQ for kernels that give every row a weight, in single precision where that is good enough: the
/// cumulative weight of an answer is then within 1e-5 of the level. A query for which it is not
/// (far from all rows, or with coordinates that are large against the bandwidth) is answered by the
/// sample itself, in double precision.
///
/// Immutable; predict may be called from several threads at once, and an answer does not depend on
/// the queries beside it.
class DenseAnswer final : public SnqEngine {
 public:
  explicit DenseAnswer(std::shared_ptr<const LocalSample> sample);

  static SnqEngineInfo info();

  /// Whether predict takes these options: gaussian or laplace, and neither the bandwidth nor the
  /// features out of reach of single precision.
  bool serves(const SnqOptions& options) const;

  /// Fills rows first, ..., last - 1 of the result, whose shape is set. Needs serves(options).
  /// Returns how many queries were answered in double precision.
  std::size_t predict(MatrixView z, std::size_t first, std::size_t last, const SnqOptions& options,
                      std::span<const Level> ascending, Prediction& result) const;

  /// All rows of the result, in blocks of queries that share the calibration rows.
  void predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
               const Execution& how, Prediction& result) const override;
  double query_cost() const override;

  /// How squared distances are computed: the quickest way whose rounding is small enough.
  DenseMetric metric(const SnqOptions& options) const;
  const DenseRows& rows() const noexcept { return rows_; }

 private:
  class Work;

  std::shared_ptr<const LocalSample> sample_;
  DenseRows rows_;
};

}  // namespace tare

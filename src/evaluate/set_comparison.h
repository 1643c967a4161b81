// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/execution.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/calibrate/shortest_sets.h"

namespace tare {

/// 90 % sets of rows with known targets: the shortest ones beside central intervals. Targets on an
/// end count as inside. Lengths are infinite if an end is.
struct SetComparison {
  std::size_t rows = 0;
  double coverage = 0.0;
  double length = 0.0;  // mean, of both parts together
  double central_coverage = 0.0;
  double central_length = 0.0;
  double two_parts = 0.0;   // share of the rows
  bool guaranteed = false;  // shortest sets have ranks of their own

  /// Some rows for a picture, spread over all.
  struct Row {
    double y = 0.0;
    double median = 0.0;
    double lower = 0.0, upper = 0.0;  // of the central interval
    double ends[kSetColumns] = {};    // of the shortest set
    bool is_inside() const;
  };
  std::vector<Row> drawn;
};

/// Gathers rows batch by batch.
class SetComparisonTally {
 public:
  void add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
           const Execution& how = {});
  /// Throws kInvalidArgument where no row was added.
  SetComparison finish() const;

 private:
  std::vector<SetComparison::Row> rows_;
  bool guaranteed_ = true;
};

}  // namespace tare

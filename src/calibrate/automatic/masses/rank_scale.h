// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/tensor_store.h"

namespace tare::automatic {

/// Maps values to their relative rank in a sample, between 0 and 1: the share below plus half of
/// the share that is equal. Ranks have no heavy tails and no clusters, so a window of ranks
/// contains about the same number of rows everywhere.
class RankScale {
 public:
  /// At most `most` knots, of equal shares of the sample; each distinct value has one where there
  /// are no more. `values` has an entry and is finite.
  static RankScale of(std::span<const double> values, std::size_t most);

  /// Between knots by a straight line, 0 to 1; outside all knots the rank of the outermost one.
  double place(double value) const;
  /// The value of a knot from its rank, exactly.
  double value_at(double place) const;

  void save(const TensorWriter& out, const std::string& name) const;
  /// Throws kCorruptFile.
  static RankScale load(const TensorReader& in, const std::string& name);

 private:
  std::vector<double> values_;  // ascending, each once
  std::vector<double> places_;  // ascending, each once
};

}  // namespace tare::automatic

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/tensor_store.h"

namespace tare::automatic {

/// From values to their place among those of a sample, between 0 and 1: the share below, and half
/// of the share that is equal. Where values have heavy tails or pile up, places do not, and a
/// window of places holds about as many rows everywhere.
class RankScale {
 public:
  /// At most `most` knots, of equal shares of the sample; each distinct value has one where there
  /// are no more. `values` has an entry and is finite.
  static RankScale of(std::span<const double> values, std::size_t most);

  /// Between knots by a straight line, 0 to 1; outside all knots the place of the outermost one.
  double place(double value) const;
  /// The value of a knot from its place, exactly.
  double value_at(double place) const;

  void save(const TensorWriter& out, const std::string& name) const;
  /// Throws kCorruptFile.
  static RankScale load(const TensorReader& in, const std::string& name);

 private:
  std::vector<double> values_;  // ascending, each once
  std::vector<double> places_;  // ascending, each once
};

}  // namespace tare::automatic

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tare/apply/notice.h"
#include "tare/calibrate/shortest_sets.h"

namespace tare {

/// What is to be said about the shortest sets of some rows.
class SetTally {
 public:
  /// Of a model with or without a guarantee.
  explicit SetTally(bool has_guarantee) : has_guarantee_(has_guarantee) {}

  void add(const ShortestSets& sets);
  std::vector<Notice> notices() const;

 private:
  bool has_guarantee_;
  std::size_t rows_ = 0;
  std::size_t without_ = 0;  // whose model has a guarantee, though not of these sets
  std::size_t beyond_ = 0;
};

}  // namespace tare

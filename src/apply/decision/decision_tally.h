// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tare/apply/notice.h"
#include "tare/decide/decision.h"

namespace tare {

/// Counts the rows whose decision rests on an assumption beyond the model's quantiles.
class DecisionTally {
 public:
  void add(const Decision& decision);
  std::vector<Notice> notices() const;

 private:
  std::size_t rows_ = 0;
  std::size_t infinite_tail_ = 0;
  std::size_t outside_table_ = 0;
};

}  // namespace tare

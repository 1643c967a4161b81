// SPDX-License-Identifier: BSD-3-Clause
#include "apply/decision/decision_tally.h"

#include <fmt/format.h>

namespace tare {

void DecisionTally::add(const Decision& decision) {
  ++rows_;
  if (decision.infinite_tail) ++infinite_tail_;
  if (decision.outside_table) ++outside_table_;
}

std::vector<Notice> DecisionTally::notices() const {
  std::vector<Notice> all;
  if (infinite_tail_ > 0) {
    all.push_back({"infinite_tail", infinite_tail_,
                   fmt::format("{} of {} rows have infinite quantiles. Expected costs count the "
                               "outermost finite quantile in their place, and are too small by "
                               "what lies beyond it.",
                               infinite_tail_, rows_)});
  }
  if (outside_table_ > 0) {
    all.push_back({"outside_cost_table", outside_table_,
                   fmt::format("{} of {} rows have more than 1 % of their distribution beyond the "
                               "outcomes of the table of costs, where the cost of the nearest "
                               "outcome counts.",
                               outside_table_, rows_)});
  }
  return all;
}

}  // namespace tare

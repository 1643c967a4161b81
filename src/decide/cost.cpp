// SPDX-License-Identifier: BSD-3-Clause
#include "tare/decide/cost.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "base/fail.h"

namespace tare {
namespace {

void check_rate(const char* name, double value) {
  if (value > 0.0 && std::isfinite(value)) return;
  fail(ErrorCode::kInvalidArgument,
       {.option = "cost",
        .value = fmt::to_string(value),
        .remedies = {advice("over=1,under=4 is a pair of costs for each unit")}},
       "'{}' must be a positive number, got '{}'", name, value);
}

void check_entry(const Cost::Entry& entry) {
  if (std::isfinite(entry.action) && std::isfinite(entry.outcome) && std::isfinite(entry.cost)) {
    return;
  }
  fail(ErrorCode::kBadData, {.option = "cost"},
       "the table has a number that is not finite: action {}, outcome {}, cost {}", entry.action,
       entry.outcome, entry.cost);
}

}  // namespace

Cost Cost::over_under(double over, double under) {
  check_rate("over", over);
  check_rate("under", under);
  Cost cost;
  cost.over_ = over;
  cost.under_ = under;
  // By the ratio, as the sum of two large costs may overflow. Fifteen digits drop the rounding of
  // the two operations, so that 0.03 and 0.07 give 0.7.
  const double level = std::stod(fmt::format("{:.15g}", 1.0 / (1.0 + over / under)));
  if (!(level > 0.0 && level < 1.0)) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "cost",
          .value = fmt::format("over={},under={}", over, under),
          .remedies = {advice("name costs that are closer to each other")}},
         "over={} and under={} differ so much that the best level, under / (over + under), is {}",
         over, under, level);
  }
  cost.level_.emplace(level);
  return cost;
}

Cost Cost::table(std::span<const Entry> entries) {
  if (entries.empty()) {
    fail(ErrorCode::kBadData, {.option = "cost"}, "the table of costs has no rows");
  }
  Cost cost;
  std::unordered_map<double, std::size_t> place;
  std::vector<std::vector<Entry>> of_action;
  for (Entry entry : entries) {
    check_entry(entry);
    entry.action += 0.0;  // one zero
    const auto [found, is_new] = place.emplace(entry.action, of_action.size());
    if (is_new) of_action.emplace_back();
    of_action[found->second].push_back(entry);
  }
  for (std::vector<Entry>& list : of_action) {
    std::ranges::sort(list, {}, &Entry::outcome);
    ActionCosts one;
    one.action = list.front().action;
    for (const Entry& entry : list) {
      if (!one.outcomes.empty() && one.outcomes.back() == entry.outcome) {
        fail(ErrorCode::kBadData, {.option = "cost", .remedies = {advice("state each pair once")}},
             "the table has two costs for action {} and outcome {}", entry.action, entry.outcome);
      }
      one.outcomes.push_back(entry.outcome);
      one.costs.push_back(entry.cost);
    }
    cost.actions_.push_back(std::move(one));
  }
  return cost;
}

double Cost::at(const ActionCosts& action, double outcome) {
  const auto next = std::ranges::upper_bound(action.outcomes, outcome);
  if (next == action.outcomes.begin()) return action.costs.front();
  if (next == action.outcomes.end()) return action.costs.back();
  const auto k = static_cast<std::size_t>(next - action.outcomes.begin());
  const double low = action.outcomes[k - 1];
  const double share = (outcome / 2.0 - low / 2.0) / (*next / 2.0 - low / 2.0);
  return std::lerp(action.costs[k - 1], action.costs[k], share);
}

double Cost::at(double action, double outcome) const {
  return action >= outcome ? over_ * (action - outcome) : under_ * (outcome - action);
}

}  // namespace tare

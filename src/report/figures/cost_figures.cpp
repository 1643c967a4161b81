// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/cost_figures.h"

#include <fmt/format.h>

#include <cmath>

#include "report/figures/row_chart.h"
#include "report/html/numbers.h"

namespace tare {
namespace {

constexpr double kTwoSided = 1.96;  // of a 95 % interval

NamedValue bar_of(const char* name, const RuleCost& rule, Ink ink) {
  const double reach = kTwoSided * rule.error;
  return {
      .name = name,
      .value = rule.mean,
      .low = rule.mean - reach,
      .high = rule.mean + reach,
      .ink = ink,
      .tip = fmt::format("{}\nmean cost {} (95 % interval {} to {})", name, number_text(rule.mean),
                         number_text(rule.mean - reach), number_text(rule.mean + reach))};
}

std::string cost_number(double value) { return std::isnan(value) ? "-" : number_text(value); }

/// "costs 1.7 more a row (95 % interval 1.1 to 2.3), 25 % of ...". Costs may be negative, as
/// profits.
std::string extra_text(const RuleCost& rule, const RuleCost& best) {
  const double sign = rule.extra < 0.0 ? -1.0 : 1.0;
  const double reach = kTwoSided * rule.extra_error;
  std::string text = fmt::format("costs {} {} a row", cost_number(sign * rule.extra),
                                 sign < 0.0 ? "less" : "more");
  if (!std::isnan(reach)) {  // as it is for a single row
    text += fmt::format(" (95 % interval {} to {})", cost_number(sign * rule.extra - reach),
                        cost_number(sign * rule.extra + reach));
  }
  if (!(best.mean > 0.0) || !std::isfinite(rule.extra)) return text;
  return fmt::format("{}, {} of the best actions' cost", text,
                     percent_text(sign * rule.extra / best.mean));
}

}  // namespace

Card cost_card(const CostComparison& worth) {
  Card card;
  card.title = "Mean cost of three rules for actions";
  std::vector<NamedValue> bars = {bar_of("best action of each row", worth.action, Ink::kBlue),
                                  bar_of("mean", worth.mean, Ink::kOrange)};
  const bool has_margin = !std::isnan(worth.margin.mean);
  if (has_margin) bars.push_back(bar_of("mean plus a constant", worth.margin, Ink::kOrange));
  card.pictures = row_chart({.label = "Mean cost of three rules, with 95 % intervals",
                             .x_label = "cost per row",
                             .marks = {worth.action.mean},
                             .names_above = true},
                            bars);
  card.words = {
      fmt::format(
          "Costs: {}. The best action of a row has the least expected cost under its "
          "predicted distribution. Its mean cost on these rows is {}; the model expected {}.",
          worth.costs, cost_number(worth.action.mean), cost_number(worth.expected)),
      fmt::format("Acting on the mean of the distribution {}.",
                  extra_text(worth.mean, worth.action))};
  if (has_margin) {
    card.words.push_back(fmt::format(
        "Acting on the mean plus one constant safety margin {}. The margin is the "
        "best one on four fifths of these rows, and is used on the other fifth: {} to {}.",
        extra_text(worth.margin, worth.action), cost_number(worth.margin_low),
        cost_number(worth.margin_high)));
  }
  card.words.push_back(
      "Differences are paired by row, so they are known better than the costs themselves.");
  card.table = {
      {"rule", "mean cost", "standard error", "more than the best action", "standard error of it"}};
  const auto add = [&](const char* name, const RuleCost& rule) {
    card.table.push_back({name, cost_number(rule.mean), cost_number(rule.error),
                          cost_number(rule.extra), cost_number(rule.extra_error)});
  };
  add("best action of each row", worth.action);
  add("mean", worth.mean);
  if (has_margin) add("mean plus a constant", worth.margin);
  return card;
}

}  // namespace tare

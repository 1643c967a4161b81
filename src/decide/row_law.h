// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "tare/decide/cost.h"

namespace tare {

/// A part of a row's distribution: this probability, spread evenly from low to high.
struct LawPiece {
  double low = 0.0;
  double high = 0.0;  // equal to low: a point with a mass
  double weight = 0.0;
};

/// The distribution of a row as pieces in ascending order, whose weights add up to 1. See Decider
/// for what lies between and beyond the levels.
struct RowLaw {
  std::vector<LawPiece> pieces;  // empty: no quantile is finite
  double mean = 0.0;             // NaN without pieces
  bool infinite_tail = false;    // an infinite quantile was replaced

  /// `widths` are the steps from 0 over the levels to 1: one more than there are quantiles.
  RowLaw(std::span<const double> quantiles, std::span<const double> widths);
};

/// Expected cost of an action of over/under costs, and of an action of a table.
double expected_cost(const RowLaw& law, const Cost& cost, double action);
double expected_cost(const RowLaw& law, const Cost::ActionCosts& action);

/// The probability below `low` and above `high`.
double mass_outside(const RowLaw& law, double low, double high);

}  // namespace tare

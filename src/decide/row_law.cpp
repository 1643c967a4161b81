// SPDX-License-Identifier: BSD-3-Clause
#include "decide/row_law.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/compensated_sum.h"

namespace tare {
namespace {

/// Replaces infinite quantiles by the nearest finite one; false if there is none, or one is NaN.
bool replace_infinite(std::vector<double>& q, bool& replaced) {
  if (std::ranges::any_of(q, [](double value) { return std::isnan(value); })) return false;
  const auto finite = [](double value) { return std::isfinite(value); };
  const auto first = std::ranges::find_if(q, finite);
  if (first == q.end()) return false;
  const auto end = std::find_if(q.rbegin(), q.rend(), finite).base();
  replaced = first != q.begin() || end != q.end();
  std::fill(q.begin(), first, *first);
  std::fill(end, q.end(), *(end - 1));
  return true;
}

/// The point at `share` of the way, where differences of large numbers must not overflow.
double share_of_way(double low, double high, double at) {
  return (at / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
}

double middle(double low, double high) { return low / 2.0 + high / 2.0; }

/// Where the cost of an action is a straight line, as neighbouring outcomes are walked through.
double cost_between(const Cost::ActionCosts& action, std::size_t next, double outcome) {
  if (next == 0) return action.costs.front();
  if (next == action.outcomes.size()) return action.costs.back();
  const double share = share_of_way(action.outcomes[next - 1], action.outcomes[next], outcome);
  return std::lerp(action.costs[next - 1], action.costs[next], share);
}

/// The mean cost over a piece; `next` is the first outcome above its low end.
double mean_cost(const LawPiece& piece, const Cost::ActionCosts& action, std::size_t& next) {
  const std::vector<double>& outcomes = action.outcomes;
  while (next < outcomes.size() && outcomes[next] <= piece.low) ++next;
  if (piece.low == piece.high) return cost_between(action, next, piece.low);
  double sum = 0.0;
  double from = piece.low;
  double done = 0.0;  // share of the piece
  while (true) {
    const bool last = next == outcomes.size() || outcomes[next] >= piece.high;
    const double to = last ? piece.high : outcomes[next];
    const double share = last ? 1.0 : share_of_way(piece.low, piece.high, to);
    sum +=
        (share - done) * middle(cost_between(action, next, from), cost_between(action, next, to));
    if (last) return sum;
    from = to;
    done = share;
    ++next;
  }
}

}  // namespace

RowLaw::RowLaw(std::span<const double> quantiles, std::span<const double> widths) {
  std::vector<double> q(quantiles.begin(), quantiles.end());
  mean = std::numeric_limits<double>::quiet_NaN();
  if (!replace_infinite(q, infinite_tail)) return;
  const std::size_t last = q.size() - 1;
  pieces.reserve(2 * q.size() + 2);
  pieces.push_back({q[0], q[0], widths[0]});
  for (std::size_t j = 0; j < last; ++j) {
    const double width = widths[j + 1];
    // Two values with a mass each: nothing lies between them.
    const bool jump =
        q[j] < q[j + 1] && q[j > 0 ? j - 1 : 0] == q[j] && q[std::min(j + 2, last)] == q[j + 1];
    if (jump) {
      pieces.push_back({q[j], q[j], width / 2.0});
      pieces.push_back({q[j + 1], q[j + 1], width / 2.0});
    } else {
      pieces.push_back({q[j], q[j + 1], width});
    }
  }
  pieces.push_back({q[last], q[last], widths[last + 1]});
  // Around the median, so that the mean of equal quantiles is their value to the last digit.
  const double center = q[q.size() / 2];
  CompensatedSum shift;
  for (const LawPiece& piece : pieces) {
    // Halves, so that the distance of large numbers does not overflow.
    shift.add(piece.weight * (piece.low / 2.0 - center / 2.0));
    shift.add(piece.weight * (piece.high / 2.0 - center / 2.0));
  }
  mean = center + shift.value();
}

double expected_cost(const RowLaw& law, const Cost& cost, double action) {
  if (law.pieces.empty() || std::isnan(action)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(action)) return std::numeric_limits<double>::infinity();
  CompensatedSum sum;
  for (const LawPiece& piece : law.pieces) {
    if (action >= piece.high) {
      sum.add(piece.weight * cost.over() * (action - middle(piece.low, piece.high)));
    } else if (action <= piece.low) {
      sum.add(piece.weight * cost.under() * (middle(piece.low, piece.high) - action));
    } else {
      const double share = share_of_way(piece.low, piece.high, action);
      sum.add(piece.weight * share * cost.over() * (action - piece.low) / 2.0);
      sum.add(piece.weight * (1.0 - share) * cost.under() * (piece.high - action) / 2.0);
    }
  }
  return sum.value();
}

double expected_cost(const RowLaw& law, const Cost::ActionCosts& action) {
  if (law.pieces.empty()) return std::numeric_limits<double>::quiet_NaN();
  CompensatedSum sum;
  std::size_t next = 0;
  for (const LawPiece& piece : law.pieces) {
    sum.add(piece.weight * mean_cost(piece, action, next));
  }
  return sum.value();
}

double mass_outside(const RowLaw& law, double low, double high) {
  double mass = 0.0;
  for (const LawPiece& piece : law.pieces) {
    if (piece.high < low || piece.low > high) {
      mass += piece.weight;
    } else if (piece.low < piece.high) {
      const double below = piece.low < low ? share_of_way(piece.low, piece.high, low) : 0.0;
      const double above =
          piece.high > high ? 1.0 - share_of_way(piece.low, piece.high, high) : 0.0;
      mass += piece.weight * (below + above);
    }
  }
  return mass;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/guarantee/conditional/quantile_vertex.h"

namespace tare {

/// The largest score of a new row that a conditional guarantee covers (Gibbs, Cherian, Candes
/// 2023): the quantile regression of the held-out scores, with the new row added at an infinite
/// score, evaluated at the new row.
///
/// The new row adds t times its features to the sum of duals that must vanish, and an infinite
/// score has the dual t = tau. The held-out rows are fitted once, at t = 0. For each new row, t
/// then grows to tau, with a pivot where the dual of a basis row leaves its range. The largest
/// covered score is the fit just before t = tau: from there on, the dual of a larger score is tau.
/// A new row of usual leverage needs a few pivots.
///
/// A pivot looks for the row that the moving fit meets first. Rows are in the order of the size of
/// their residual in the first fit, in units of their features' length. By Cauchy and Schwarz a
/// row with a larger one cannot be met before a step that is known from this order, so that a
/// search ends after some dozens of rows, whatever their number.
class ImputedPath {
 public:
  /// phi and score as in fit_quantile, which must outlive this.
  ImputedPath(MatrixView phi, std::span<const double> score, double tau);

  /// The largest score that is covered at a row with these features; none: all scores are.
  /// `pivots`, if given, gets the number of pivots, and `looked_at` that of rows looked at.
  struct Effort {
    std::size_t pivots = 0;
    std::size_t rows = 0;
  };
  std::optional<double> threshold(std::span<const double> phi_new, Effort* effort = nullptr) const;
  /// Of memory.
  std::size_t bytes() const noexcept { return order_.size() * sizeof(Near); }

 private:
  struct Near {
    double key;       // least length of a change of coefficients that meets the row
    double residual;  // of the first fit
    std::uint32_t row;
  };
  struct Meeting {
    double step = std::numeric_limits<double>::infinity();
    std::uint32_t row = 0;
    bool found = false;
  };
  Meeting first_meeting(const QuantileVertex& vertex, std::span<const double> direction,
                        std::span<const double> moved, Effort& effort) const;

  MatrixView phi_;
  std::span<const double> score_;
  double tau_;
  QuantileVertex start_;
  std::vector<Near> order_;
};

}  // namespace tare

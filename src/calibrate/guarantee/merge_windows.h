// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/guarantee/guarantee_merge.h"
#include "tare/base/level.h"

namespace tare {

/// The answers of FoldMerge to a few levels, from the steps of each fold near these answers.
///
/// The models of the folds mostly agree, so that an answer lies at nearly the same place on all of
/// their curves. Only the steps at these places are looked at, and the models are only asked for
/// the knots of these steps. The steps left out are below the first or above the last that is
/// looked at. Where the answer found lies between these two in every fold, no step left out can
/// change it, and it is the answer of FoldMerge to the bit. Where not, the row has no answer here
/// and needs wider windows.
class MergeWindows {
 public:
  /// The value at which the mass of the upper or of the lower scores reaches `mass`.
  struct Target {
    Mass mass = 1;  // from 1 to that of all rows
    bool upper = true;
  };
  /// Places (CurvePlace::at) among which an answer is looked for.
  struct Reach {
    double low = 0.0;
    double high = 0.0;
  };
  /// For one thread.
  struct Scratch {
    std::vector<double> values, sorted, guesses;
    std::vector<std::size_t> order;
  };

  /// A guess where nothing is known about the rows: 0.3 sd of a Bernoulli variable to both sides of
  /// the level at which the answer would be if all models were the same.
  static std::vector<Reach> usual_reach(const FoldRanks& ranks, std::span<const Level> knots,
                                        std::span<const Target> targets);

  MergeWindows(const FoldRanks& ranks, std::span<const Level> knots,
               std::span<const Target> targets, std::span<const Reach> reach);

  /// What the model of a fold is asked for.
  std::span<const Level> levels(std::size_t fold) const { return asked_[fold]; }
  /// Of all folds.
  std::size_t columns() const noexcept { return columns_; }

  /// quantiles[k] has the new row's at levels(k); out[t] becomes the answer to targets[t]. False
  /// where the windows are too narrow for some of them. `seen`, where not empty, becomes the places
  /// among which each answer lies.
  bool answer(std::span<const std::span<const double>> quantiles, Scratch& scratch,
              std::span<double> out, std::span<Reach> seen) const;

 private:
  /// A step that is looked at.
  struct Step {
    std::uint32_t column = 0;  // of its knot; the next column is the next knot
    double share = 0.0;
    double beyond = 0.0;
    double at = 0.0;
    Mass mass = 1;
  };
  /// Steps first, ..., last - 1 of a fold.
  struct Part {
    std::uint32_t fold = 0;
    std::size_t first = 0, last = 0;
    bool has_lower = false, has_higher = false;  // steps that are left out
  };
  struct Window {
    std::vector<Step> steps;
    std::vector<Part> parts;
    Mass needed = 0;  // from the first step on; 0: the window cannot have the answer
    Mass each = 0;    // of every step where they are alike, else 0
  };
  void add(const FoldRanks& ranks, const Target& target, const Reach& reach);
  static double select(const Window& window, Scratch& scratch);
  static double select_rank(const Window& window, std::size_t rank, Scratch& scratch);

  std::vector<std::vector<Level>> asked_;
  std::vector<Window> windows_;
  std::size_t columns_ = 0;
};

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/effort.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/features/screening.h"

namespace tare::automatic {
namespace {

constexpr std::array kAutoOptions = std::to_array<ParamInfo>({
    {"budget", "default", "how much time to spend on accuracy: quick, default, best"},
    {"time", "none",
     "how long the fit may take, such as 30s, 2m or 1h, in place of a budget: the largest budget "
     "that is done by then. The answers are those of that budget"},
    {"folds", "auto", "number of folds of cross-fitting, 2 to 50; auto: set by the budget"},
    {"most_rows", "auto",
     "number of rows to learn from, 100 or more: where there are more, some at random, of a series "
     "the last ones; auto: 200,000, all with the budget best"},
    {"rounds", "auto",
     "number of times that all is trained, with other folds and seeds, 1 to 20; answers are the "
     "mean; auto: set by the budget"},
    {"steps", "auto", "training steps of a network; auto: set by the budget"},
    {"ensemble", "1", "number of such models that the caller averages; each then trains less"},
    {"kernel", "gaussian",
     "kernel of the distance: naive, epanechnikov, triangular, tricube, gaussian, laplace, knn"},
    kScreenOption,
});

}  // namespace

std::span<const ParamInfo> effort_options() { return kAutoOptions; }

Effort effort_of(const Params& params) {
  const std::string budget = canonical_name(params.text("budget", "default"));
  Effort effort;
  if (budget == "quick") {
    effort = {.folds = 5,
              .folds_of_many = 5,
              .rungs = 1,
              .processes = false,
              .trees = 20,
              .all_families = false,
              .smooth = false};
  } else if (budget == "half") {  // of the fits for the bands (Method::half_params)
    effort = {.folds = 3,
              .folds_of_many = 3,
              .rungs = 1,
              .processes = false,
              .trees = 25,
              .all_families = false,
              .smooth = false,
              .rough = true,
              .contest_rows = 500};
  } else if (budget == "proof") {  // of a second model (Method::proof_params)
    effort = {.folds = 3, .folds_of_many = 3, .trees = 30, .smooth = false, .contest_rows = 2000};
  } else if (budget == "best") {
    effort = {.rounds = 4,
              .rounds_of_many = 2,
              .folds = 12,
              .folds_of_many = 12,
              .folds_of_most = 6,
              .most_rows = std::numeric_limits<std::size_t>::max()};
  } else if (budget != "default") {
    fail_option("budget", budget, "must be quick, default or best");
  }
  if (params.text("folds", "auto") != "auto") {
    effort.folds = params.count("folds", 8, 2, 50);
    effort.folds_of_many = effort.folds_of_most = effort.folds;
  }
  if (params.text("rounds", "auto") != "auto") {
    effort.rounds = effort.rounds_of_many = params.count("rounds", 1, 1, kMostRounds);
  }
  if (params.text("most_rows", "auto") != "auto") {
    effort.most_rows = params.count("most_rows", effort.most_rows, 100, 4'000'000'000);
  }
  if (params.text("steps", "auto") != "auto") {
    effort.steps = params.count("steps", 4000, 1, 10'000'000);
  }
  const std::size_t ensemble = params.count("ensemble", 1, 1, 1000);
  const auto shared = [&](std::size_t count) { return (count + ensemble - 1) / ensemble; };
  effort.rounds = shared(effort.rounds);
  effort.rounds_of_many = shared(effort.rounds_of_many);
  effort.trees = std::max(std::min<std::size_t>(effort.trees, 50), shared(effort.trees));
  return effort;
}

std::size_t fold_count(std::size_t rows, const Effort& effort) {
  constexpr std::size_t kRowsOfAFold = 5;  // at least
  constexpr std::size_t kManyForFolds = 4'000;
  constexpr std::size_t kMostForFolds = 40'000;
  std::size_t wanted = effort.folds;
  if (rows > kManyForFolds) wanted = effort.folds_of_many;
  if (rows > kMostForFolds) wanted = effort.folds_of_most;
  return std::clamp<std::size_t>(rows / kRowsOfAFold, 2, wanted);
}

std::size_t round_count(std::size_t rows, const Effort& effort) {
  constexpr std::size_t kManyForRounds = 20'000;
  return rows > kManyForRounds ? effort.rounds_of_many : effort.rounds;
}

}  // namespace tare::automatic

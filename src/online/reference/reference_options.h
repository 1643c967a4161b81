// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include "online/online_method.h"
#include "online/reference/tracked_levels.h"

namespace tare {

/// Scores are kept in a sorted list, so a row costs a move of at most this many numbers.
inline constexpr std::size_t kMostScores = 1'000'000;

inline constexpr ParamInfo kScoresOption = {
    "scores", "absolute",
    "absolute: |error|, an interval around the prediction; signed: error and -error, a threshold "
    "for each level, as the authors of pid and eci run all methods on elec2 and the climate data",
    "absolute,signed"};

/// Refuses options that the method does not have.
void check_options(const OnlineMethodInfo& method, const OnlineSetup& setup);

ScoreKind score_kind(const Params& params);
std::size_t window_option(const Params& params, std::size_t fallback);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tare/base/level.h"
#include "tare/calibrate/reliability.h"

namespace tare {

/// The grid that levels of bands are rounded to; ascending, and mirrors itself.
std::span<const Level> band_levels();

/// The number of draws that an effective sample size stands for.
std::uint64_t band_rows(double effective_n);

/// The levels at which a sample of `rows` draws bounds its law's quantile at `level`, not yet
/// rounded; nothing: no bound.
struct BandEnds {
  std::optional<double> low, high;
};
BandEnds band_ends(Level level, std::uint64_t rows);

}  // namespace tare

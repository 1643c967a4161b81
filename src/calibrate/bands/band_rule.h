// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tare/base/params.h"
#include "tare/base/rng.h"

namespace tare {

/// The option behind --bands, which every method has.
inline constexpr ParamInfo kBandsOption = {
    "bands", "off",
    "confidence bands of the quantiles and effective_n, from 12 fits on random halves of the rows: "
    "on, off; auto (the default of 'tare fit' and Python) means on from 100 to 10,000 rows unless "
    "the method is slow or the budget is quick. There are no bands if many targets share a value "
    "that the method's quantiles never take"};

enum class BandRule : std::uint8_t { kOff, kOn, kAuto };
/// Throws kInvalidArgument.
BandRule parse_bands(const Params& params);

/// Fits on halves. The relative error of a root mean square of 12 deviations is 1 / sqrt(24), a
/// fifth.
inline constexpr std::size_t kHalves = 12;
/// With fewer rows a half is too small to be informative about the whole.
inline constexpr std::size_t kRowsForBands = 100;
/// Above this number of rows bands=auto is off, because 12 more fits take too long.
inline constexpr std::size_t kMostRowsForAutoBands = 10'000;
/// A "half" has at most this many rows, so that time and file size stay bounded.
inline constexpr std::size_t kMostHalfRows = 2'000;

/// Rows of `count` fits on about half of `rows` rows: ascending, drawn without replacement. With
/// `blocks`, for rows in time order, whole blocks are drawn, of twenty of equal length, so that the
/// rest still consists of contiguous parts of a series.
std::vector<std::vector<std::size_t>> draw_halves(std::size_t rows, std::size_t count, bool blocks,
                                                  Seed seed);

/// The standard error of a fit on `rows` rows, in units of the standard deviation among fits on
/// `part` of them: sqrt(part / (rows - part)), which is 1 for halves.
///
/// For means: a fit on m of n rows has the variance V n/m, if V is that of the whole, and two such
/// fits share m^2/n rows and with them the covariance V. What is left is V (n - m) / m.
double deviation_scale(std::size_t part, std::size_t rows);

}  // namespace tare

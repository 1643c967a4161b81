// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tare {

struct ShiftCoverage {
  double plain = 0.0;     // of the 90 % interval, without weights
  double weighted = 0.0;  // with those towards the rows to be predicted
};

/// How the rows to be predicted differ from those of the fit.
enum class ShiftKind : std::uint8_t {
  kMoved,    // the first feature by one spread, towards more noise
  kCorners,  // seven times as often where two features have the same sign, which are noisier
};

/// Mean coverage of rows to be predicted, over draws. The model knows one law for all rows, so that
/// only the ranks can tell.
ShiftCoverage shift_coverage(ShiftKind kind, const std::string& guarantee, std::size_t rows,
                             std::uint64_t draws);

}  // namespace tare

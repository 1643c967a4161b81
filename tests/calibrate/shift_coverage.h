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

/// Mean coverage of rows whose first feature has moved by one spread towards more noise, over
/// draws. The model knows one law for all rows, so that only the ranks can tell.
ShiftCoverage shift_coverage(const std::string& guarantee, std::size_t rows, std::uint64_t draws);

}  // namespace tare

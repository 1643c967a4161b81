// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tare {

/// Rows of nothing but finite numbers, taken out of a stretch of text.
struct PlainRows {
  std::vector<std::vector<double>> columns;  // empty for a column that is skipped
  std::size_t rows = 0;
  const char* end = nullptr;  // where the first row starts that is not plain, or the stretch's end
};

/// Reads [first, last), which ends behind a line break, on up to `threads` threads, and appends its
/// plain rows up to the first row that is not one: a quote, a blank, a missing cell, text, a wrong
/// number of cells. `wanted` has 1 for a column of numbers and 0 for one that is skipped.
///
/// The stretch is cut into pieces at line breaks, and each is read as if a row began there. That is
/// a guess, since a quoted cell may hold line breaks; but then an earlier piece has stopped at the
/// quote, and what lies behind it is thrown away. So the result is that of reading in order.
///
/// `pieces` is memory of the pieces, for the next call to use again.
void read_plain_rows(const char* first, const char* last, char delimiter,
                     std::span<const std::uint8_t> wanted, std::size_t threads,
                     std::vector<PlainRows>& pieces, PlainRows& out);

}  // namespace tare

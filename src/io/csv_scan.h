// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/csv_window.h"

namespace tare {

/// One cell as text, before its meaning is known.
struct CsvCell {
  std::string_view text;  // quotes removed; until the next cell is read
  bool last = false;      // a line break follows it, not a delimiter
};

/// Cuts a text into cells. A cell is quoted when its first character that is not blank is a quote;
/// in it a doubled quote is one quote, and delimiters and line breaks are text. Blanks around the
/// quotes are dropped; other text behind the closing quote is kept. A quote elsewhere is an
/// ordinary character.
class CsvScanner {
 public:
  explicit CsvScanner(CsvWindow& window) : window_(&window) {}

  /// Finds the delimiter in the line at the window's position: the most frequent of , tab ; |
  /// outside quotes, in that order at a tie, and the comma if there is none.
  void find_delimiter();
  char delimiter() const noexcept { return delimiter_; }

  /// The cell at the window's position, which moves past the delimiter or line break after it.
  /// Throws kBadData for a quote that is never closed, naming the line on which it opened.
  CsvCell next();

  /// Skips the blank lines at the window's position and counts them. A line of spaces is blank.
  std::uint64_t skip_blank_lines();

 private:
  CsvCell next_quoted(const char* quote);
  CsvCell finish(std::string_view text, const char* end, std::uint64_t breaks);

  CsvWindow* window_;
  char delimiter_ = ',';
  std::string scratch_;  // a quoted cell put together from pieces
};

}  // namespace tare

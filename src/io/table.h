// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

/// What a column of a file is read as.
enum class ColumnKind : std::uint8_t {
  kSkip,    // not read: its cells are passed over
  kAuto,    // a number if any cell is one, else text; a mixture is an error at the first text
  kNumber,  // numbers; any other text is an error
  kText,    // text, whatever it looks like
};

/// The cells of one column as they stand in the file, quotes removed.
struct RawCells {
  std::string bytes;
  std::vector<std::size_t> ends;  // cell i is bytes[ends[i-1], ends[i])

  std::string_view operator[](std::size_t i) const {
    const std::size_t first = i == 0 ? 0 : ends[i - 1];
    return std::string_view(bytes).substr(first, ends[i] - first);
  }
};

/// One column. A numeric column fills `numbers`, a text column `codes` and `vocabulary`.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kSkip;
  std::vector<double> numbers;          // NaN where missing; never infinite
  std::vector<std::int32_t> codes;      // place in `vocabulary`; -1 where missing
  std::vector<std::string> vocabulary;  // distinct texts, in order of first appearance
  RawCells raw;                         // filled only where it was asked for
  std::size_t missing = 0;              // cells without a value
  std::size_t first_missing = 0;        // row of the first of them, where missing > 0
  std::string first_missing_text;       // how that cell is written: "", "NA", "?"
};

/// Rows of a file, or a batch of them. Every column that was not skipped has rows() cells.
struct Table {
  std::string source;                // the file's name, for messages
  std::vector<Column> columns;       // in the file's order, skipped ones included
  std::vector<std::uint64_t> lines;  // the line of the file on which each row starts, from 1
  std::uint64_t first_row = 0;       // rows of the file before this batch

  std::size_t rows() const noexcept { return lines.size(); }
  /// The column of that name, or null.
  const Column* find(std::string_view name) const {
    for (const Column& column : columns) {
      if (column.name == name) return &column;
    }
    return nullptr;
  }
};

}  // namespace tare

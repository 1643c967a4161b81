// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// How a column of a file is read.
enum class ColumnKind : std::uint8_t {
  kSkip,    // not read: its cells are skipped
  kAuto,    // a number if any cell is one, else text; a mixture is an error at the first text
  kNumber,  // numbers; any other text is an error
  kText,    // text, whatever it looks like
};

/// The cells of one column as written in the file, without quotes.
struct RawCells {
  std::string bytes;
  std::vector<std::size_t> ends;  // cell i is bytes[ends[i-1], ends[i])

  std::string_view operator[](std::size_t i) const {
    const std::size_t first = i == 0 ? 0 : ends[i - 1];
    return std::string_view(bytes).substr(first, ends[i] - first);
  }
  void push_back(std::string_view cell) {
    bytes += cell;
    ends.push_back(bytes.size());
  }
};

/// One column. A numeric column fills `numbers`, a text column `codes` and `vocabulary`.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kSkip;
  std::vector<double> numbers;          // NaN where missing; never infinite
  std::vector<std::int32_t> codes;      // index into `vocabulary`; -1 where missing
  std::vector<std::string> vocabulary;  // distinct texts, in order of first appearance
  RawCells raw;                         // filled only on request
  std::size_t missing = 0;              // cells without a value
  std::size_t first_missing = 0;        // row of the first of them, where missing > 0
  std::string first_missing_text;       // the text of that cell: "", "NA", "?"
};

/// Rows of a file, a batch of them, or rows built by a program. Every column that was not skipped
/// has rows() cells.
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
  /// In the order of the columns.
  std::vector<std::string> names() const;

  // For tables that do not come from a file. The first column decides the number of rows; `lines`
  // are then numbers of rows, from 1. Each throws kShapeMismatch for a different number of rows and
  // kInvalidArgument for a name that already exists.

  /// A column of numbers; NaN is a missing value. Throws kBadData for an infinite number.
  void add_numbers(std::string name, std::span<const double> values);
  /// A column of texts. A text for which is_missing_text() is true is a missing value.
  void add_texts(std::string name, std::span<const std::string> values);
  /// The same as indices into a vocabulary; -1 is a missing value. Throws kInvalidArgument for any
  /// other index outside it.
  void add_codes(std::string name, std::span<const std::int32_t> codes,
                 std::vector<std::string> vocabulary);

 private:
  Column& new_column(std::string name, std::size_t rows, ColumnKind kind);
};

/// Reads a whole file as a table: delimited text with a header row, as `tare fit` reads it. A
/// column is numeric if any of its cells is a number. Its cells are also kept as written, so that
/// it can become a category or a group. "-" is standard input. Throws kNotFound, kBadData (a ragged
/// row, a text among numbers, an infinite number), kCorruptFile (a damaged .gz), kIo.
Table read_csv(const std::string& path);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tare/io/table.h"

namespace tare {

class ByteSource;

struct ColumnRequest {
  ColumnKind kind = ColumnKind::kAuto;
  bool raw = false;  // also keep the cells as written, to copy them through
  /// Of a column of numbers: what to do about a text in it, for the message. A literal: a header
  /// may have very many columns, each with its request.
  std::string_view remedy = {};
};

/// Reads delimited text with a header row: .csv, .tsv, .txt, each also .gz (by content, not by
/// name), or standard input for "-". Quoted fields, doubled quotes, line breaks in quotes, CRLF, a
/// byte order mark, blank lines at the end are fine. The delimiter (comma, tab, semicolon, bar) is
/// found in the header. Memory: one block of the file, the header and the rows asked for.
///
/// Errors name file, line, column, value and remedy: kNotFound no such file; kBadData an empty
/// file, a duplicate name, a ragged row, an open quote, text among numbers, an infinite number, a
/// NUL byte, more than csv_limits.h allows; kCorruptFile a damaged .gz; kIo the system refused.
class CsvReader {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 22;
  static constexpr std::uint64_t kAnyLength = std::numeric_limits<std::uint64_t>::max();

  explicit CsvReader(const std::string& path);
  /// Any other source of bytes. The block is what is read at a time; it grows for longer lines.
  explicit CsvReader(std::unique_ptr<ByteSource> source, std::size_t block_bytes = kBlockBytes);
  ~CsvReader();
  CsvReader(CsvReader&&) noexcept;
  CsvReader& operator=(CsvReader&&) noexcept;

  const std::string& source() const noexcept;  // the path, or "<stdin>"
  const std::vector<std::string>& header() const noexcept;
  char delimiter() const noexcept;

  /// Threads for reading a whole file; 0, as at first, is all cores. Never changes what is read.
  void use_threads(std::size_t threads);

  /// One request per column of the header, before the first read. Without it every column is kAuto.
  void select(std::vector<ColumnRequest> requests);

  /// Replaces `batch` by the next rows, at most max_rows of them; false when there are none left.
  /// It ends with the row that reaches max_bytes of text, so that rows of any length can be
  /// streamed. Vocabularies are those of the batch; reuse of the same Table saves allocation.
  bool read(Table& batch, std::size_t max_rows, std::uint64_t max_bytes = kAnyLength);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// All rows that are left in `reader`. A file with a header and no row is kBadData.
Table read_all(CsvReader& reader);

/// True for the ways people write "no value": empty, NA, NaN, null, ?; case does not matter.
bool is_missing_text(std::string_view cell);

/// Appends a cell, in quotes where it holds the delimiter, a quote or a line break.
void append_csv_cell(std::string& out, std::string_view cell, char delimiter = ',');

/// Appends the shortest decimal that reads back as the same double; NaN is an empty cell.
void append_csv_number(std::string& out, double value);

}  // namespace tare

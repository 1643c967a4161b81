// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apply/answer_columns.h"
#include "tare/io/table.h"

namespace tare {

/// Answers as CSV or as JSON objects, with copies of the kept columns of the table. A number that
/// the model does not provide is empty in CSV and absent in JSON; an infinite number is inf in CSV
/// and null in JSON. A shortest set is a list of pairs in JSON.
class AnswerText {
 public:
  /// The columns must live longer.
  explicit AnswerText(const AnswerColumns& columns);

  /// The columns of the table to copy. Throws kInvalidArgument if a name would occur twice.
  void keep(std::vector<std::string> names);
  const std::vector<std::string>& kept() const noexcept { return keep_; }
  void append_csv_header(std::string& out) const;
  /// `rows` are the table's, one for each row of `values`; the columns to keep have raw cells.
  void append_csv(std::string& out, const Table& table, std::span<const std::size_t> rows,
                  MatrixView values) const;
  /// One object per row, with `between` after each except the last.
  void append_json(std::string& out, const Table& table, std::span<const std::size_t> rows,
                   MatrixView values, std::string_view between) const;

 private:
  std::vector<const Column*> kept_columns(const Table& table,
                                          std::span<const std::size_t> rows) const;

  const AnswerColumns& columns_;
  std::vector<std::string> keep_;
  std::vector<std::string> kept_keys_;  // "name": for JSON
  std::vector<std::string> keys_;
  std::vector<std::uint8_t> is_set_;  // the first column of a shortest set
};

}  // namespace tare

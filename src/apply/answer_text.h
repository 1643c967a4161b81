// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apply/answer_columns.h"
#include "io/table.h"

namespace tare {

/// Answers as CSV or as objects of JSON, with some columns of the table copied through. A cell
/// that the model does not know is empty in CSV and absent in JSON; an infinite number is inf in
/// CSV and null in JSON.
class AnswerText {
 public:
  /// Throws kInvalidArgument where a name would be there twice (option "keep").
  AnswerText(const AnswerColumns& columns, std::vector<std::string> keep);

  const std::vector<std::string>& keep() const noexcept { return keep_; }
  void append_csv_header(std::string& out) const;
  /// `rows` are the table's, one for each row of `values`; the columns to keep have raw cells.
  void append_csv(std::string& out, const Table& table, std::span<const std::size_t> rows,
                  MatrixView values) const;
  /// An object for each row, and `between` after each but the last.
  void append_json(std::string& out, const Table& table, std::span<const std::size_t> rows,
                   MatrixView values, std::string_view between) const;

 private:
  std::vector<const Column*> kept_columns(const Table& table) const;

  const AnswerColumns& columns_;
  std::vector<std::string> keep_;
  std::vector<std::string> kept_keys_;  // "name": for JSON
  std::vector<std::string> keys_;
};

}  // namespace tare

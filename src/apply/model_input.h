// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apply/row_encoder.h"
#include "data/schema.h"
#include "io/csv.h"
#include "tare/calibrate/model_file.h"

namespace tare {

/// Encoded rows of a file with their targets, batch by batch, for scoring a model.
class ModelInput {
 public:
  /// The model must live longer. `keep` are columns whose cells are needed as written.
  ModelInput(const FittedModel& fitted, const std::string& path,
             std::optional<MissingPolicy> missing, OutsideModel outside_model,
             const std::vector<std::string>& keep);

  /// The next rows, at most max_rows (see batch_size.h); false at the end. A file without any row
  /// is kBadData. `table` holds the raw cells of the columns to keep.
  bool read(std::size_t max_rows);
  const Table& table() const noexcept { return table_; }
  const std::string& source() const noexcept { return reader_.source(); }
  const Encoded& encoded() const noexcept { return encoder_.encoded(); }
  Rows rows() const { return encoder_.rows(); }
  std::size_t rows_read() const noexcept { return rows_read_; }
  std::size_t rows_used() const noexcept { return rows_read_ - encoder_.dropped(); }
  std::size_t rows_without_window() const noexcept { return encoder_.without_window(); }
  std::size_t imputed() const noexcept { return encoder_.imputed(); }
  std::size_t unseen() const noexcept { return encoder_.unseen(); }
  /// Notices so far: rows left out, values imputed, unknown categories.
  std::vector<Notice> notices() const { return encoder_.notices(); }
  const std::vector<std::string>& keep() const noexcept { return keep_; }
  /// Throws kBadData if every row was left out.
  void check_any_row() const;

 private:
  CsvReader reader_;
  RowEncoder encoder_;
  std::vector<std::string> keep_;
  Table table_;
  std::size_t widest_ = 1;  // numbers of a row, where it has most
  std::size_t rows_read_ = 0;
};

}  // namespace tare

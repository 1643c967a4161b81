// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "apply/row_encoder.h"
#include "data/schema.h"
#include "io/csv.h"
#include "support/bar.h"
#include "tare/calibrate/model_file.h"

namespace tare::cli {

/// Options of the commands that apply a model to a file.
struct InputOptions {
  std::string missing;    // empty: as at fit
  std::string predictor;  // the program behind a model that was fitted with --predictor
  double timeout_s = 60.0;
};
void add_input_options(CLI::App& command, InputOptions& options);

/// Rows of a file as a model wants them, batch by batch.
class ModelInput {
 public:
  ModelInput(const FittedModel& fitted, const std::string& path, Need need,
             const InputOptions& options, const std::vector<std::string>& keep);

  /// The next rows; false at the end. A file without any row is kBadData. `table` holds the raw
  /// cells of the columns to keep.
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
  const std::vector<std::string>& keep() const noexcept { return keep_; }
  /// Throws kBadData where every row was left out.
  void check_any_row() const;
  /// What was left out, filled in or not known, for the user to hear about once.
  void warn_at_end(const Common& common) const;

 private:
  CsvReader reader_;
  RowEncoder encoder_;
  std::vector<std::string> keep_;
  Table table_;
  std::size_t rows_read_ = 0;
};

}  // namespace tare::cli

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/apply/fit.h"
#include "tare/apply/notice.h"
#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/model_file.h"
#include "tare/data/missing_policy.h"
#include "tare/io/table.h"

namespace TARE_PUBLIC tare {

struct ColumnRequest;

/// What is asked of a model about each row.
struct PredictOptions {
  std::vector<double> levels = {};     // columns q0.05, ...; neither of the two: 0.05, 0.5, 0.95
  std::vector<double> intervals = {};  // central intervals: columns lower_0.9, upper_0.9, ...
  bool diagnostics = false;            // columns that say how far each answer can be trusted
  std::vector<std::string> keep = {};  // columns of the table to copy through; {"all"}: every one
  std::optional<MissingPolicy> missing = {};  // none: kImpute for a model fitted so, else kError
  OutsideModel outside_model = {};            // for a model that was fitted with one
  bool with_targets = false;                  // the table has the target: Answers::targets
  std::vector<double> unnamed_levels = {};    // quantiles beside the columns: Answers::unnamed

  /// Sets levels, interval, diagnostics, keep or missing by name from text, as FitOptions::set.
  /// Throws kInvalidArgument, also for an unknown name.
  void set(std::string_view name, std::string_view text);
};

/// Throws kInvalidArgument for what is wrong with the options whatever the model and the table are.
void check_predict_options(const PredictOptions& options);

/// Answers to some rows of a table.
struct Answers {
  Matrix values;                  // a row for each answered row, in the order of Predictor::names()
  std::vector<std::size_t> rows;  // of the table, that they are about
  std::vector<double> targets;    // of these rows, with PredictOptions::with_targets
  Matrix unnamed;                 // quantiles at PredictOptions::unnamed_levels
};

/// From the rows of tables to named answers: the one way of the tool, the service, Python and C. It
/// decides which columns an answer has and what they are called, encodes rows by the model's schema
/// (text, missing values, windows of a series, groups), and gathers what there is to say about rows
/// and answers. A number that the model does not know is NaN.
///
/// Tables come in the order of the file they are pieces of, as a series and the notices go on from
/// one to the next. One thread at a time; make one Predictor for each stream of rows.
class Predictor {
 public:
  /// Throws kInvalidArgument for a level outside (0, 1) or asked for twice, and where the model
  /// needs an outside model that is not there.
  explicit Predictor(FittedModel model, PredictOptions options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  const FittedModel& model() const noexcept;
  /// Of the columns: quantiles as levels and then intervals were given; with diagnostics
  /// effective_n, nearest, fallback, outside, the two ends of each quantile's band and, with a
  /// guarantee, the levels that it keeps.
  const std::vector<std::string>& names() const noexcept;
  /// Whether a column is 0 or 1.
  bool is_flag(std::size_t column) const;

  /// Columns are found by name, in any order; others are ignored. Throws kNotFound for a column
  /// that is not there, kBadData for a cell that the model cannot take. Where how.progress is set
  /// it is called between blocks of rows, and may throw to stop the work.
  Answers answer(const Table& table, const Execution& how = {});
  /// The same for rows that are encoded already, as the model takes them.
  Answers answer(const Rows& rows, const Execution& how = {});

  /// What there is to say about all rows and answers so far.
  std::vector<Notice> notices() const;

  /// Answers as CSV, or as an object of JSON for each row with `between` after each but the last,
  /// behind the table's columns to keep. An unknown number is an empty cell in CSV and absent in
  /// JSON; an infinite one is inf in CSV and null in JSON.
  void append_csv_header(std::string& out) const;
  void append_csv(std::string& out, const Table& table, const Answers& answers) const;
  void append_json(std::string& out, const Table& table, const Answers& answers,
                   std::string_view between) const;

  /// How to read the columns of a file with this header. Finds out which columns to keep; throws
  /// kNotFound where one of them, or one that the model needs, is not there.
  std::vector<ColumnRequest> requests(const std::string& source,
                                      const std::vector<std::string>& header);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The rows of a file that a predictor needs, batch by batch in bounded memory.
class TableReader {
 public:
  /// The predictor must live longer. "-" is standard input. Throws what read_csv and
  /// Predictor::requests throw.
  TableReader(const std::string& path, Predictor& predictor);
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  /// The next rows, at most max_rows; false at the end. A file without any row is kBadData.
  bool read(Table& batch, std::size_t max_rows);
  std::size_t rows_read() const noexcept;
  /// The file's name, for messages.
  const std::string& source() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare

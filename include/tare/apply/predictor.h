// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
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
#include "tare/decide/cost.h"
#include "tare/io/table.h"

namespace TARE_PUBLIC tare {

struct ColumnRequest;

/// What an interval of PredictOptions is: from quantile to quantile with as much probability below
/// as above, or a set of highest density (shortest_sets), which may have two parts.
enum class SetForm : std::uint8_t { kInterval, kShortest };

/// What to predict for each row.
struct PredictOptions {
  std::vector<double> levels = {};  // columns q0.05, ...; if both lists are empty: 0.05, 0.5, 0.95
  std::vector<double> intervals = {};  // central intervals: columns lower_0.9, upper_0.9, ...
  SetForm form = SetForm::kInterval;   // of intervals; kShortest: 0.9 if there is none
  std::optional<Cost> cost = {};       // columns action, cost, cost_of_mean; no default levels then
  bool diagnostics = false;            // columns about the reliability of each answer
  std::vector<std::string> keep = {};  // columns of the table to copy to the output; {"all"}: all
  std::optional<MissingPolicy> missing =
      {};                           // none: kImpute if the model was fitted with it, else kError
  OutsideModel outside_model = {};  // for a model that was fitted with one
  bool with_targets = false;        // the table has the target: Answers::targets
  // Quantiles beside the columns: Answers::unnamed. If there are any, there are no default levels.
  std::vector<double> unnamed_levels = {};

  /// Sets levels, interval, set (interval or shortest), cost (Cost::parse), diagnostics, keep or
  /// missing by name from text, as FitOptions::set. Throws kInvalidArgument, also for an unknown
  /// name.
  void set(std::string_view name, std::string_view text);
};

/// Checks everything that does not depend on the model and the table. Throws kInvalidArgument.
void check_predict_options(const PredictOptions& options);

/// Answers to some rows of a table.
struct Answers {
  Matrix values;                  // a row for each answered row, in the order of Predictor::names()
  std::vector<std::size_t> rows;  // of the table, one for each answer
  std::vector<double> targets;    // of these rows, with PredictOptions::with_targets
  Matrix unnamed;                 // quantiles at PredictOptions::unnamed_levels
};

/// Turns the rows of tables into named answers, for the tool, the service, Python and C. It
/// determines the columns of an answer and their names, encodes rows by the model's schema (text,
/// missing values, windows of a series, groups), and collects notices about rows and answers. A
/// number that the model does not provide is NaN.
///
/// Tables that are parts of one file must come in the order of the file, because a series and the
/// notices continue from one table to the next. One thread at a time; make one Predictor for each
/// stream of rows.
class Predictor {
 public:
  /// Throws kInvalidArgument for a level outside (0, 1), for a repeated level, and if the model
  /// needs an outside model that the options do not have.
  explicit Predictor(FittedModel model, PredictOptions options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  const FittedModel& model() const noexcept;
  /// The names of the columns: quantiles in the order of the levels, then intervals. A shortest set
  /// has four: lower_0.9, upper_0.9, lower2_0.9 and upper2_0.9, of which the last two are NaN where
  /// the set has one part. With a cost:
  /// action, the one with the least expected cost under the row's distribution (see Decider), its
  /// expected cost, and cost_of_mean, that of the action that is best for the distribution's mean.
  /// With diagnostics: effective_n, nearest, fallback, outside, the two ends of each quantile's
  /// band and, with a guarantee, the levels that it keeps.
  const std::vector<std::string>& names() const noexcept;
  /// Whether a column is 0 or 1.
  bool is_flag(std::size_t column) const;

  /// Finds columns by name, in any order; other columns are ignored. Throws kNotFound for a column
  /// that does not exist, kBadData for a cell that is not valid for the model. If how.progress is
  /// set, it is called between blocks of rows, and may throw to stop the work.
  Answers answer(const Table& table, const Execution& how = {});
  /// The same for rows that are already encoded for the model.
  Answers answer(const Rows& rows, const Execution& how = {});

  /// The notices about all rows and answers so far.
  std::vector<Notice> notices() const;

  /// Answers as CSV, or as one JSON object per row with `between` after each except the last. The
  /// kept columns of the table come first; the header needs to know them, so it throws
  /// kInvalidArgument before the first answer() or requests() if there are columns to keep. An
  /// unknown number is an empty cell in CSV and absent in JSON; an infinite number is inf in CSV
  /// and null in JSON. A shortest set is one list in JSON, "set_0.9": [[low, high], ...].
  void append_csv_header(std::string& out) const;
  void append_csv(std::string& out, const Table& table, const Answers& answers) const;
  void append_json(std::string& out, const Table& table, const Answers& answers,
                   std::string_view between) const;

  /// How to read the columns of a file with this header. Also determines which columns to keep.
  /// Throws kNotFound if a column to keep, or one that the model needs, does not exist.
  std::vector<ColumnRequest> requests(const std::string& source,
                                      const std::vector<std::string>& header);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads the rows of a file for a predictor, batch by batch, in bounded memory.
class TableReader {
 public:
  /// The predictor must live longer. "-" is standard input. Throws what read_csv and
  /// Predictor::requests throw.
  TableReader(const std::string& path, Predictor& predictor);
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  /// The next rows, at most max_rows, and fewer where they have very many columns, features, levels
  /// or bytes; false at the end. A file without any row is kBadData.
  bool read(Table& batch, std::size_t max_rows);
  std::size_t rows_read() const noexcept;
  /// The file's name, for messages.
  const std::string& source() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tare

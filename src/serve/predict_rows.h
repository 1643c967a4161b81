// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "io/table.h"
#include "serve/deadline.h"
#include "serve/level_columns.h"
#include "serve/served_model.h"
#include "tare/base/matrix.h"

namespace tare::serve {

/// What a client should know about the rows it sent or the answers to them.
struct RowWarning {
  std::string code;
  std::size_t rows = 0;  // rows or cells that it is about
  std::string text;
};

/// What is wanted of a table's rows.
struct RowQuestion {
  const LevelColumns& levels;
  bool diagnostics = false;
  std::optional<double> watch;  // the interval whose coverage is watched, or none
  Deadline deadline;
};

/// Answers, a row of numbers for each row that could be answered.
struct RowAnswers {
  std::vector<std::string> names;  // of the columns of `values`, as `tare predict` calls them
  std::vector<bool> is_flag;       // true for a column of 0 and 1
  Matrix values;
  Matrix watched;                 // lower and upper end of the watched interval; may be empty
  std::vector<std::size_t> rows;  // of the table, that `values` are about
  std::vector<double> targets;    // where the table has them
  std::vector<RowWarning> warnings;
};

/// Throws Problem: 422 for rows that the model cannot take, 503 past the deadline. Missing values
/// are imputed where the model was fitted so, and refused otherwise.
RowAnswers predict_rows(const ServedModel& model, const Table& table, const RowQuestion& question);

/// The watched interval of rows whose targets are in the table.
RowAnswers predict_with_targets(const ServedModel& model, const Table& table, double watch,
                                Deadline deadline);

}  // namespace tare::serve

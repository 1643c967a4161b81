// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "apply/answer_columns.h"
#include "apply/level_columns.h"
#include "apply/row_encoder.h"
#include "io/table.h"
#include "serve/http/deadline.h"
#include "serve/model/served_model.h"
#include "tare/base/matrix.h"

namespace tare::serve {

/// What is wanted of a table's rows.
struct RowQuestion {
  const LevelColumns& levels;
  bool diagnostics = false;
  std::optional<double> watch;  // the interval whose coverage is watched, or none
  Deadline deadline;
};

/// Answers, a row of numbers for each row that could be answered.
struct RowAnswers {
  AnswerColumns columns;
  Matrix values;
  Matrix watched;                 // lower and upper end of the watched interval; may be empty
  std::vector<std::size_t> rows;  // of the table, that `values` are about
  std::vector<double> targets;    // where the table has them
  std::vector<Notice> warnings;   // about the rows that were sent, and about the answers to them
};

/// Throws Problem: 422 for rows that the model cannot take, 503 past the deadline. Missing values
/// are imputed where the model was fitted so, and refused otherwise.
RowAnswers predict_rows(const ServedModel& model, const Table& table, const RowQuestion& question);

/// The watched interval of rows whose targets are in the table.
RowAnswers predict_with_targets(const ServedModel& model, const Table& table, double watch,
                                Deadline deadline);

}  // namespace tare::serve

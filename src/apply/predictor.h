// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "apply/answer_columns.h"
#include "apply/level_columns.h"
#include "apply/row_encoder.h"
#include "tare/base/execution.h"
#include "tare/calibrate/warnings.h"

namespace tare {

/// Named columns of answers for the rows of a model, batch by batch. The tool and the service are
/// thin around it: one place decides which columns there are, what they are called and what there
/// is to say about the answers.
class Predictor {
 public:
  /// `unnamed` levels are answered beside the columns. The model must live longer.
  Predictor(const QuantileModel& model, LevelColumns levels, bool diagnostics,
            std::vector<Level> unnamed = {});

  const AnswerColumns& columns() const noexcept { return columns_; }

  struct Answers {
    Matrix values;   // columns() of each row
    Matrix unnamed;  // the quantiles at the unnamed levels
  };
  Answers answer(const Rows& rows, const Execution& how);

  /// What there is to say about all answers so far.
  std::vector<PredictionWarning> warnings() const { return tally_.list(); }

 private:
  const QuantileModel& model_;
  AnswerColumns columns_;
  std::vector<Level> levels_;  // of the columns, and behind them the unnamed ones
  std::size_t named_;
  bool diagnostics_;
  WarningTally tally_;
};

/// The same words for a warning about answers as for one about rows.
std::vector<Notice> notices_of(const std::vector<PredictionWarning>& warnings);

}  // namespace tare

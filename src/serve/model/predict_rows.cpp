// SPDX-License-Identifier: BSD-3-Clause
#include "serve/model/predict_rows.h"

#include <algorithm>
#include <iterator>

#include "apply/predictor.h"
#include "base/parallel.h"
#include "serve/http/problem.h"

namespace tare::serve {
namespace {

/// Rows between two looks at the clock: enough of them that neighbours share work.
constexpr std::size_t kRowsAtOnce = 4'096;

/// Rows as the model takes them.
RowEncoder encode_rows(const ServedModel& model, const Table& table, Need need) {
  const Schema& schema = model.schema();
  if (table.rows() == 0) refuse(422, "there is no row (send one at least)");
  const MissingPolicy policy =
      schema.missing() == MissingPolicy::kImpute ? MissingPolicy::kImpute : MissingPolicy::kError;
  RowEncoder rows(schema, need, policy);
  try {
    rows.encode(table);
  } catch (const Error& error) {
    throw problem_of(error);
  }
  if (rows.encoded().rows.empty()) {
    refuse(422,
           "the model looks at {} rows of a series at a time, and there are {} (send the rows "
           "before, too)",
           schema.window(), table.rows());
  }
  return rows;
}

RowAnswers answer_rows(const ServedModel& model, const RowEncoder& rows,
                       const RowQuestion& question) {
  std::vector<Level> watched;
  if (question.watch) {
    const auto [lower, upper] = interval_levels(*question.watch);
    watched = {lower, upper};
  }
  Predictor predictor(*model.fitted().model, question.levels, question.diagnostics, watched);
  const std::size_t count = rows.encoded().x.rows();
  RowAnswers answers;
  answers.columns = predictor.columns();
  answers.values = Matrix(count, answers.columns.size());
  answers.watched = Matrix(question.watch ? count : 0, watched.size());
  for (std::size_t first = 0; first < count; first += kRowsAtOnce) {
    if (Clock::now() > question.deadline) {
      refuse(503, "{} of {} rows were answered within the time limit (send fewer rows)", first,
             count);
    }
    const std::size_t some = std::min(kRowsAtOnce, count - first);
    const Predictor::Answers block = predictor.answer(rows.rows(first, some), one_thread());
    for (std::size_t i = 0; i < some; ++i) {
      std::ranges::copy(block.values.row(i), answers.values.row(first + i).begin());
      if (!question.watch) continue;
      std::ranges::copy(block.unnamed.row(i), answers.watched.row(first + i).begin());
    }
  }
  answers.rows = rows.encoded().rows;
  answers.targets = rows.encoded().y;
  answers.warnings = rows.notices();
  std::ranges::copy(notices_of(predictor.warnings()), std::back_inserter(answers.warnings));
  return answers;
}

}  // namespace

RowAnswers predict_rows(const ServedModel& model, const Table& table, const RowQuestion& question) {
  return answer_rows(model, encode_rows(model, table, Need::kFeatures), question);
}

RowAnswers predict_with_targets(const ServedModel& model, const Table& table, double watch,
                                Deadline deadline) {
  const LevelColumns none;
  return answer_rows(model, encode_rows(model, table, Need::kFeaturesAndTarget),
                     {none, false, watch, deadline});
}

}  // namespace tare::serve

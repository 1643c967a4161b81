// SPDX-License-Identifier: BSD-3-Clause
#include "apply/predictor.h"

#include <algorithm>

#include "tare/calibrate/reliability.h"

namespace tare {

Predictor::Predictor(const QuantileModel& model, LevelColumns levels, bool diagnostics,
                     std::vector<Level> unnamed)
    : model_(model),
      columns_(model, levels, diagnostics),
      levels_(levels.levels),
      named_(levels.levels.size()),
      diagnostics_(diagnostics),
      tally_(model, levels.levels) {
  levels_.insert(levels_.end(), unnamed.begin(), unnamed.end());
}

Predictor::Answers Predictor::answer(const Rows& rows, const Execution& how) {
  Execution asked = how;
  asked.diagnostics = diagnostics_;
  const Prediction prediction = diagnostics_
                                    ? predict_with_reliability(model_, rows, levels_, asked)
                                    : model_.predict(rows, levels_, asked);
  tally_.add(rows, prediction);
  const std::size_t count = rows.x.rows();
  Answers answers{Matrix(count, columns_.size()), Matrix(count, levels_.size() - named_)};
  for (std::size_t i = 0; i < count; ++i) {
    columns_.fill(prediction, i, answers.values.row(i));
    std::ranges::copy(prediction.quantiles.row(i).subspan(named_), answers.unnamed.row(i).begin());
  }
  return answers;
}

std::vector<Notice> notices_of(const std::vector<PredictionWarning>& warnings) {
  std::vector<Notice> all;
  for (const PredictionWarning& warning : warnings) {
    all.push_back({std::string(warning_name(warning.code)), warning.rows, warning.text});
  }
  return all;
}

}  // namespace tare

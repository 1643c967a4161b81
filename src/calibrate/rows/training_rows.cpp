// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/rows/training_rows.h"

#include <cstdint>

#include "base/fail.h"
#include "data/rows.h"

namespace tare {

MatrixView ModelColumns::select(MatrixView x, Matrix& storage) const {
  if (columns_.empty()) return x;
  storage = take_rows(x, all_rows(x.rows()), columns_);
  return storage;
}

void ModelColumns::save(const TensorWriter& out) const {
  out.tensor("columns", std::vector<std::int64_t>(columns_.begin(), columns_.end()));
}

ModelColumns ModelColumns::load(const TensorReader& in, std::size_t inputs) {
  ModelColumns loaded;
  for (const std::int64_t column : in.list<std::int64_t>("columns")) {
    if (column < 0 || static_cast<std::size_t>(column) >= inputs) {
      fail(ErrorCode::kCorruptFile, "the model file names feature {} of {}", column, inputs);
    }
    loaded.columns_.push_back(static_cast<std::size_t>(column));
  }
  return loaded;
}

TrainingRows::TrainingRows(const FitInput& input, std::span<const std::size_t> rows) {
  std::vector<std::size_t> used;
  for (const std::size_t i : rows) {
    if (input.weight.empty() || input.weight[i] > 0.0) used.push_back(i);
  }
  if (used.empty()) {
    fail(ErrorCode::kBadData,
         {.remedies = {advice("give more rows"), {"a smaller", "split", "", ""}}},
         "no row is left to train the model on");
  }
  x = take_rows(input.x, used, input.model_columns);
  y = take_rows(input.y, used);
  weight = take_rows(input.weight, used);
}

}  // namespace tare

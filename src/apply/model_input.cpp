// SPDX-License-Identifier: BSD-3-Clause
#include "apply/model_input.h"

#include <algorithm>
#include <utility>

#include "apply/batch_size.h"
#include "apply/kept_columns.h"
#include "base/fail.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

ModelInput::ModelInput(const FittedModel& fitted, const std::string& path,
                       std::optional<MissingPolicy> missing, OutsideModel outside_model,
                       const std::vector<std::string>& keep)
    : reader_(path),
      encoder_(*fitted.schema, Need::kFeaturesAndTarget, missing, std::move(outside_model)) {
  keep_ = kept_columns(reader_.source(), reader_.header(), keep);
  reader_.select(encoder_.requests(reader_.source(), reader_.header(), keep_));
  widest_ = std::max(reader_.header().size(), fitted.model->features());
}

bool ModelInput::read(std::size_t max_rows) {
  if (!reader_.read(table_, batch_rows(max_rows, widest_), kMostBatchBytes)) {
    if (rows_read_ == 0) {
      fail(ErrorCode::kBadData, {.source = reader_.source()},
           "the file has a header but no data rows");
    }
    return false;
  }
  rows_read_ += table_.rows();
  encoder_.encode(table_);
  return true;
}

void ModelInput::check_any_row() const {
  if (rows_used() > 0) return;
  fail(ErrorCode::kBadData, {.source = reader_.source()},
       "all {} rows have a missing value, so no row is left to score", rows_read_);
}

}  // namespace tare

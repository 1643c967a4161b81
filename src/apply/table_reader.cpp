// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "apply/batch_size.h"
#include "base/fail.h"
#include "io/csv.h"
#include "tare/apply/predictor.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

class TableReader::Impl {
 public:
  explicit Impl(const std::string& path) : reader(path) {}

  CsvReader reader;
  std::size_t widest = 1;  // numbers of a row, where it has most
  std::size_t rows_read = 0;
};

TableReader::TableReader(const std::string& path, Predictor& predictor)
    : impl_(std::make_unique<Impl>(path)) {
  CsvReader& reader = impl_->reader;
  reader.select(predictor.requests(reader.source(), reader.header()));
  impl_->widest = std::max(
      {reader.header().size(), predictor.names().size(), predictor.model().model->features()});
}
TableReader::~TableReader() = default;
TableReader::TableReader(TableReader&&) noexcept = default;
TableReader& TableReader::operator=(TableReader&&) noexcept = default;

bool TableReader::read(Table& batch, std::size_t max_rows) {
  if (!impl_->reader.read(batch, batch_rows(max_rows, impl_->widest), kMostBatchBytes)) {
    if (impl_->rows_read == 0) {
      fail(ErrorCode::kBadData, {.source = source()}, "the file has a header but no data rows");
    }
    return false;
  }
  impl_->rows_read += batch.rows();
  return true;
}

std::size_t TableReader::rows_read() const noexcept { return impl_->rows_read; }
const std::string& TableReader::source() const noexcept { return impl_->reader.source(); }

}  // namespace tare

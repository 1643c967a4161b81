// SPDX-License-Identifier: BSD-3-Clause
#include "data/rows.h"

#include <numeric>

namespace tare {

Matrix take_rows(MatrixView x, std::span<const std::size_t> rows,
                 std::span<const std::size_t> columns) {
  Matrix out(rows.size(), columns.empty() ? x.cols() : columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto from = x.row(rows[i]);
    const auto to = out.row(i);
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = from[columns.empty() ? j : columns[j]];
  }
  return out;
}

std::vector<double> take_rows(std::span<const double> values, std::span<const std::size_t> rows) {
  std::vector<double> out;
  if (values.empty()) return out;
  out.reserve(rows.size());
  for (const std::size_t i : rows) out.push_back(values[i]);
  return out;
}

std::vector<std::size_t> all_rows(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

}  // namespace tare

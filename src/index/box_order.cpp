// SPDX-License-Identifier: BSD-3-Clause
#include "index/box_order.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tare {
namespace {

constexpr std::size_t kWidthSample = 256;  // rows that show which feature of a node is widest

}  // namespace

std::size_t widest_feature(std::span<const double> columns, std::size_t rows,
                           std::span<const std::uint32_t> order) {
  const std::size_t step = std::max<std::size_t>(1, order.size() / kWidthSample);
  std::size_t widest = 0;
  double width = -1.0;
  for (std::size_t j = 0; j < columns.size() / rows; ++j) {
    const double* column = columns.data() + j * rows;
    double low = column[order[0]];
    double high = low;
    for (std::size_t i = 0; i < order.size(); i += step) {
      low = std::min(low, column[order[i]]);
      high = std::max(high, column[order[i]]);
    }
    if (high - low > width) {
      width = high - low;
      widest = j;
    }
  }
  return widest;
}

std::vector<std::uint32_t> box_order(std::span<const double> columns, std::size_t rows,
                                     std::size_t box_rows) {
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<std::span<std::uint32_t>> todo = {order};
  while (!todo.empty()) {
    const std::span<std::uint32_t> part = todo.back();
    todo.pop_back();
    if (part.size() <= box_rows) continue;
    const std::size_t boxes = (part.size() + box_rows - 1) / box_rows;
    const std::size_t left = std::bit_ceil(boxes) / 2 * box_rows;
    const double* column = columns.data() + widest_feature(columns, rows, part) * rows;
    // By place among equals, so that the order is defined whatever the library's algorithm is.
    std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(left), part.end(),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return column[a] < column[b] || (column[a] == column[b] && a < b);
                     });
    todo.push_back(part.first(left));
    todo.push_back(part.subspan(left));
  }
  return order;
}

}  // namespace tare

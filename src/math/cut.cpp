// SPDX-License-Identifier: BSD-3-Clause
#include "math/cut.h"

#include <algorithm>
#include <numeric>

namespace tare {
namespace {

std::size_t count_distinct(std::span<const double> values, std::span<const std::size_t> order,
                           std::size_t enough) {
  std::size_t distinct = order.empty() ? 0 : 1;
  for (std::size_t k = 1; k < order.size() && distinct <= enough; ++k) {
    if (values[order[k]] != values[order[k - 1]]) ++distinct;
  }
  return distinct;
}

/// The end of the part that starts at `first`: after its share of the rows that are left, moved on
/// to where the value changes.
std::size_t end_of_part(std::span<const double> values, std::span<const std::size_t> order,
                        std::size_t first, std::size_t parts_left) {
  std::size_t end = first + std::max<std::size_t>(1, (order.size() - first) / parts_left);
  while (end < order.size() && values[order[end]] == values[order[end - 1]]) ++end;
  return end;
}

}  // namespace

Cut cut_numbers(std::span<const double> values, std::size_t most) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  const bool each_value = count_distinct(values, order, most) <= most;
  Cut cut;
  cut.part_of_row.resize(values.size());
  for (std::size_t first = 0; first < order.size();) {
    const std::size_t parts_left = each_value ? order.size() : most - cut.parts.size();
    const std::size_t end = end_of_part(values, order, first, parts_left);
    const auto number = static_cast<std::uint32_t>(cut.parts.size());
    for (std::size_t k = first; k < end; ++k) cut.part_of_row[order[k]] = number;
    const std::size_t middle = first + (end - first) / 2;
    cut.parts.push_back({values[order[first]], values[order[end - 1]], values[order[middle]], {}});
    first = end;
  }
  return cut;
}

}  // namespace tare

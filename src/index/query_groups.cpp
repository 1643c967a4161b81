// SPDX-License-Identifier: BSD-3-Clause
#include "index/query_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tare {
namespace {

constexpr std::size_t kMostQueries = 256;  // of a group; more queries would share little
constexpr double kTestCost = 0.04;         // of a row, in units of finding and sorting it

/// Work per query of a group, up to a factor.
double group_cost(double queries, double diagonal, std::size_t dims) {
  return std::pow(1.0 + diagonal / 3.0, static_cast<double>(dims)) * (1.0 / queries + kTestCost);
}

/// Whether the group is better than its parts, at any number of halvings of its box.
bool worth_keeping(std::size_t queries, double diagonal, std::size_t dims) {
  if (queries > kMostQueries) return false;
  const double kept = group_cost(static_cast<double>(queries), diagonal, dims);
  const double shrink = std::exp2(-1.0 / static_cast<double>(dims));
  for (std::size_t part = queries / 2; part >= 1; part /= 2) {
    diagonal = part == 1 ? 0.0 : diagonal * shrink;
    if (group_cost(static_cast<double>(part), diagonal, dims) < kept) return false;
  }
  return true;
}

}  // namespace

void bounding_box(MatrixView queries, std::span<const std::uint32_t> rows, std::vector<double>& low,
                  std::vector<double>& high) {
  const auto first = queries.row(rows[0]);
  low.assign(first.begin(), first.end());
  high = low;
  for (const std::uint32_t i : rows) {
    const auto row = queries.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      low[j] = std::min(low[j], row[j]);
      high[j] = std::max(high[j], row[j]);
    }
  }
}

QueryGroups group_queries(MatrixView queries, double radius) {
  QueryGroups result;
  result.order.resize(queries.rows());
  std::iota(result.order.begin(), result.order.end(), 0U);
  if (queries.rows() == 0) return result;
  std::vector<double> low;
  std::vector<double> high;
  std::vector<QueryGroups::Group> todo = {{0, static_cast<std::uint32_t>(queries.rows())}};
  while (!todo.empty()) {
    const QueryGroups::Group part = todo.back();
    todo.pop_back();
    const auto rows = std::span(result.order).subspan(part.first, part.last - part.first);
    bounding_box(queries, rows, low, high);
    std::size_t widest = 0;
    double squares = 0.0;
    for (std::size_t j = 0; j < low.size(); ++j) {
      const double width = high[j] - low[j];
      squares += width * width;
      if (width > high[widest] - low[widest]) widest = j;
    }
    if (worth_keeping(rows.size(), std::sqrt(squares) / radius, low.size())) {
      result.groups.push_back(part);
      continue;
    }
    const std::size_t half = rows.size() / 2;
    std::nth_element(
        rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(half), rows.end(),
        [&](std::uint32_t a, std::uint32_t b) { return queries(a, widest) < queries(b, widest); });
    const auto middle = part.first + static_cast<std::uint32_t>(half);
    todo.push_back({middle, part.last});
    todo.push_back({part.first, middle});
  }
  return result;
}

}  // namespace tare

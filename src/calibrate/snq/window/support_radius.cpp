// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/window/support_radius.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/stages.h"
#include "calibrate/snq/window/local_sample.h"
#include "index/kd_tree.h"

namespace tare {
namespace {

/// Places at equal steps: the rows lie in the order of their residuals, so these are as mixed as
/// all of them, and the same whatever the seed.
std::vector<std::size_t> places_to_measure(std::size_t rows) {
  const std::size_t count = std::min(rows, kSupportRows);
  std::vector<std::size_t> places(count);
  for (std::size_t k = 0; k < count; ++k) places[k] = k * rows / count;
  return places;
}

/// The quantile of the distances from some rows to the second nearest of `among`: each of the rows
/// is, or equals, one of these, so the nearest is itself.
double typical_gap(const BruteForce& rows, std::span<const std::size_t> places,
                   const BruteForce& among, const Execution& how) {
  const KdTree tree(among.columns(), among.rows(), among.dims());
  std::vector<double> squared(places.size());
  constexpr std::size_t kBlock = 32;
  parallel_blocks(how, places.size(), kBlock, [&](std::size_t first, std::size_t last) {
    KdTree::Nearest spare;
    for (std::size_t k = first; k < last; ++k) {
      squared[k] = tree.nearest(rows.row(places[k]), 2, LocalSample::kFarthestRow, spare);
    }
  });
  const double rank = std::ceil(kWithinSupport * static_cast<double>(squared.size()));
  const auto middle = squared.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(squared.begin(), middle, squared.end());
  return std::sqrt(*middle);
}

/// Each row once.
BruteForce distinct_rows(const BruteForce& rows) {
  const std::span<const double> columns = rows.columns();
  const auto compare = [&](std::size_t a, std::size_t b) {
    for (std::size_t start = 0; start < columns.size(); start += rows.rows()) {
      if (columns[start + a] != columns[start + b]) {
        return columns[start + a] < columns[start + b] ? -1 : 1;
      }
    }
    return 0;
  };
  std::vector<std::size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](auto a, auto b) { return compare(a, b) < 0; });
  const auto twins = std::ranges::unique(order, [&](auto a, auto b) { return compare(a, b) == 0; });
  order.erase(twins.begin(), twins.end());
  Matrix distinct(order.size(), rows.dims());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < rows.dims(); ++j) {
      distinct(i, j) = columns[j * rows.rows() + order[i]];
    }
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  return {distinct, order};
}

}  // namespace

double support_radius(const BruteForce& rows, const Execution& how) {
  if (rows.rows() < 2 || rows.dims() == 0) return std::numeric_limits<double>::infinity();
  const std::vector<std::size_t> places = places_to_measure(rows.rows());
  const Execution quiet = quietly(how);
  const double radius = typical_gap(rows, places, rows, quiet);
  if (radius > 0.0) return radius;
  const BruteForce distinct = distinct_rows(rows);
  return distinct.rows() < 2 ? 0.0 : typical_gap(rows, places, distinct, quiet);
}

}  // namespace tare

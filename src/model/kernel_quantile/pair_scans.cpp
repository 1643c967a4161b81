// SPDX-License-Identifier: BSD-3-Clause
#include "model/kernel_quantile/pair_scans.h"

#include <array>
#include <limits>

#include "math/vector_targets.h"

namespace tare {
namespace {

// Blocks are scored as a whole and compared by their largest scores, as compilers make vectors of
// both loops; a search for the place of the largest follows only where a block is better than those
// before.
constexpr std::size_t kPairLanes = 8;
constexpr std::size_t kPairBlock = 64;
using PairLanes = std::array<double, kPairLanes>;
using PairScores = std::array<double, kPairBlock>;

TARE_VECTOR_PART double largest_of(const PairScores& score) {
  PairLanes largest;
  for (std::size_t k = 0; k < kPairLanes; ++k) largest[k] = score[k];
  for (std::size_t b = kPairLanes; b < kPairBlock; b += kPairLanes) {
    for (std::size_t k = 0; k < kPairLanes; ++k) {
      largest[k] = score[b + k] > largest[k] ? score[b + k] : largest[k];
    }
  }
  double result = largest[0];
  for (const double one : largest) result = one > result ? one : result;
  return result;
}

/// The first place with the largest score above `least`; `count` if there is none.
template <typename ScoreOf>
TARE_VECTOR_PART std::size_t first_largest(std::size_t count, double least, ScoreOf score_of) {
  PairScores score;
  std::size_t place = count;
  for (std::size_t first = 0; first < count; first += kPairBlock) {
    const std::size_t size = count - first < kPairBlock ? count - first : kPairBlock;
    if (size < kPairBlock) score.fill(least);
    for (std::size_t k = 0; k < size; ++k) score[k] = score_of(first + k);
    const double own = largest_of(score);
    if (!(own > least)) continue;
    least = own;
    std::size_t k = 0;
    while (score[k] != own) ++k;
    place = first + k;
  }
  return place;
}

TARE_VECTOR_TARGETS std::size_t find_largest(const double* rest, const double* a,
                                             const double* high, std::size_t count) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  return first_largest(
      count, kNothing, [=](std::size_t i) __attribute__((always_inline)) {
        return a[i] < high[i] ? rest[i] : kNothing;
      });
}

TARE_VECTOR_TARGETS std::size_t find_steepest(double rest_up, double diagonal_up,
                                              const double* rest, const double* a,
                                              const double* low, const double* diagonal,
                                              const double* row, std::size_t count) {
  return first_largest(
      count, 0.0, [=](std::size_t j) __attribute__((always_inline)) {
        const double slope = rest_up - rest[j];
        const double bend = diagonal_up + diagonal[j] - 2.0 * row[j];
        const double curvature = bend > kLeastCurvature ? bend : kLeastCurvature;
        const double gain = slope > 0.0 ? slope * slope / curvature : 0.0;
        return a[j] > low[j] ? gain : 0.0;
      });
}

TARE_VECTOR_TARGETS void subtract(double* __restrict rest, double by, const double* row,
                                  const double* other, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) rest[i] -= by * (row[i] - other[i]);
}

TARE_VECTOR_TARGETS PairLanes product_lanes(const double* a, const double* b, std::size_t count) {
  PairLanes sum{};
  const std::size_t whole = count / kPairLanes * kPairLanes;
  for (std::size_t i = 0; i < whole; i += kPairLanes) {
    for (std::size_t k = 0; k < kPairLanes; ++k) sum[k] += a[i + k] * b[i + k];
  }
  for (std::size_t i = whole; i < count; ++i) sum[i - whole] += a[i] * b[i];
  return sum;
}

}  // namespace

std::size_t largest_with_room(std::span<const double> rest, std::span<const double> a,
                              std::span<const double> high) {
  return find_largest(rest.data(), a.data(), high.data(), rest.size());
}

std::size_t steepest_partner(std::size_t up, std::span<const double> rest,
                             std::span<const double> a, std::span<const double> low,
                             std::span<const double> diagonal, std::span<const double> row) {
  return find_steepest(rest[up], diagonal[up], rest.data(), a.data(), low.data(), diagonal.data(),
                       row.data(), rest.size());
}

void subtract_difference(std::span<double> rest, double by, std::span<const double> row,
                         std::span<const double> other) {
  subtract(rest.data(), by, row.data(), other.data(), rest.size());
}

double sum_of_products(std::span<const double> a, std::span<const double> b) {
  const PairLanes sum = product_lanes(a.data(), b.data(), a.size());
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace tare

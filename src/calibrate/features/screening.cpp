// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/features/screening.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/strings.h"
#include "tare/calibrate/description.h"

namespace tare {
namespace {

constexpr std::size_t kScreenedRows = 20'000;
constexpr std::size_t kBins = 8;
constexpr std::size_t kParts = 10;  // of u

/// The part of each value among `parts` equal ones in order of value; equal values share a part, so
/// there may be fewer. Part p begins where p / parts of the rows are smaller.
std::vector<std::uint8_t> parts_of(std::span<const double> values, std::size_t parts) {
  std::vector<double> sorted(values.begin(), values.end());
  std::vector<double> borders;  // a value above p of these is in part p
  auto from = sorted.begin();
  for (std::size_t p = 1; p < parts && !sorted.empty(); ++p) {
    const std::size_t smaller = (p * sorted.size() + parts - 1) / parts;
    if (smaller == 0) continue;
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(smaller - 1);
    std::nth_element(from, at, sorted.end());
    borders.push_back(*at);
    from = at;
  }
  std::vector<std::uint8_t> part(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    unsigned above = 0;
    for (const double border : borders) above += values[i] > border ? 1U : 0U;
    part[i] = static_cast<std::uint8_t>(above);
  }
  return part;
}

/// The statistic of one column: how much the shares below each cut of u differ between bins.
double dependence(std::span<const std::uint8_t> bin, std::span<const std::uint8_t> part) {
  std::array<std::array<double, kParts>, kBins> count{};
  for (std::size_t i = 0; i < bin.size(); ++i) count[bin[i]][part[i]] += 1.0;
  std::array<double, kParts> all{};
  std::array<double, kBins> size{};
  for (std::size_t b = 0; b < kBins; ++b) {
    for (std::size_t k = 0; k < kParts; ++k) {
      all[k] += count[b][k];
      size[b] += count[b][k];
    }
  }
  const auto rows = static_cast<double>(bin.size());
  std::array<double, kBins> below{};
  double all_below = 0.0;
  double sum = 0.0;
  for (std::size_t k = 0; k + 1 < kParts; ++k) {
    all_below += all[k];
    const double share = all_below / rows;
    for (std::size_t b = 0; b < kBins; ++b) below[b] += count[b][k];
    if (share <= 0.0 || share >= 1.0) continue;
    for (std::size_t b = 0; b < kBins; ++b) {
      if (size[b] == 0.0) continue;
      const double away = below[b] - size[b] * share;
      sum += away * away / (size[b] * share * (1.0 - share));
    }
  }
  return sum;
}

/// Rows to look at: all, or some at random.
std::vector<std::size_t> rows_to_screen(std::size_t rows, Rng& rng) {
  std::vector<std::size_t> chosen = random_permutation(rows, rng);
  if (chosen.size() > kScreenedRows) chosen.resize(kScreenedRows);
  return chosen;
}

/// By at least `gap` places either way, where there are so many.
void rotate_by_chance(std::vector<std::uint8_t>& values, std::size_t gap, Rng& rng) {
  const std::size_t least = std::min(gap, values.size() / 2);
  const std::size_t by = least + rng.below(values.size() - 2 * least + 1);
  std::ranges::rotate(values, values.begin() + static_cast<std::ptrdiff_t>(by));
}

}  // namespace

std::vector<ScreenedColumn> screen_columns(MatrixView x, std::span<const double> u,
                                           std::size_t permutations, Seed seed,
                                           const Execution& how, std::size_t gap) {
  Rng rng(split(seed, 0));
  std::vector<std::size_t> rows = rows_to_screen(u.size(), rng);
  if (gap > 0) std::ranges::sort(rows);
  const std::size_t columns = x.cols();
  std::vector<std::vector<std::uint8_t>> bins(columns);
  parallel_for(how, columns, [&](std::size_t j) {
    std::vector<double> values(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) values[i] = x(rows[i], j);
    bins[j] = parts_of(values, kBins);
  });
  std::vector<double> residual(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) residual[i] = u[rows[i]];
  const std::vector<std::uint8_t> part = parts_of(residual, kParts);

  // Row 0 is what is seen, the others are what chance gives.
  Matrix statistic(permutations + 1, columns);
  parallel_for(how, permutations + 1, [&](std::size_t p) {
    std::vector<std::uint8_t> shuffled = part;
    Rng own(split(seed, p));
    if (p > 0 && gap == 0) shuffle(std::span<std::uint8_t>(shuffled), own);
    if (p > 0 && gap > 0) rotate_by_chance(shuffled, gap, own);
    for (std::size_t j = 0; j < columns; ++j) statistic(p, j) = dependence(bins[j], shuffled);
  });
  // Columns differ in their number of bins, so each is measured in its own standard deviations.
  std::vector<double> largest(permutations + 1, 0.0);
  for (std::size_t j = 0; j < columns; ++j) {
    double mean = 0.0;
    for (std::size_t p = 0; p <= permutations; ++p) mean += statistic(p, j);
    mean /= static_cast<double>(permutations + 1);
    double variance = 0.0;
    for (std::size_t p = 0; p <= permutations; ++p) {
      variance += std::pow(statistic(p, j) - mean, 2) / static_cast<double>(permutations + 1);
    }
    const double sd = variance > 0.0 ? std::sqrt(variance) : 1.0;
    for (std::size_t p = 0; p <= permutations; ++p) {
      statistic(p, j) = (statistic(p, j) - mean) / sd;
      largest[p] = std::max(largest[p], statistic(p, j));
    }
  }
  std::vector<ScreenedColumn> screened(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    std::size_t as_large = 0;
    for (std::size_t p = 1; p <= permutations; ++p) {
      if (largest[p] >= statistic(0, j)) ++as_large;
    }
    screened[j] = {j, statistic(0, j),
                   static_cast<double>(as_large + 1) / static_cast<double>(permutations + 1)};
  }
  return screened;
}

std::vector<std::size_t> kept_columns(std::span<const ScreenedColumn> screened) {
  std::vector<std::size_t> kept;
  for (const ScreenedColumn& one : screened) {
    if (one.p_value <= kScreenLevel) kept.push_back(one.column);
  }
  return kept;
}

bool parse_screen(const Params& params) {
  const std::string text = canonical_name(params.text("screen", "no"));
  if (text != "yes" && text != "no") {
    fail_option("screen", text, "is yes or no");
  }
  return text == "yes";
}

void describe_screened(std::span<const ScreenedColumn> screened, Description& description) {
  for (const ScreenedColumn& one : screened) {
    description.screened.push_back({.name = description.feature_name(one.column),
                                    .strength = one.strength,
                                    .p_value = one.p_value,
                                    .kept = one.p_value <= kScreenLevel});
  }
}

void save_screened(std::span<const ScreenedColumn> screened, const TensorWriter& out) {
  if (screened.empty()) return;
  Json list = Json::array();
  for (const ScreenedColumn& one : screened)
    list.push_back({one.column, one.strength, one.p_value});
  out.value("screened", list);
}

std::vector<ScreenedColumn> load_screened(const TensorReader& in, std::size_t columns) {
  std::vector<ScreenedColumn> screened;
  if (!in.has_value("screened")) return screened;
  using Row = std::tuple<double, double, double>;
  for (const auto& [column, strength, p_value] : in.get<std::vector<Row>>("screened")) {
    if (!(column >= 0.0 && column < static_cast<double>(columns))) {
      fail(ErrorCode::kCorruptFile, "the model file names a screened column that does not exist");
    }
    screened.push_back({static_cast<std::size_t>(column), strength, p_value});
  }
  return screened;
}

}  // namespace tare

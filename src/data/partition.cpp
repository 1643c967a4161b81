// SPDX-License-Identifier: BSD-3-Clause
#include "data/partition.h"

#include <algorithm>
#include <cmath>

#include "data/rows.h"

namespace tare {
namespace {

std::size_t share_of(std::size_t rows, double share) {
  if (rows < 2) return rows;
  const auto count = static_cast<std::size_t>(std::llround(share * static_cast<double>(rows)));
  return std::clamp<std::size_t>(count, 1, rows - 1);
}

}  // namespace

Partition flagged_partition(std::span<const unsigned char> flag) {
  Partition result;
  for (std::size_t i = 0; i < flag.size(); ++i) {
    (flag[i] != 0 ? result.second : result.first).push_back(i);
  }
  return result;
}

std::vector<std::size_t> limit_rows(std::size_t rows, std::size_t most, std::size_t window,
                                    Seed seed) {
  if (rows <= most) return all_rows(rows);
  std::vector<std::size_t> chosen;
  if (window > 1) {
    for (std::size_t i = rows - most; i < rows; ++i) chosen.push_back(i);
    return chosen;
  }
  Rng rng(seed);
  chosen = random_permutation(rows, rng);
  chosen.resize(most);
  std::ranges::sort(chosen);
  return chosen;
}

Partition random_partition(std::size_t rows, double share, Seed seed) {
  Rng rng(seed);
  const std::vector<std::size_t> order = random_permutation(rows, rng);
  std::vector<unsigned char> flag(rows, 0);
  for (std::size_t i = 0; i < share_of(rows, share); ++i) flag[order[i]] = 1;
  return flagged_partition(flag);
}

Partition time_partition(std::size_t rows, double share) {
  std::vector<unsigned char> flag(rows, 0);
  std::fill(flag.end() - static_cast<std::ptrdiff_t>(share_of(rows, share)), flag.end(),
            static_cast<unsigned char>(1));
  return flagged_partition(flag);
}

std::vector<std::size_t> random_folds(std::size_t rows, std::size_t folds, Seed seed) {
  Rng rng(seed);
  const std::vector<std::size_t> order = random_permutation(rows, rng);
  std::vector<std::size_t> fold(rows);
  for (std::size_t i = 0; i < rows; ++i) fold[order[i]] = i % folds;
  return fold;
}

std::vector<std::size_t> time_folds(std::size_t rows, std::size_t folds) {
  std::vector<std::size_t> fold(rows);
  for (std::size_t i = 0; i < rows; ++i) fold[i] = i * folds / rows;
  return fold;
}

Partition fold_partition(std::span<const std::size_t> fold_of_row, std::size_t fold,
                         std::size_t window) {
  const std::size_t rows = fold_of_row.size();
  const auto near = [&](std::size_t i) {
    const std::size_t first = i - std::min(i, window - 1);
    const std::size_t last = std::min(rows, i + window);
    const auto around = fold_of_row.subspan(first, last - first);
    return std::ranges::find(around, fold) != around.end();
  };
  Partition result;
  for (std::size_t i = 0; i < rows; ++i) {
    if (fold_of_row[i] == fold) {
      result.second.push_back(i);
    } else if (!near(i)) {
      result.first.push_back(i);
    }
  }
  return result;
}

std::vector<std::size_t> rows_outside(std::span<const std::uint32_t> fold_of_row, std::size_t fold,
                                      std::size_t gap) {
  const std::size_t rows = fold_of_row.size();
  std::vector<std::uint8_t> near(rows, 0);
  const auto mark = [&](std::size_t i, std::size_t& since) {
    since = fold_of_row[i] == fold ? 0 : since + 1;
    if (since <= gap) near[i] = 1;
  };
  std::size_t since = gap;
  for (std::size_t i = 0; i < rows; ++i) mark(i, since);
  since = gap;
  for (std::size_t i = rows; i-- > 0;) mark(i, since);
  std::vector<std::size_t> outside;
  for (std::size_t i = 0; i < rows; ++i) {
    if (near[i] == 0) outside.push_back(i);
  }
  return outside;
}

Partition stretch_partition(std::size_t rows, double share, std::size_t gap, Rng& rng) {
  constexpr std::size_t kMostStretches = 4;
  constexpr std::size_t kGapsOfAStretch = 5;
  const auto wanted = static_cast<std::size_t>(std::round(share * static_cast<double>(rows)));
  const std::size_t least = std::max<std::size_t>(1, kGapsOfAStretch * gap);
  const std::size_t count = std::clamp<std::size_t>(wanted / least, 1, kMostStretches);
  std::vector<std::uint32_t> held_out(rows, 0);
  for (std::size_t k = 0; k < count; ++k) {  // one in each of `count` equal parts
    const std::size_t begin = k * rows / count;
    const std::size_t part = (k + 1) * rows / count - begin;
    const std::size_t length = std::min(part, wanted / count);
    const std::size_t start = begin + static_cast<std::size_t>(rng.below(part - length + 1));
    std::fill_n(held_out.begin() + static_cast<std::ptrdiff_t>(start), length, 1U);
  }
  Partition result;
  result.first = rows_outside(held_out, 1, gap);
  for (std::size_t i = 0; i < rows; ++i) {
    if (held_out[i] == 1) result.second.push_back(i);
  }
  return result;
}

}  // namespace tare

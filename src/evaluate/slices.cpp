// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/slices.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/compensated_sum.h"
#include "math/proportion.h"

namespace tare {
namespace {

constexpr double kBarConfidence = 0.95;
constexpr std::size_t kMostSlices = 10;
constexpr std::size_t kRowsOfSlice = 20;

struct Widths {
  double middle = 0.0, low = 0.0, high = 0.0;
};

Widths summarise_widths(std::vector<double>& widths) {
  std::ranges::sort(widths);
  const CountRange ranks = median_ranks(widths.size(), kBarConfidence);
  const std::size_t low = std::max<std::size_t>(ranks.low, 1);
  const std::size_t high = std::min<std::size_t>(ranks.high, widths.size());
  return {widths[widths.size() / 2], widths[low - 1], widths[high - 1]};
}

}  // namespace

std::size_t usual_slices(std::size_t rows) {
  return std::clamp<std::size_t>(rows / kRowsOfSlice, 1, kMostSlices);
}

Cut cut_names(std::span<const std::uint32_t> codes, std::span<const std::string> names,
              std::size_t most) {
  std::vector<std::size_t> rows(names.size(), 0);
  for (const std::uint32_t code : codes) ++rows[code];
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::uint32_t code) { return rows[code]; });
  const std::size_t own = names.size() <= most ? names.size() : most - 1;
  Cut cut;
  std::vector<std::uint32_t> part(names.size(), static_cast<std::uint32_t>(own));
  for (std::size_t k = 0; k < own; ++k) {
    part[order[k]] = static_cast<std::uint32_t>(k);
    cut.parts.push_back({.name = names[order[k]]});
  }
  if (own < names.size()) {
    cut.parts.push_back({.name = std::to_string(names.size() - own) + " other values"});
  }
  for (const std::uint32_t code : codes) cut.part_of_row.push_back(part[code]);
  return cut;
}

Cut cut_column(const ReportColumn& column) {
  if (column.categorical) return cut_names(column.codes, column.names, kMostNames);
  return cut_numbers(column.numbers, usual_slices(column.numbers.size()));
}

bool covers_too_little(const Slice& slice) { return slice.coverage_high < Outcomes::kConfidence; }

bool covers_too_much(const Slice& slice) { return slice.coverage_low > Outcomes::kConfidence; }

ProportionInterval share_interval(double sum, std::size_t rows, double confidence) {
  const double low = std::clamp(std::floor(sum), 0.0, static_cast<double>(rows));
  const double high = std::clamp(std::ceil(sum), 0.0, static_cast<double>(rows));
  return {clopper_pearson(static_cast<std::uint64_t>(low), rows, confidence).low,
          clopper_pearson(static_cast<std::uint64_t>(high), rows, confidence).high};
}

std::vector<Slice> tally_slices(const Cut& cut, const Outcomes& outcomes) {
  std::vector<Slice> slices(cut.parts.size());
  std::vector<std::vector<double>> widths(slices.size());
  std::vector<CompensatedSum> covered(slices.size());
  for (std::size_t i = 0; i < cut.part_of_row.size(); ++i) {
    Slice& slice = slices[cut.part_of_row[i]];
    ++slice.rows;
    slice.below += std::size_t{outcomes.y[i] < outcomes.lower[i]};
    slice.above += std::size_t{outcomes.y[i] > outcomes.upper[i]};
    slice.on_end +=
        std::size_t{outcomes.y[i] == outcomes.lower[i] || outcomes.y[i] == outcomes.upper[i]};
    covered[cut.part_of_row[i]].add(outcomes.covered(i));
    widths[cut.part_of_row[i]].push_back(outcomes.upper[i] - outcomes.lower[i]);
  }
  for (std::size_t k = 0; k < slices.size(); ++k) {
    Slice& slice = slices[k];
    slice.part = cut.parts[k];
    if (slice.rows == 0) continue;
    const auto rows = static_cast<double>(slice.rows);
    slice.counted = static_cast<double>(slice.rows - slice.below - slice.above) / rows;
    slice.coverage = covered[k].value() / rows;
    const ProportionInterval bar = share_interval(covered[k].value(), slice.rows, kBarConfidence);
    slice.coverage_low = bar.low;
    slice.coverage_high = bar.high;
    const Widths width = summarise_widths(widths[k]);
    slice.width = width.middle;
    slice.width_low = width.low;
    slice.width_high = width.high;
  }
  return slices;
}

}  // namespace tare

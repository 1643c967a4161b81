// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/worst_regions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "evaluate/slices.h"
#include "math/binomial.h"
#include "math/holm.h"
#include "math/proportion.h"

namespace tare {
namespace {

constexpr std::size_t kFineParts = 16;
constexpr std::size_t kPairParts = 3;
constexpr std::size_t kPairNames = 6;
constexpr std::size_t kPairColumns = 10;  // 45 pairs: more tests would cost power
constexpr std::size_t kLeastRegionRows = 20;
constexpr std::array kEvents = {CalibrationEvent::kCovered, CalibrationEvent::kBelowMedian};

/// Rows and events of a region.
struct RegionCounts {
  std::size_t rows = 0;
  std::array<double, kEvents.size()> count{};

  void add(const RegionCounts& other) {
    rows += other.rows;
    for (std::size_t e = 0; e < kEvents.size(); ++e) count[e] += other.count[e];
  }
};

RegionCounts counts_of_row(const Outcomes& o, std::size_t i) {
  return {.rows = 1, .count = {o.covered(i), o.below_median(i)}};
}

std::vector<RegionCounts> counts_of_parts(const Cut& cut, const Outcomes& outcomes) {
  std::vector<RegionCounts> counts(cut.parts.size());
  for (std::size_t i = 0; i < outcomes.rows(); ++i) {
    counts[cut.part_of_row[i]].add(counts_of_row(outcomes, i));
  }
  return counts;
}

RegionCondition condition(std::size_t column, const Cut& cut, std::size_t first, std::size_t last) {
  return {column, cut.parts[first].from, cut.parts[last].to, cut.parts[first].name};
}

/// A count between two whole numbers is rounded towards the nominal share on each side.
double two_sided_p(const Region& region) {
  const double nominal = nominal_share(region.event);
  const double rows = static_cast<double>(region.rows);
  const auto high = static_cast<std::uint64_t>(std::min(rows, std::ceil(region.count)));
  const auto low = static_cast<std::uint64_t>(std::min(rows, std::floor(region.count)));
  const double too_few = binomial_at_most(region.rows, nominal, high);
  const double too_many =
      binomial_at_most(region.rows, 1.0 - nominal, region.rows - low);  // P(B >= low)
  return std::min(1.0, 2.0 * std::min(too_few, too_many));
}

/// Collects regions and tests them.
class RegionList {
 public:
  RegionList(const Outcomes& outcomes, std::vector<Region>& regions)
      : all_(outcomes.rows()),
        least_(std::max(kLeastRegionRows, outcomes.rows() / 50)),
        regions_(regions) {}

  void add(std::vector<RegionCondition> where, const RegionCounts& counts) {
    // All rows are one region, not one per column.
    if (!where.empty() && (counts.rows < least_ || counts.rows == all_)) return;
    for (std::size_t e = 0; e < kEvents.size(); ++e) {
      Region region;
      region.where = where;
      region.event = kEvents[e];
      region.rows = counts.rows;
      region.count = counts.count[e];
      region.p = two_sided_p(region);
      regions_.push_back(std::move(region));
    }
  }

 private:
  std::size_t all_;
  std::size_t least_;
  std::vector<Region>& regions_;
};

void add_ranges(std::size_t column, const Cut& cut, const Outcomes& outcomes, RegionList& list) {
  const std::vector<RegionCounts> parts = counts_of_parts(cut, outcomes);
  for (std::size_t first = 0; first < parts.size(); ++first) {
    RegionCounts counts;
    for (std::size_t last = first; last < parts.size(); ++last) {
      counts.add(parts[last]);
      list.add({condition(column, cut, first, last)}, counts);
    }
  }
}

void add_names(std::size_t column, const Cut& cut, const Outcomes& outcomes, RegionList& list) {
  const std::vector<RegionCounts> parts = counts_of_parts(cut, outcomes);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    list.add({condition(column, cut, k, k)}, parts[k]);
  }
}

struct CoarseColumn {
  std::size_t column = 0;
  Cut cut;
};

/// The features that may be paired, in few parts each, so that a cell of a pair has enough rows.
std::vector<CoarseColumn> coarse_columns(std::span<const ReportColumn> columns) {
  std::vector<CoarseColumn> coarse;
  for (std::size_t j = 0; j < columns.size() && coarse.size() < kPairColumns; ++j) {
    const ReportColumn& column = columns[j];
    if (column.origin == ColumnOrigin::kDerived) continue;
    Cut cut = column.categorical ? cut_names(column.codes, column.names, kPairNames)
                                 : cut_numbers(column.numbers, kPairParts);
    if (cut.parts.size() > 1) coarse.push_back({j, std::move(cut)});
  }
  return coarse;
}

void add_pair(const CoarseColumn& a, const CoarseColumn& b, const Outcomes& outcomes,
              RegionList& list) {
  const std::size_t width = b.cut.parts.size();
  std::vector<RegionCounts> cells(a.cut.parts.size() * width);
  for (std::size_t i = 0; i < outcomes.rows(); ++i) {
    cells[a.cut.part_of_row[i] * width + b.cut.part_of_row[i]].add(counts_of_row(outcomes, i));
  }
  for (std::size_t k = 0; k < cells.size(); ++k) {
    list.add({condition(a.column, a.cut, k / width, k / width),
              condition(b.column, b.cut, k % width, k % width)},
             cells[k]);
  }
}

std::vector<Region> all_regions(std::span<const ReportColumn> columns, const Outcomes& outcomes) {
  std::vector<Region> regions;
  RegionList list(outcomes, regions);
  RegionCounts total;
  for (std::size_t i = 0; i < outcomes.rows(); ++i) total.add(counts_of_row(outcomes, i));
  list.add({}, total);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].categorical) {
      add_names(j, cut_names(columns[j].codes, columns[j].names, kMostNames), outcomes, list);
    } else {
      add_ranges(j, cut_numbers(columns[j].numbers, kFineParts), outcomes, list);
    }
  }
  const std::vector<CoarseColumn> coarse = coarse_columns(columns);
  for (std::size_t a = 0; a < coarse.size(); ++a) {
    for (std::size_t b = a + 1; b < coarse.size(); ++b) {
      add_pair(coarse[a], coarse[b], outcomes, list);
    }
  }
  return regions;
}

/// The share, and the lower bound of its error for all regions at once.
void measure(Region& region, std::size_t looked_at) {
  const double nominal = nominal_share(region.event);
  region.share = region.count / static_cast<double>(region.rows);
  const double together = RegionSearch::kLevel / static_cast<double>(looked_at);
  if (region.p > together) return;
  const ProportionInterval sure = share_interval(region.count, region.rows, 1.0 - together);
  region.sure_error = std::max(0.0, region.too_low() ? nominal - sure.high : sure.low - nominal);
}

/// 95 % interval, not corrected for other tests.
void add_interval(Region& region) {
  const ProportionInterval usual = share_interval(region.count, region.rows, 0.95);
  region.low = usual.low;
  region.high = usual.high;
}

bool overlap(const RegionCondition& a, const RegionCondition& b) {
  if (a.column != b.column || a.name != b.name) return false;
  return a.name.empty() ? a.from <= b.to && b.from <= a.to : true;
}

/// Whether two regions are nearly the same: conditions on the same columns that overlap.
bool alike(const Region& a, const Region& b) {
  return a.where.size() == b.where.size() &&
         std::equal(a.where.begin(), a.where.end(), b.where.begin(), overlap);
}

}  // namespace

double nominal_share(CalibrationEvent event) {
  return event == CalibrationEvent::kCovered ? Outcomes::kConfidence : 0.5;
}

RegionSearch find_worst_regions(std::span<const ReportColumn> columns, const Outcomes& outcomes) {
  RegionSearch search;
  if (outcomes.rows() == 0) return search;
  std::vector<Region> regions = all_regions(columns, outcomes);
  search.looked_at = regions.size();
  std::vector<double> p;
  for (const Region& region : regions) p.push_back(region.p);
  const std::vector<double> adjusted = holm_adjusted(p);
  for (std::size_t k = 0; k < regions.size(); ++k) {
    regions[k].adjusted = adjusted[k];
    measure(regions[k], regions.size());
    search.found += std::size_t{adjusted[k] <= RegionSearch::kLevel};
  }
  std::ranges::stable_sort(regions, [](const Region& a, const Region& b) {
    return a.sure_error != b.sure_error ? a.sure_error > b.sure_error : a.p < b.p;
  });
  for (Region& region : regions) {
    if (search.worst.size() == kWorst) break;
    const auto same = [&](const Region& other) { return alike(region, other); };
    if (std::ranges::none_of(search.worst, same)) search.worst.push_back(std::move(region));
  }
  std::ranges::for_each(search.worst, add_interval);
  return search;
}

}  // namespace tare

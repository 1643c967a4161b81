// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/slabs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "evaluate/slices.h"
#include "math/binomial.h"
#include "math/proportion.h"

namespace tare {
namespace {

constexpr std::size_t kFineParts = 16;
constexpr std::size_t kPairParts = 3;
constexpr std::size_t kPairNames = 6;
constexpr std::size_t kPairColumns = 10;  // 45 pairs: more would cost the others their power
constexpr std::size_t kLeastPlaceRows = 20;
constexpr std::array kEvents = {CalibrationEvent::kCovered, CalibrationEvent::kBelowMedian};

/// What happened in some rows.
struct PlaceCounts {
  std::size_t rows = 0;
  std::array<double, kEvents.size()> count{};

  void add(const PlaceCounts& other) {
    rows += other.rows;
    for (std::size_t e = 0; e < kEvents.size(); ++e) count[e] += other.count[e];
  }
};

PlaceCounts counts_of_row(const Outcomes& o, std::size_t i) {
  return {.rows = 1, .count = {o.covered(i), o.below_median(i)}};
}

std::vector<PlaceCounts> counts_of_parts(const Cut& cut, const Outcomes& outcomes) {
  std::vector<PlaceCounts> counts(cut.parts.size());
  for (std::size_t i = 0; i < outcomes.rows(); ++i) {
    counts[cut.part_of_row[i]].add(counts_of_row(outcomes, i));
  }
  return counts;
}

PlaceCondition condition(std::size_t column, const Cut& cut, std::size_t first, std::size_t last) {
  return {column, cut.parts[first].from, cut.parts[last].to, cut.parts[first].name};
}

/// With the whole numbers around the count, each the one that is nearer to the nominal share.
double two_sided_p(const Place& place) {
  const double nominal = nominal_share(place.event);
  const double rows = static_cast<double>(place.rows);
  const auto high = static_cast<std::uint64_t>(std::min(rows, std::ceil(place.count)));
  const auto low = static_cast<std::uint64_t>(std::min(rows, std::floor(place.count)));
  const double too_few = binomial_at_most(place.rows, nominal, high);
  const double too_many =
      binomial_at_most(place.rows, 1.0 - nominal, place.rows - low);  // P(B >= low)
  return std::min(1.0, 2.0 * std::min(too_few, too_many));
}

/// Gathers places and tests them.
class PlaceList {
 public:
  PlaceList(const Outcomes& outcomes, std::vector<Place>& places)
      : all_(outcomes.rows()),
        least_(std::max(kLeastPlaceRows, outcomes.rows() / 50)),
        places_(places) {}

  void add(std::vector<PlaceCondition> where, const PlaceCounts& counts) {
    // All rows are one place, and not one for each column.
    if (!where.empty() && (counts.rows < least_ || counts.rows == all_)) return;
    for (std::size_t e = 0; e < kEvents.size(); ++e) {
      Place place;
      place.where = where;
      place.event = kEvents[e];
      place.rows = counts.rows;
      place.count = counts.count[e];
      place.p = two_sided_p(place);
      places_.push_back(std::move(place));
    }
  }

 private:
  std::size_t all_;
  std::size_t least_;
  std::vector<Place>& places_;
};

void add_ranges(std::size_t column, const Cut& cut, const Outcomes& outcomes, PlaceList& list) {
  const std::vector<PlaceCounts> parts = counts_of_parts(cut, outcomes);
  for (std::size_t first = 0; first < parts.size(); ++first) {
    PlaceCounts counts;
    for (std::size_t last = first; last < parts.size(); ++last) {
      counts.add(parts[last]);
      list.add({condition(column, cut, first, last)}, counts);
    }
  }
}

void add_names(std::size_t column, const Cut& cut, const Outcomes& outcomes, PlaceList& list) {
  const std::vector<PlaceCounts> parts = counts_of_parts(cut, outcomes);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    list.add({condition(column, cut, k, k)}, parts[k]);
  }
}

struct CoarseColumn {
  std::size_t column = 0;
  Cut cut;
};

/// The features that may be paired, coarsely cut. Only a part of the rows is in each cell, so three
/// parts are enough.
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
              PlaceList& list) {
  const std::size_t width = b.cut.parts.size();
  std::vector<PlaceCounts> cells(a.cut.parts.size() * width);
  for (std::size_t i = 0; i < outcomes.rows(); ++i) {
    cells[a.cut.part_of_row[i] * width + b.cut.part_of_row[i]].add(counts_of_row(outcomes, i));
  }
  for (std::size_t k = 0; k < cells.size(); ++k) {
    list.add({condition(a.column, a.cut, k / width, k / width),
              condition(b.column, b.cut, k % width, k % width)},
             cells[k]);
  }
}

std::vector<Place> all_places(std::span<const ReportColumn> columns, const Outcomes& outcomes) {
  std::vector<Place> places;
  PlaceList list(outcomes, places);
  PlaceCounts total;
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
  return places;
}

/// The share, and what is sure of the error when all places are held to it at once.
void measure(Place& place, std::size_t looked_at) {
  const double nominal = nominal_share(place.event);
  place.share = place.count / static_cast<double>(place.rows);
  const double together = PlaceSearch::kLevel / static_cast<double>(looked_at);
  if (place.p > together) return;
  const ProportionInterval sure = share_interval(place.count, place.rows, 1.0 - together);
  place.sure_error = std::max(0.0, place.too_low() ? nominal - sure.high : sure.low - nominal);
}

/// 95 %, as if nothing else had been looked at.
void add_interval(Place& place) {
  const ProportionInterval usual = share_interval(place.count, place.rows, 0.95);
  place.low = usual.low;
  place.high = usual.high;
}

bool overlap(const PlaceCondition& a, const PlaceCondition& b) {
  if (a.column != b.column || a.name != b.name) return false;
  return a.name.empty() ? a.from <= b.to && b.from <= a.to : true;
}

/// Whether two places say nearly the same: they rest on the same columns, and share a part.
bool alike(const Place& a, const Place& b) {
  return a.where.size() == b.where.size() &&
         std::equal(a.where.begin(), a.where.end(), b.where.begin(), overlap);
}

}  // namespace

double nominal_share(CalibrationEvent event) {
  return event == CalibrationEvent::kCovered ? Outcomes::kConfidence : 0.5;
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double own = static_cast<double>(p.size() - k) * p[order[k]];
    largest = std::max(largest, std::min(1.0, own));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

PlaceSearch find_worst_places(std::span<const ReportColumn> columns, const Outcomes& outcomes) {
  PlaceSearch search;
  if (outcomes.rows() == 0) return search;
  std::vector<Place> places = all_places(columns, outcomes);
  search.looked_at = places.size();
  std::vector<double> p;
  for (const Place& place : places) p.push_back(place.p);
  const std::vector<double> adjusted = holm_adjusted(p);
  for (std::size_t k = 0; k < places.size(); ++k) {
    places[k].adjusted = adjusted[k];
    measure(places[k], places.size());
    search.found += std::size_t{adjusted[k] <= PlaceSearch::kLevel};
  }
  std::ranges::stable_sort(places, [](const Place& a, const Place& b) {
    return a.sure_error != b.sure_error ? a.sure_error > b.sure_error : a.p < b.p;
  });
  for (Place& place : places) {
    if (search.worst.size() == kWorst) break;
    const auto same = [&](const Place& other) { return alike(place, other); };
    if (std::ranges::none_of(search.worst, same)) search.worst.push_back(std::move(place));
  }
  std::ranges::for_each(search.worst, add_interval);
  return search;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/drift_causes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "math/cut.h"
#include "math/holm.h"
#include "math/student_t.h"
#include "online/drift/exceedance.h"

namespace tare {
namespace {

constexpr std::size_t kMostCauseParts = 8;
constexpr std::size_t kRowsOfCausePart = 20;  // after the change, on average
constexpr std::size_t kLeastCauseRows = 12;   // on each side of the change
constexpr std::array kDriftKinds = {DriftKind::kLocation, DriftKind::kSpread};

/// The rows of a part of a feature before and after the change.
struct CausePart {
  Cut::Part values;
  std::vector<double> before, after;
};

/// How scores changed in a part.
struct PartChange {
  Exceedance exceedance;
  double rows_before = 0.0, rows_after = 0.0;
  bool tested = false;

  /// Proportional to the precision if scores did not change.
  double weight() const { return rows_before * rows_after / (rows_before + rows_after); }
};

std::vector<CausePart> cut_rows(const DriftRows& rows, std::size_t feature) {
  const std::size_t all = rows.scores.size();
  std::vector<double> values(all);
  for (std::size_t i = 0; i < all; ++i) values[i] = rows.features[i * rows.columns + feature];
  const std::size_t smaller = std::min(rows.before, all - rows.before);
  const Cut cut =
      cut_numbers(values, std::clamp<std::size_t>(smaller / kRowsOfCausePart, 2, kMostCauseParts));
  std::vector<CausePart> parts(cut.parts.size());
  for (std::size_t k = 0; k < parts.size(); ++k) parts[k].values = cut.parts[k];
  for (std::size_t i = 0; i < all; ++i) {
    CausePart& part = parts[cut.part_of_row[i]];
    (i < rows.before ? part.before : part.after).push_back(rows.scores[i]);
  }
  for (CausePart& part : parts) {
    std::ranges::sort(part.before);
    std::ranges::sort(part.after);
  }
  return parts;
}

PartChange change_of(const CausePart& part, DriftKind kind) {
  PartChange change;
  change.rows_before = static_cast<double>(part.before.size());
  change.rows_after = static_cast<double>(part.after.size());
  change.tested = std::min(part.before.size(), part.after.size()) >= kLeastCauseRows;
  if (!change.tested) return change;
  change.exceedance = kind == DriftKind::kLocation ? estimate_exceedance(part.before, part.after)
                                                   : estimate_outwardness(part.before, part.after);
  return change;
}

/// A weighted mean over parts, with its variance and, for Welch's degrees of freedom, the sum of
/// squared terms of the variance over their degrees of freedom.
struct MeanChange {
  double probability = 0.5, variance = 0.0, spread = 0.0;
};

MeanChange mean_change(std::span<const PartChange> parts, double weights) {
  MeanChange mean;
  for (const PartChange& part : parts) {
    const double share = part.weight() / weights;
    const double x = share * share * part.exceedance.variance_x;
    const double y = share * share * part.exceedance.variance_y;
    mean.probability += share * (part.exceedance.probability - 0.5);
    mean.variance += x + y;
    mean.spread += x * x / (part.rows_before - 1.0) + y * y / (part.rows_after - 1.0);
  }
  return mean;
}

double p_of_difference(const MeanChange& a, const MeanChange& b) {
  const double variance = a.variance + b.variance;
  const double freedom = variance * variance / (a.spread + b.spread);
  const double t = std::fabs(a.probability - b.probability) / std::sqrt(variance);
  return std::min(1.0, 2.0 * student_t_cdf(-t, freedom));
}

double total_weight(std::span<const PartChange> parts) {
  double sum = 0.0;
  for (const PartChange& part : parts) sum += part.weight();
  return sum;
}

struct TestedPart {
  const CausePart* rows = nullptr;
  PartChange change;
};

/// Ranges are first, ..., last.
DriftCause describe_range(std::span<const TestedPart> parts, std::size_t first, std::size_t last) {
  DriftCause cause;
  cause.low = parts[first].rows->values.from;
  cause.high = parts[last].rows->values.to;
  for (std::size_t k = first; k <= last; ++k) {
    cause.rows_before += parts[k].rows->before.size();
    cause.rows_after += parts[k].rows->after.size();
  }
  return cause;
}

/// Compares a range of parts with the rest.
DriftCause compare_range(std::span<const TestedPart> parts, std::size_t first, std::size_t last) {
  std::vector<PartChange> in, out;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    (k >= first && k <= last ? in : out).push_back(parts[k].change);
  }
  const MeanChange inside = mean_change(in, total_weight(in));
  const MeanChange outside = mean_change(out, total_weight(out));
  DriftCause cause = describe_range(parts, first, last);
  cause.inside = inside.probability;
  cause.outside = outside.probability;
  cause.p = p_of_difference(inside, outside);
  return cause;
}

/// Whether scores changed more inside than outside: otherwise the cause lies outside.
bool changed_more_inside(const DriftCause& cause) {
  return std::fabs(cause.inside - 0.5) > std::fabs(cause.outside - 0.5);
}

/// Compares every range of the tested parts with the rest; a range at the start and the rest, which
/// is a range at the end, once.
void add_ranges_of(std::size_t feature, DriftKind kind, std::span<const CausePart> all,
                   std::vector<DriftCause>& causes) {
  std::vector<TestedPart> parts;
  for (const CausePart& part : all) {
    const PartChange change = change_of(part, kind);
    if (change.tested) parts.push_back({&part, change});
  }
  for (std::size_t first = 0; first < parts.size(); ++first) {
    for (std::size_t last = first; last + 1 < parts.size(); ++last) {
      DriftCause cause = compare_range(parts, first, last);
      if (first == 0 && !changed_more_inside(cause)) {
        cause = compare_range(parts, last + 1, parts.size() - 1);
      }
      cause.feature = feature;
      cause.kind = kind;
      causes.push_back(cause);
    }
  }
}

bool says_the_same(const DriftCause& a, const DriftCause& b) {
  return a.feature == b.feature && a.kind == b.kind && a.low <= b.high && b.low <= a.high;
}

}  // namespace

std::vector<DriftCause> find_drift_causes(const DriftRows& rows, double level) {
  std::vector<DriftCause> causes;
  if (rows.before == 0 || rows.before >= rows.scores.size()) return causes;
  for (std::size_t feature = 0; feature < rows.columns; ++feature) {
    const std::vector<CausePart> parts = cut_rows(rows, feature);
    for (const DriftKind kind : kDriftKinds) add_ranges_of(feature, kind, parts, causes);
  }
  std::vector<double> p;
  for (const DriftCause& cause : causes) p.push_back(cause.p);
  const std::vector<double> adjusted = holm_adjusted(p);
  for (std::size_t k = 0; k < causes.size(); ++k) causes[k].adjusted = adjusted[k];
  std::ranges::stable_sort(causes, {}, &DriftCause::p);
  std::vector<DriftCause> named;
  for (const DriftCause& cause : causes) {
    if (cause.adjusted > level) break;
    if (!changed_more_inside(cause)) continue;
    const auto same = [&](const DriftCause& other) { return says_the_same(cause, other); };
    if (std::ranges::none_of(named, same)) named.push_back(cause);
  }
  return named;
}

}  // namespace tare

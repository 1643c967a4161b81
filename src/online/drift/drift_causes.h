// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tare {

/// Rows of a stream in the order of time.
struct DriftRows {
  std::vector<double> scores;
  std::vector<double> features;  // `columns` for each row, one row after the other
  std::size_t columns = 0;
  std::size_t before = 0;  // the first rows: those before the change
};

enum class DriftKind : std::uint8_t {
  kLocation,  // scores became larger or smaller
  kSpread,    // scores moved away from, or towards, the middle of those before the change
};

/// A range of a feature in which scores changed otherwise than outside of it.
struct DriftCause {
  std::size_t feature = 0;
  double low = 0.0, high = 0.0;  // smallest and largest value of the rows in the range
  std::size_t rows_before = 0, rows_after = 0;
  DriftKind kind = DriftKind::kLocation;
  // The probability that a score from after the change exceeds one from before it in the same part
  // of the range; for kSpread, that it is farther from the middle. 0.5: no change.
  double inside = 0.5, outside = 0.5;
  double p = 1.0;         // two-sided
  double adjusted = 1.0;  // corrected for all ranges, features and kinds (Holm)
};

/// The ranges with an adjusted p of at most `level`, the smallest p first; two ranges of a feature
/// for the same kind do not overlap.
///
/// Each feature is cut into at most 8 parts by its values alone, and every range of parts is
/// compared with the rest of the feature. Within a part, scores after the change are ranked among
/// those before it. So a part may have had larger errors all along, and a change that acts in every
/// part alike, relative to the part's own scores before, is no cause: it is then named with
/// a probability of about `level` at most. "About", because the test uses Student's t with Welch's
/// degrees of freedom for means of ranks; tests/online/drift measures the frequency.
///
/// A part needs at least 12 rows before and 12 rows after the change, or it is left out: a feature
/// that only grows has no such part. Rows are assumed to be independent of each other. 0 < level
/// < 1.
std::vector<DriftCause> find_drift_causes(const DriftRows& rows, double level);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tare/base/level.h"

namespace tare {

/// What a method compares with its thresholds.
enum class ScoreKind : std::uint8_t {
  kAbsolute,  // |error|: one threshold for each confidence, and an interval around the prediction
  kSigned,    // error and -error: one threshold for each level
};

/// The thresholds that a method tracks for its levels. A threshold is exceeded by the share `alpha`
/// of scores if all is well.
struct Track {
  double alpha = 0.0;
  bool is_mirrored = false;  // its score is -error; never so for absolute scores
};

/// From levels to thresholds, and from thresholds to quantiles.
class TrackedLevels {
 public:
  TrackedLevels(std::span<const Level> levels, ScoreKind kind);

  std::span<const Track> tracks() const noexcept { return tracks_; }
  ScoreKind kind() const noexcept { return kind_; }
  /// The score of an error, by the track's side. Finite.
  double score(const Track& track, double error) const;

  /// The quantiles that thresholds stand for. A negative threshold of absolute scores, and one of
  /// minus infinity, is an empty set in the papers: the answer is the prediction. Quantiles that
  /// cross are put in order by order_from_outside.
  void quantiles(double prediction, std::span<const double> thresholds,
                 std::vector<double>& out) const;

 private:
  ScoreKind kind_;
  std::vector<Level> levels_;
  std::vector<Track> tracks_;
  std::vector<std::size_t> track_of_;  // of each level; kNoTrack for the prediction itself
  std::vector<std::size_t> from_outside_;
};

/// The share of targets outside of the central interval that has this level as a bound: 2 tau below
/// the median, 2 (1 - tau) above it. The same double for both bounds of an interval, for levels of
/// up to 15 decimal places.
double outside_share(const Level& level);

/// Levels by their distance from the median, the largest first; a lower bound before its upper one.
std::vector<std::size_t> levels_from_outside(std::span<const Level> levels);

/// Makes quantiles ascend: the bounds of the widest interval stay, and those inside are clamped to
/// them. So a level more does not change the interval around it. An upper bound below its lower one
/// is raised to it.
void order_from_outside(std::span<const Level> levels, std::span<const std::size_t> from_outside,
                        std::span<double> quantiles);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "online/drift/drift_causes.h"
#include "online/drift/rank_bets.h"
#include "online/drift/rank_reference.h"
#include "tare/base/rng.h"

namespace tare {

struct DriftOptions {
  double rate = 0.01;  // probability of a false alarm, over the whole stream; 1e-12 to below 1
  std::size_t features = 0;       // of each row
  std::size_t most_rows = 10000;  // kept in memory, 100 to 1,000,000
  Seed seed{};                    // of the places among ties, and of which rows are forgotten
};

/// An alarm, with the change that explains the ranks best.
struct DriftAlarm {
  std::uint64_t row = 0;     // at which it was raised; the first row of the stream is 0
  std::uint64_t change = 0;  // estimated first row after the change
  double shift = 0.0;        // of the scores, roughly, in standard deviations
  double scale = 1.0;        // the factor on their spread, roughly
};

/// Watches a stream of scores, such as signed errors of predictions, for a change.
///
/// Proven: if the scores since the start (or the last restart) are exchangeable, for example
/// independent with one distribution, the probability of an alarm, ever, is at most `rate`. This
/// holds for any distribution, with ties, and for streams of any length. It is a test martingale on
/// ranks (RankReference, RankBets) and Ville's inequality, up to the rounding of doubles; the
/// random numbers are those of a generator with a seed, taken as independent of the scores.
///
/// Not proven: how soon an alarm comes. Errors that depend on each other (autocorrelated ones, or
/// ones with a season in their spread) are not exchangeable, so an alarm is then right that the
/// stream is not exchangeable and says nothing about what changed.
///
/// The state is a function of the calls of step() and restart(): a state that was saved and loaded
/// goes on with the same bits. One thread at a time.
class DriftWatch {
 public:
  /// Throws kInvalidArgument for an option outside its range.
  explicit DriftWatch(const DriftOptions& options);

  /// Takes the score of the next row and its features. A few microseconds; O(most_rows) in the
  /// worst case, without allocation once all rows that are kept are there. Throws kShapeMismatch
  /// for another number of features, and kBadData for a number that is not finite; the state is
  /// then unchanged.
  void step(double score, std::span<const double> features);

  /// The evidence against a steady stream: log e, where e >= 1 / rate is an alarm. After an alarm
  /// it stays as it was at the alarm.
  double log_e() const;
  /// The first alarm since the start or the last restart.
  const std::optional<DriftAlarm>& alarm() const { return alarm_; }
  std::uint64_t rows() const { return rows_; }
  const DriftOptions& options() const { return options_; }

  /// Starts anew with the next row and forgets all rows. The rate then holds again, for the rows
  /// from here on: `rate` is the probability of a false alarm for each restart.
  void restart();

  /// After an alarm: ranges of features in which scores changed otherwise than outside of them
  /// (find_drift_causes), from the rows that are kept; more of them as rows come after the alarm.
  /// Empty without an alarm. Throws kInvalidArgument for a level outside (0, 1).
  std::vector<DriftCause> explain(double level = 0.05) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile for a state that step() cannot have reached.
  static DriftWatch load(const TensorReader& in);

 private:
  void keep(double score, std::span<const double> features);
  std::size_t kept() const;
  void load_kept(const TensorReader& in);

  DriftOptions options_;
  std::uint64_t rows_ = 0;
  std::uint64_t start_ = 0;  // the row of the last restart
  RankReference reference_;
  RankBets bets_;
  std::optional<DriftAlarm> alarm_;
  // The last rows: a ring of at most most_rows, each with its score and then its features.
  std::vector<double> ring_;
  std::uint64_t written_ = 0;  // rows since the start that went into the ring
};

}  // namespace tare

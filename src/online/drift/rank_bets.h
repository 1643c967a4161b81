// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "online/drift/rank_reference.h"

namespace tare {

/// The law of scores for which a bet is best. Bets are fair for any law, as only ranks count.
enum class BetLaw : std::uint8_t {
  kNormal,
  kHeavy,  // Student's t with 2 degrees of freedom: tails tell less about the spread
};

/// A bet on how places in a RankReference are distributed after a change: as those of scores with
/// a law that is shifted and scaled, among scores that are not.
struct RankBet {
  BetLaw law = BetLaw::kNormal;
  double shift = 0.0;  // in standard deviations; 0 for kHeavy
  double scale = 1.0;
  double weight = 0.0;  // the weights of all bets sum to 1
};
std::span<const RankBet> rank_bets();

/// The logarithm of the density of places for which a bet stands; 0 without a change.
double log_bet_density(const RankBet& bet, const RankPlace& place);

/// The change that explains the ranks best.
struct RankChange {
  std::uint64_t row = 0;  // its first row
  RankBet bet;
};

/// The wealth of a gambler who starts with 1 and bets against uniform, independent ranks.
///
/// A bet b that starts at row k has weight w_k * weight_b and multiplies what it was given, from
/// row k on, by the density of b at each place. The wealth is the sum over all bets and all start
/// rows, and what is left for later rows:
///   e_n = sum_{k < n} w_k sum_b weight_b prod_{k <= i < n} f_b(place_i)  +  sum_{k >= n} w_k.
/// Bets of the same kind multiply alike, so the sum over start rows is one number for each kind
/// and a row costs one density for each kind. e_n is a martingale with mean 1 if the places are
/// independent and uniform, so that P(some e_n >= 1 / a) <= a (Ville).
class RankBets {
 public:
  RankBets();

  void step(const RankPlace& place);

  double wealth() const { return wealth_; }
  std::uint64_t rows() const { return rows_; }
  /// The bet and the start row with the largest likelihood times weight of the bet. Row 0 before
  /// the first step.
  RankChange likely_change() const;

  void save(const TensorWriter& out) const;
  static RankBets load(const TensorReader& in);

 private:
  std::uint64_t rows_ = 0;
  double wealth_ = 1.0;
  // For each bet: the wealth in it, and the largest log-likelihood ratio over start rows.
  std::vector<double> stake_;
  std::vector<double> evidence_;
  std::vector<std::int64_t> since_;  // the start row of `evidence_`
};

/// The share that is not yet bet before a row: the sum of w_k over k >= row. (1 + row / 1000)^-1/2,
/// so that w falls slowly at first and like k^-3/2 in the end: a change is charged log(1 / w), 7.6
/// to 10 nats in the first 4,000 rows and 18 at row 1,000,000.
double share_not_yet_bet(std::uint64_t row);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/rank_bets.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.h"
#include "math/normal.h"

namespace tare {
namespace {

constexpr double kSteadyRows = 1000.0;

constexpr BetLaw kNormalBet = BetLaw::kNormal;
constexpr BetLaw kHeavyBet = BetLaw::kHeavy;

// Chosen by bench/drift_alarms: shifts and scales about a factor of 1.5 to 2 apart, and both
// together. More bets make each one smaller, fewer fit a change less.
constexpr std::array kRankBets = {
    RankBet{kNormalBet, -0.3, 1.0, 0.05}, RankBet{kNormalBet, 0.3, 1.0, 0.05},
    RankBet{kNormalBet, -0.7, 1.0, 0.06}, RankBet{kNormalBet, 0.7, 1.0, 0.06},
    RankBet{kNormalBet, -1.5, 1.0, 0.05}, RankBet{kNormalBet, 1.5, 1.0, 0.05},
    RankBet{kNormalBet, 0.0, 0.4, 0.05},  RankBet{kNormalBet, 0.0, 0.65, 0.06},
    RankBet{kNormalBet, 0.0, 0.85, 0.03}, RankBet{kNormalBet, 0.0, 1.2, 0.04},
    RankBet{kNormalBet, 0.0, 1.5, 0.08},  RankBet{kNormalBet, 0.0, 2.2, 0.04},
    RankBet{kNormalBet, -0.7, 1.5, 0.04}, RankBet{kNormalBet, 0.7, 1.5, 0.04},
    RankBet{kNormalBet, -2.0, 0.5, 0.03}, RankBet{kNormalBet, 2.0, 0.5, 0.03},
    RankBet{kNormalBet, -0.7, 0.6, 0.03}, RankBet{kNormalBet, 0.7, 0.6, 0.03},
    RankBet{kNormalBet, -2.0, 1.8, 0.02}, RankBet{kNormalBet, 2.0, 1.8, 0.02},
    RankBet{kHeavyBet, 0.0, 0.65, 0.04},  RankBet{kHeavyBet, 0.0, 1.5, 0.06},
    RankBet{kHeavyBet, 0.0, 2.5, 0.04},
};

/// Keeps the digits of both tails.
double normal_score(const RankPlace& place) {
  return place.below <= place.above ? normal_quantile(place.below) : -normal_quantile(place.above);
}

/// What the densities of all bets need of a place.
struct PlaceTerms {
  explicit PlaceTerms(const RankPlace& place)
      : z(normal_score(place)), centrality(4.0 * place.below * place.above) {}

  double z;
  double centrality;  // 1 in the middle, 0 at both ends
};

/// The logarithm of a bet's density in a form that is fast to compute. For normal scores it is
/// a polynomial of z, the logarithm of the ratio of two normal densities. The quantile x of
/// Student's t with 2 degrees of freedom at a place has 2 + x^2 = 2 / centrality, and the ratio of
/// its densities, (2 + x^2)^(3/2) / (2 + x^2 / scale^2)^(3/2) / scale, depends on that alone.
class LogDensity {
 public:
  explicit LogDensity(const RankBet& bet) : law_(bet.law), constant_(-std::log(bet.scale)) {
    const double precision = 1.0 / (bet.scale * bet.scale);
    if (law_ == BetLaw::kHeavy) {
      linear_ = precision;
      return;
    }
    constant_ -= 0.5 * bet.shift * bet.shift * precision;
    linear_ = bet.shift * precision;
    square_ = 0.5 - 0.5 * precision;
  }

  double at(const PlaceTerms& place) const {
    if (law_ == BetLaw::kHeavy) {
      return constant_ - 1.5 * std::log(place.centrality + (1.0 - place.centrality) * linear_);
    }
    return constant_ + place.z * (linear_ + place.z * square_);
  }

 private:
  BetLaw law_;
  double constant_ = 0.0, linear_ = 0.0, square_ = 0.0;
};

const std::vector<LogDensity>& log_densities() {
  static const std::vector<LogDensity> all(kRankBets.begin(), kRankBets.end());
  return all;
}

}  // namespace

std::span<const RankBet> rank_bets() { return kRankBets; }

double log_bet_density(const RankBet& bet, const RankPlace& place) {
  return LogDensity(bet).at(PlaceTerms(place));
}

double share_not_yet_bet(std::uint64_t row) {
  return std::sqrt(kSteadyRows / (kSteadyRows + static_cast<double>(row)));
}

RankBets::RankBets()
    : stake_(kRankBets.size(), 0.0),
      evidence_(kRankBets.size(), 0.0),
      since_(kRankBets.size(), 0) {}

void RankBets::step(const RankPlace& place) {
  const PlaceTerms terms(place);
  const double left = share_not_yet_bet(rows_ + 1);
  const double starts = share_not_yet_bet(rows_) - left;
  const auto& densities = log_densities();
  wealth_ = left;
  for (std::size_t b = 0; b < kRankBets.size(); ++b) {
    const double gain = densities[b].at(terms);
    stake_[b] = (stake_[b] + starts * kRankBets[b].weight) * std::exp(gain);
    wealth_ += stake_[b];
    if (evidence_[b] <= 0.0) {
      evidence_[b] = 0.0;
      since_[b] = static_cast<std::int64_t>(rows_);
    }
    evidence_[b] += gain;
  }
  ++rows_;
}

RankChange RankBets::likely_change() const {
  std::size_t best = 0;
  const auto value = [&](std::size_t b) { return evidence_[b] + std::log(kRankBets[b].weight); };
  for (std::size_t b = 1; b < kRankBets.size(); ++b) {
    if (value(b) > value(best)) best = b;
  }
  return {static_cast<std::uint64_t>(since_[best]), kRankBets[best]};
}

void RankBets::save(const TensorWriter& out) const {
  out.value("rows", rows_);
  out.tensor("wealth", std::vector{wealth_});
  out.tensor("stake", stake_);
  out.tensor("evidence", evidence_);
  out.tensor("since", since_);
}

RankBets RankBets::load(const TensorReader& in) {
  RankBets bets;
  const Shape one_each = {kRankBets.size()};
  bets.rows_ = in.count("rows", std::size_t{1} << 53);
  bets.wealth_ = in.values<double>("wealth", {1}, Must::kBePositive)[0];
  bets.stake_ = in.values<double>("stake", one_each, Must::kNotBeNegative);
  bets.evidence_ = in.values<double>("evidence", one_each, Must::kBeFinite);
  bets.since_ = in.values<std::int64_t>("since", one_each, Must::kNotBeNegative);
  const auto rows = static_cast<std::int64_t>(bets.rows_);
  if (std::ranges::any_of(bets.since_, [&](std::int64_t row) { return row > 0 && row >= rows; })) {
    fail(ErrorCode::kCorruptFile, "the state of the drift alarm has a bet that starts after row {}",
         bets.rows_);
  }
  return bets;
}

}  // namespace tare

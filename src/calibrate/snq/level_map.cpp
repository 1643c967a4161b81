// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/level_map.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "calibrate/snq/window/rank_rule.h"
#include "math/normal.h"

namespace tare {
namespace {

constexpr std::size_t kMapRows = 2'000;
// Each row left out looks at all others: of more than 10,000 rows fewer are, but never less than
// these.
constexpr std::size_t kMapPairs = 20'000'000;
constexpr std::size_t kLeastMapRows = 200;
constexpr double kFarthestScore = 4.0;  // normal scores that are told apart,
constexpr int kScoreSteps = 80;         // in this many steps from -kFarthestScore
constexpr double kLeastStretch = 0.5;
constexpr double kMostStretch = 2.0;
constexpr double kLeastSlope = 0.2;

double score_of_step(std::size_t step) {
  return kFarthestScore * (2.0 * static_cast<double>(step) / kScoreSteps - 1.0);
}

std::vector<Level> scored_levels() {
  std::vector<Level> levels;
  for (std::size_t step = 0; step <= kScoreSteps; ++step) {
    levels.emplace_back(normal_cdf(score_of_step(step)));
  }
  return levels;
}

/// The normal score at which a curve of quantiles passes from below u to above: of the first
/// quantile that is not below it.
double score_from_below(std::span<const double> quantiles, double u) {
  const auto at = std::ranges::lower_bound(quantiles, u);
  if (at == quantiles.begin()) return -kFarthestScore;
  if (at == quantiles.end()) return kFarthestScore;
  const double before = *(at - 1);
  const auto step = static_cast<std::size_t>(at - quantiles.begin()) - 1;
  const double share = std::clamp((u - before) / (*at - before), 0.0, 1.0);
  return score_of_step(step) + share * 2.0 * kFarthestScore / kScoreSteps;
}

/// The levels of which u is the quantile: more than one where the curve has a jump of the
/// distribution there.
struct LevelRange {
  double low = 0.0;
  double high = 0.0;

  LevelRange() = default;
  /// Turns the quantiles round.
  LevelRange(std::vector<double>& quantiles, double u) {
    const double first = score_from_below(quantiles, u);
    for (double& q : quantiles) q = -q;
    std::ranges::reverse(quantiles);
    const double last = -score_from_below(quantiles, -u);
    low = normal_cdf(std::min(first, last));
    high = normal_cdf(std::max(first, last));
  }
};

struct WeightedScore {
  double score = 0.0;
  double weight = 1.0;
};

/// The range of each row as a few normal scores, in ascending order. Weights are in units of the
/// largest, so that equal ones are as none to the bit; if all are 0 they count alike.
std::vector<WeightedScore> scores_of(std::span<const LevelRange> ranges,
                                     std::span<const double> weight) {
  constexpr int kPieces = 20;
  std::vector<WeightedScore> scores;
  const double unit = weight.empty() ? 1.0 : std::ranges::max(weight);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (int k = 0; k < kPieces; ++k) {
      const double level = ranges[i].low + (k + 0.5) / kPieces * (ranges[i].high - ranges[i].low);
      scores.push_back(
          {normal_quantile(level), weight.empty() || unit == 0.0 ? 1.0 : weight[i] / unit});
    }
  }
  std::ranges::sort(scores, {}, &WeightedScore::score);
  return scores;
}

/// What a map's three numbers are multiplied with at normal score z. A straight line from
/// kStraightFrom on, so that far levels are not moved by a power.
Eigen::Vector3d map_terms(double z) {
  constexpr double kStraightFrom = LevelMap::kStraightFrom;
  const double c = std::clamp(z, -kStraightFrom, kStraightFrom);
  return {1.0, z, c * c * c - 3.0 * c + (z - c) * (3.0 * c * c - 3.0)};
}

/// Ascending scores, each at the middle of its weight, as shares of all weights.
class ScoreCurve {
 public:
  explicit ScoreCurve(std::span<const WeightedScore> scores) {
    double below = 0.0;
    for (const WeightedScore& one : scores) {
      score_.push_back(one.score);
      share_.push_back(below + 0.5 * one.weight);
      below += one.weight;
    }
    for (double& share : share_) share /= below;
  }

  /// The score at level tau, interpolated.
  double at(double tau) const {
    const auto past =
        static_cast<std::size_t>(std::ranges::lower_bound(share_, tau) - share_.begin());
    if (past == 0) return score_.front();
    if (past == share_.size()) return score_.back();
    const double step = (tau - share_[past - 1]) / (share_[past] - share_[past - 1]);
    return score_[past - 1] + step * (score_[past] - score_[past - 1]);
  }

 private:
  std::vector<double> score_, share_;
};

/// Least squares between the map and the quantiles of the scores, at 2 %, 3 %, ..., 98 %.
LevelMap closest_map(const ScoreCurve& curve) {
  Eigen::Matrix3d squares = Eigen::Matrix3d::Zero();
  Eigen::Vector3d products = Eigen::Vector3d::Zero();
  for (int k = 2; k <= 98; ++k) {
    const Eigen::Vector3d terms = map_terms(normal_quantile(k / 100.0));
    squares += terms * terms.transpose();
    products += curve.at(k / 100.0) * terms;
  }
  const Eigen::Vector3d numbers = squares.ldlt().solve(products);
  LevelMap map{numbers[0], std::clamp(numbers[1], kLeastStretch, kMostStretch), numbers[2]};
  // The slope of the bend's term goes from -3 at 0 to its end's.
  const double room = map.stretch - kLeastSlope;
  map.bend = std::clamp(map.bend, -room / LevelMap::kSteepest, room / 3.0);
  return map;
}

}  // namespace

bool LevelMap::is_valid() const noexcept {
  return std::isfinite(shift) && std::isfinite(stretch) && stretch - 3.0 * bend > 0.0 &&
         stretch + kSteepest * bend > 0.0;
}

std::vector<Level> mapped_levels(std::span<const Level> levels, const LevelMap& map) {
  std::vector<Level> mapped;
  mapped.reserve(levels.size());
  const Eigen::Vector3d numbers{map.shift, map.stretch, map.bend};
  for (const Level& level : levels) {
    const double tau = normal_cdf(numbers.dot(map_terms(normal_quantile(level.value()))));
    mapped.emplace_back(std::clamp(tau, std::numeric_limits<double>::min(),
                                   1.0 - std::numeric_limits<double>::epsilon() / 2));
  }
  return mapped;
}

LevelMap leave_one_out_map(const LocalSample& sample, const SnqOptions& options, Seed seed,
                           const Execution& how) {
  // A window of all rows is the same for every row: nothing is to be corrected.
  if (sample.rows() < 2 || std::isinf(options.bandwidth)) return {};
  Rng rng(seed);
  std::vector<std::size_t> places = random_permutation(sample.rows(), rng);
  const std::size_t affordable = std::clamp(kMapPairs / sample.rows(), kLeastMapRows, kMapRows);
  places.resize(std::min(places.size(), affordable));
  const std::vector<Level> levels = scored_levels();
  std::vector<LevelRange> ranges(places.size());
  std::vector<double> weight(sample.weights().empty() ? 0 : places.size());
  parallel_for(how, places.size(), [&](std::size_t p) {
    thread_local LocalSample::Scratch scratch;
    thread_local RankRule rule;
    thread_local std::vector<double> quantiles;
    rule.start(options.ranks, levels);
    quantiles.resize(levels.size());
    sample.measure(sample.features().row(places[p]), scratch);
    sample.leave_out(places[p], scratch);
    sample.weigh(options, scratch);
    sample.quantiles(rule, scratch, quantiles);
    ranges[p] = LevelRange(quantiles, sample.residuals()[places[p]]);
    if (!weight.empty()) weight[p] = sample.weights()[places[p]];
  });
  const std::vector<WeightedScore> scores = scores_of(ranges, weight);
  return closest_map(ScoreCurve(scores));
}

}  // namespace tare

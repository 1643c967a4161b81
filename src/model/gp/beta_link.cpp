// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/beta_link.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

#include "base/fail.h"
#include "io/tensor_store.h"
#include "math/bracketed_newton.h"
#include "math/normal.h"
#include "model/gp/sparse_gp.h"

namespace tare {
namespace {

constexpr double kFarthestLinkScore =
    38.0;  // Phi of its negative is the smallest number but for few
constexpr double kLargestParameter = 20.0;
constexpr double kLargestStored = 1e6;
constexpr std::size_t kLinkDraws = 16;

struct GridScore {
  double score = 0.0;
  LogLevels levels;
};

/// Close to each other in the middle, and to the farthest score beyond.
const std::vector<GridScore>& grid_scores() {
  static const std::vector<GridScore> kGrid = [] {
    std::vector<GridScore> grid;
    const auto add = [&](double score) { grid.push_back({score, LogLevels::of(score)}); };
    for (double score = -kFarthestLinkScore; score < -6.0; score += 4.0) add(score);
    for (int k = -24; k <= 24; ++k) add(0.25 * k);
    for (double score = 10.0; score <= kFarthestLinkScore; score += 4.0) add(score);
    return grid;
  }();
  return kGrid;
}

/// Standard normal points that fill the cube evenly: a lattice of irrational steps.
std::array<BetaParameters, kLinkDraws> standard_draws() {
  std::array<BetaParameters, kLinkDraws> draws{};
  constexpr double kRoot = 1.2207440846057596;  // of x^4 = x + 1
  for (std::size_t k = 0; k < kLinkDraws; ++k) {
    double step = 1.0;
    for (double& value : draws[k]) {
      step /= kRoot;
      const double place = 0.5 + static_cast<double>(k) * step;
      value = normal_quantile(std::clamp(place - std::floor(place), 1e-3, 1.0 - 1e-3));
    }
  }
  // Mean 0 and variance 1 exactly, so that the draws have the moments of the posterior.
  for (std::size_t j = 0; j < BetaLink::kOutputs; ++j) {
    double mean = 0.0, square = 0.0;
    for (const auto& draw : draws) mean += draw[j] / kLinkDraws;
    for (const auto& draw : draws) square += (draw[j] - mean) * (draw[j] - mean) / kLinkDraws;
    for (auto& draw : draws) draw[j] = (draw[j] - mean) / std::sqrt(square);
  }
  return draws;
}

}  // namespace

LogLevels LogLevels::of(double score) {
  const double tail = std::max(normal_cdf(-std::abs(score)), std::numeric_limits<double>::min());
  const double density = normal_pdf(score);
  const double far = std::log(tail), near = std::log1p(-tail);
  const double steep = density / tail, flat = density / (1.0 - tail);
  return score < 0.0 ? LogLevels{far, near, steep, flat} : LogLevels{near, far, flat, steep};
}

MeanBetaMap::MeanBetaMap(std::span<const BetaParameters> maps) {
  const auto limited = [](double w) {
    return std::clamp(w, -kLargestParameter, kLargestParameter);
  };
  for (const BetaParameters& w : maps) {
    a_.push_back(std::exp(limited(w[0])));
    b_.push_back(std::exp(limited(w[1])));
    c_.push_back(limited(w[2]));
  }
  for (const GridScore& at : grid_scores()) {
    const Mapped mapped = level_and_slope(at.levels);
    below_.push_back(mapped.below);
    above_.push_back(mapped.above);
  }
}

MeanBetaMap::Mapped MeanBetaMap::level_and_slope(const LogLevels& level) const {
  Mapped sum;
  for (std::size_t k = 0; k < a_.size(); ++k) {
    const double odds = a_[k] * level.below - b_[k] * level.above + c_[k];
    const double small = std::exp(-std::abs(odds));
    const double lesser = small / (1.0 + small), larger = 1.0 / (1.0 + small);
    sum.below += odds < 0.0 ? lesser : larger;
    sum.above += odds < 0.0 ? larger : lesser;
    sum.slope += lesser * larger * (a_[k] * level.below_slope + b_[k] * level.above_slope);
  }
  const double share = 1.0 / static_cast<double>(a_.size());
  return {sum.below * share, sum.above * share, sum.slope * share};
}

double MeanBetaMap::score_at(Level level) const {
  const double tau = level.value();
  const bool upper = tau > 0.5;  // then 1 minus the level is followed, which keeps its digits
  const auto& grid = grid_scores();
  const auto next = static_cast<std::size_t>(
      upper ? std::ranges::lower_bound(above_, 1.0 - tau, std::greater<>()) - above_.begin()
            : std::ranges::lower_bound(below_, tau) - below_.begin());
  if (next == 0) return grid.front().score;
  if (next == grid.size()) return grid.back().score;
  double slope = 0.0;
  const auto value = [&](double score) {
    const Mapped mapped = level_and_slope(LogLevels::of(score));
    slope = mapped.slope;
    return upper ? (1.0 - tau) - mapped.above : mapped.below - tau;
  };
  const double low = grid[next - 1].score, high = grid[next].score;
  // bracketed_newton asks for the slope where it has just asked for the value.
  return bracketed_newton(
      value, [&](double) { return slope; }, low, high, low + 0.5 * (high - low));
}

BetaLink::BetaLink(std::size_t inputs)
    : points_(inputs, 0.0), length_(inputs, 1.0), mean_(kOutputs, 0.0), factor_(kOutputs, 1e-6) {
  variance_ = 1e-12;  // the parameters are all but 0
  factorise();
}

void BetaLink::factorise() {
  const std::size_t count = mean_.size() / kOutputs;
  root_.assign(count * count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double squared = 0.0;
      for (std::size_t k = 0; k < inputs(); ++k) {
        const double gap = (points_[i * inputs() + k] - points_[j * inputs() + k]) / length_[k];
        squared += gap * gap;
      }
      double left = std::exp(-0.5 * squared) + (i == j ? SparseGpLayer::kJitter : 0.0);
      for (std::size_t k = 0; k < j; ++k) left -= root_[i * count + k] * root_[j * count + k];
      root_[i * count + j] = i == j ? std::sqrt(left) : left / root_[j * count + j];
    }
  }
}

BetaLink::Posterior BetaLink::posterior(std::span<const double> law) const {
  assert(law.size() == inputs());
  const std::size_t count = mean_.size() / kOutputs;
  std::vector<double> a(count);  // L^-1 k(Z, law)
  double length = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    double squared = 0.0;
    for (std::size_t k = 0; k < inputs(); ++k) {
      const double gap = (points_[i * inputs() + k] - law[k]) / length_[k];
      squared += gap * gap;
    }
    double left = std::exp(-0.5 * squared);
    for (std::size_t k = 0; k < i; ++k) left -= root_[i * count + k] * a[k];
    a[i] = left / root_[i * count + i];
    length += a[i] * a[i];
  }
  Posterior result;
  for (std::size_t j = 0; j < kOutputs; ++j) {
    double mean = 0.0, spread = std::max(1.0 - length, SparseGpLayer::kVarianceFloor);
    for (std::size_t i = 0; i < count; ++i) mean += a[i] * mean_[i * kOutputs + j];
    const std::span<const double> s = std::span(factor_).subspan(j * count * count, count * count);
    for (std::size_t column = 0; column < count; ++column) {
      double part = 0.0;
      for (std::size_t i = column; i < count; ++i) part += s[i * count + column] * a[i];
      spread += part * part;
    }
    result.mean[j] = mean * std::sqrt(variance_);
    result.sd[j] = std::sqrt(spread * variance_);
  }
  return result;
}

std::vector<BetaParameters> BetaLink::draws(const Posterior& posterior) {
  static const std::array<BetaParameters, kLinkDraws> kStandard = standard_draws();
  std::vector<BetaParameters> result;
  for (const BetaParameters& standard : kStandard) {
    BetaParameters w{};
    for (std::size_t j = 0; j < kOutputs; ++j) {
      w[j] = posterior.mean[j] + posterior.sd[j] * standard[j];
    }
    result.push_back(w);
  }
  return result;
}

void BetaLink::save(const TensorWriter& out) const {
  const std::size_t count = mean_.size() / kOutputs;
  out.tensor<double>("points", points_, {count, inputs()});
  out.tensor("length", length_);
  out.value("variance", variance_);
  out.tensor<double>("mean", mean_, {count, kOutputs});
  out.tensor<double>("factor", factor_, {kOutputs, count, count});
}

BetaLink BetaLink::load(const TensorReader& in) {
  BetaLink link;
  const Shape shape = in.shape("points");
  if (shape.size() != 2 || shape[0] == 0 || shape[0] > kMaxPoints || shape[1] > kMaxInputs) {
    fail(ErrorCode::kCorruptFile, "the model file's link has no inducing points, or too many");
  }
  link.points_ = in.values<double>("points", shape, Must::kBeFinite);
  link.length_ = in.values<double>("length", {shape[1]}, Must::kBePositive);
  link.variance_ = in.get<double>("variance");
  link.mean_ = in.values<double>("mean", {shape[0], kOutputs}, Must::kBeFinite);
  link.factor_ = in.values<double>("factor", {kOutputs, shape[0], shape[0]}, Must::kBeFinite);
  const auto far = [](double value) { return std::abs(value) > kLargestStored; };
  if (!(link.variance_ > 0.0 && link.variance_ <= kLargestStored) ||
      std::ranges::any_of(link.mean_, far) || std::ranges::any_of(link.factor_, far) ||
      std::ranges::any_of(link.length_, [](double length) { return length < 1e-6; }) ||
      std::ranges::any_of(link.points_, far)) {
    fail(ErrorCode::kCorruptFile, "a number of the model file's link is too large or too small");
  }
  link.factorise();
  return link;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bands/banded_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "calibrate/guarantee_split.h"
#include "calibrate/row_blocks.h"
#include "tare/calibrate/reliability.h"

namespace tare {
namespace {

constexpr double kNormalBand = 1.6448536269514722;  // 90 % of a normal law
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kBandBlock = 1'024;  // rows whose quantiles are in memory at once

// At which an answer is compared with draws from the row's own law.
constexpr std::array kSizeLevels = {0.1, 0.25, 0.5, 0.75, 0.9};

/// The levels 0.01, ..., 0.99 of the curve on which deviations are read as levels.
const std::vector<Level>& curve_levels() {
  static const std::vector<Level> kLevels = [] {
    std::vector<Level> levels;
    for (int k = 1; k < 100; ++k) levels.emplace_back(k / 100.0);
    return levels;
  }();
  return kLevels;
}

/// How far from level tau a value lies on an ascending curve of quantiles at curve_levels(). Where
/// the curve is flat the value has all levels of the flat piece, and the nearest counts.
double level_deviation(std::span<const double> curve, double value, double tau) {
  const auto at = [](std::ptrdiff_t k) { return static_cast<double>(k + 1) / 100.0; };
  const std::ptrdiff_t first = std::ranges::lower_bound(curve, value) - curve.begin();
  const std::ptrdiff_t past = std::ranges::upper_bound(curve, value) - curve.begin();
  if (first < past) return tau - std::clamp(tau, at(first), at(past - 1));
  if (first == 0) return tau - 0.5 * at(0);
  const auto count = static_cast<std::ptrdiff_t>(curve.size());
  if (first == count) return tau - 0.5 * (1.0 + at(count - 1));
  const double low = curve[static_cast<std::size_t>(first - 1)];
  const double high = curve[static_cast<std::size_t>(first)];
  // Halves before the difference, which could overflow.
  const double share = (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low);
  return tau - (at(first - 1) + share * (at(first) - at(first - 1)));
}

double square(double value) { return value * value; }

/// A level that a model can be asked for.
Level kept_level(double tau) {
  constexpr double kLeast = 0.0001;
  return Level(std::clamp(tau, kLeast, 1.0 - kLeast));
}

/// The level, between 0 and 1, at which ascending shares at curve_levels() reach tau.
double level_with_share(std::span<const double> shares, double tau) {
  const auto past =
      static_cast<std::size_t>(std::ranges::lower_bound(shares, tau) - shares.begin());
  const double low = past == 0 ? 0.0 : shares[past - 1];
  const double high = past == shares.size() ? 1.0 : shares[past];
  const double step = high > low ? (tau - low) / (high - low) : 1.0;
  return (static_cast<double>(past) + step) / static_cast<double>(shares.size() + 1);
}

/// The rows of `count` that are not among `rows`, which ascend.
std::vector<std::size_t> rows_outside(std::span<const std::size_t> rows, std::size_t count) {
  std::vector<std::size_t> outside;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::ranges::binary_search(rows, i)) outside.push_back(i);
  }
  return outside;
}

std::string half_name(std::size_t b) { return "half" + std::to_string(b); }

}  // namespace

/// The levels at which models are asked for the bands of some levels.
struct BandedModel::Asked {
  std::vector<Level> of_half;   // those of the bands, then kSizeLevels
  std::vector<Level> of_whole;  // the same, then curve_levels()
  std::vector<Level> below;  // for each level two, half of whose quantiles' distance is an error:
  std::vector<Level> above;  // that of a guarantee's ranks, or twice the bias over all rows
  double ratio = 0.0;        // its square in levels to tau (1 - tau), mean over kSizeLevels
  std::size_t levels = 0;

  Asked(std::span<const Level> wanted, const BandedModel& model) : levels(wanted.size()) {
    of_half.assign(wanted.begin(), wanted.end());
    for (const double tau : kSizeLevels) of_half.emplace_back(tau);
    of_whole = of_half;
    of_whole.insert(of_whole.end(), curve_levels().begin(), curve_levels().end());
    for (const Level& level : wanted) {
      const auto [low, high] = shared_error(level.value(), model);
      below.push_back(kept_level(low));
      above.push_back(kept_level(high));
    }
    for (const double tau : kSizeLevels) {
      const auto [low, high] = shared_error(tau, model);
      ratio += square(0.5 * (high - low)) / (tau * (1.0 - tau));
    }
    ratio /= static_cast<double>(kSizeLevels.size());
  }

 private:
  /// Two levels whose distance is twice the error that all rows share at level tau.
  static std::pair<double, double> shared_error(double tau, const BandedModel& model) {
    if (model.counts_.ranked > 0) {
      const auto ranked = static_cast<double>(model.counts_.ranked);
      const double step = std::sqrt(tau * (1.0 - tau) / (ranked + 2.0));
      return {tau - step, tau + step};
    }
    const double bias = level_with_share(model.below_, tau) - tau;
    return {tau - bias, tau + bias};
  }
};

BandedModel::BandedModel(std::unique_ptr<const QuantileModel> whole, Models halves, Shares below,
                         const Counts& counts)
    : whole_(std::move(whole)),
      halves_(std::move(halves)),
      below_(std::move(below)),
      counts_(counts) {}

void BandedModel::add_reliability(const Rows& rows, std::span<const Level> levels,
                                  const Execution& how, Prediction& answer) const {
  const std::size_t all = rows.x.rows();
  const Asked asked(levels, *this);
  answer.band_low = Matrix(all, levels.size());
  answer.band_high = Matrix(all, levels.size());
  answer.effective_n.assign(all, 0.0);
  const Execution quiet = quietly(how);
  for (std::size_t first = 0; first < all; first += kBandBlock) {
    add_block(asked, middle_of(rows, first, std::min(kBandBlock, all - first)), first, quiet,
              answer);
  }
}

void BandedModel::add_block(const Asked& asked, const Rows& rows, std::size_t first,
                            const Execution& how, Prediction& answer) const {
  const std::size_t count = rows.x.rows();
  const std::size_t levels = asked.levels;
  const Matrix whole = whole_->own_quantiles(rows, asked.of_whole, how);
  Matrix norm(count, levels);        // of the halves' deviations in units of y
  std::vector<double> ratio(count);  // of squared deviations in levels to tau (1 - tau)
  for (const auto& half : halves_) {
    const Matrix own = half->predict({rows.x, rows.given}, asked.of_half, how).quantiles;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < levels; ++j)
        norm(i, j) = std::hypot(norm(i, j), own(i, j) - whole(i, j));
      const std::span<const double> curve = whole.row(i).subspan(asked.of_half.size());
      for (std::size_t k = 0; k < kSizeLevels.size(); ++k) {
        const double tau = kSizeLevels[k];
        ratio[i] += square(level_deviation(curve, own(i, levels + k), tau)) / (tau * (1.0 - tau));
      }
    }
  }
  const auto ask_whole = [&](std::span<const Level> wanted) {
    return wanted.empty() ? Matrix() : whole_->predict(rows, wanted, how).quantiles;
  };
  const Matrix below = ask_whole(asked.below);
  const Matrix above = ask_whole(asked.above);

  const double halves = static_cast<double>(halves_.size());
  const double scale = square(deviation_scale(counts_.half, counts_.rows)) / halves;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < levels; ++j) {
      const double shared = 0.5 * (above(i, j) - below(i, j));
      const double error = std::hypot(std::sqrt(scale) * norm(i, j), shared);
      const double quantile = answer.quantiles(first + i, j);
      const bool is_known = std::isfinite(error) && std::isfinite(quantile);
      answer.band_low(first + i, j) = is_known ? quantile - kNormalBand * error : -kInfinite;
      answer.band_high(first + i, j) = is_known ? quantile + kNormalBand * error : kInfinite;
    }
    const double own = scale * ratio[i] / static_cast<double>(kSizeLevels.size());
    answer.effective_n[first + i] =
        std::clamp(1.0 / (own + asked.ratio), 1.0, static_cast<double>(counts_.rows));
  }
}

void BandedModel::save(const TensorWriter& out) const {
  whole_->save(out);
  const TensorWriter bands = out.part("bands");
  bands.value("halves", halves_.size());
  bands.value("rows", counts_.rows);
  bands.value("half", counts_.half);
  bands.value("ranked", counts_.ranked);
  bands.tensor("below", below_);
  for (std::size_t b = 0; b < halves_.size(); ++b) halves_[b]->save(bands.part(half_name(b)));
}

std::unique_ptr<BandedModel> BandedModel::load(const TensorReader& in, const LoadMethod& load_whole,
                                               const LoadMethod& load_half) {
  constexpr std::size_t kMostHalves = 1'000;
  constexpr std::size_t kMany = 0xFFFFFFFF;
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kCorruptFile, "the model file's bands are damaged");
  };
  std::unique_ptr<const QuantileModel> whole = load_whole(in);
  const TensorReader bands = in.part("bands");
  Counts counts{bands.count("rows", kMany), bands.count("half", kMany),
                bands.count("ranked", kMany)};
  require(counts.half > 0 && counts.half < counts.rows);
  const std::size_t count = bands.count("halves", kMostHalves);
  require(count >= 2);
  Models halves;
  for (std::size_t b = 0; b < count; ++b) {
    halves.push_back(load_half(bands.part(half_name(b))));
    require(halves.back()->features() == whole->features() &&
            halves.back()->given() == whole->given());
  }
  Shares below = bands.values<double>("below", {curve_levels().size()});
  require(std::ranges::is_sorted(below) && below.front() >= 0.0 && below.back() <= 1.0);
  return std::make_unique<BandedModel>(std::move(whole), std::move(halves), std::move(below),
                                       counts);
}

namespace {

/// For each level of the curve the weight of some left-out rows below the half's quantile; at the
/// end the weight of all of them.
std::vector<double> weigh_left_out(const QuantileModel& half, const FitInput& input,
                                   std::span<const std::size_t> rows, Seed seed,
                                   const Execution& how) {
  constexpr std::size_t kMostAsked = 2'000;
  std::vector<std::size_t> left = rows_outside(rows, input.x.rows());
  if (left.size() > kMostAsked) {
    Rng rng(seed);
    const std::vector<std::size_t> order = random_permutation(left.size(), rng);
    std::vector<std::size_t> some;
    for (std::size_t k = 0; k < kMostAsked; ++k) some.push_back(left[order[k]]);
    left = std::move(some);
  }
  const InputPart part(input, left);
  const FitInput asked = part.input();
  const Matrix quantiles = half.predict({asked.x, asked.given}, curve_levels(), how).quantiles;
  std::vector<double> below(curve_levels().size() + 1);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double weight = asked.weight.empty() ? 1.0 : asked.weight[i];
    const std::span<const double> curve = quantiles.row(i);
    const auto first =
        static_cast<std::size_t>(std::ranges::lower_bound(curve, asked.y[i]) - curve.begin());
    const auto past =
        static_cast<std::size_t>(std::ranges::upper_bound(curve, asked.y[i]) - curve.begin());
    // A target at a mass, which several levels have as their quantile, lies at each of them alike.
    for (std::size_t k = first; k < past; ++k) {
      below[k] +=
          weight * (static_cast<double>(k - first) + 0.5) / static_cast<double>(past - first);
    }
    for (std::size_t k = past; k < curve.size(); ++k) below[k] += weight;
    below.back() += weight;
  }
  return below;
}

BandedModel::Shares mean_shares(std::span<const std::vector<double>> of_halves) {
  BandedModel::Shares shares(curve_levels().size());
  double all = 0.0;
  for (const std::vector<double>& one : of_halves) {
    for (std::size_t k = 0; k < shares.size(); ++k) shares[k] += one[k];
    all += one.back();
  }
  for (double& share : shares) share = std::min(1.0, share / all);
  // Rounding may turn two neighbours that are equal.
  for (std::size_t k = 1; k < shares.size(); ++k) shares[k] = std::max(shares[k], shares[k - 1]);
  return shares;
}

}  // namespace

const BandedModel* bands_of(const QuantileModel& model) {
  for (const QuantileModel* at = &model; at != nullptr; at = at->wrapped()) {
    if (const auto* found = dynamic_cast<const BandedModel*>(at)) return found;
  }
  return nullptr;
}

std::unique_ptr<QuantileModel> add_bands(std::unique_ptr<QuantileModel> whole,
                                         const FitInput& input, std::size_t ranked,
                                         const FitHalf& fit, const Execution& how) {
  constexpr std::uint64_t kSeedPart = 3500;
  const std::size_t rows = input.x.rows();
  if (rows < kRowsForBands) return whole;
  const Seed seed = split(input.seed, kSeedPart);
  const auto parts = draw_halves(rows, kHalves, input.window > 1, seed);
  BandedModel::Models halves(kHalves);
  std::vector<std::vector<double>> below(kHalves);
  SideBySide progress(how, "bands", kHalves);
  try {
    parallel_for(how, kHalves, [&](std::size_t b) {
      const InputPart part(input, parts[b]);
      FitInput half = part.input();
      half.group = {};
      half.shift = {};
      half.seed = split(seed, kHalves + b);
      const Execution one = progress.of(b);
      halves[b] = fit(half, one);
      below[b] = weigh_left_out(*halves[b], input, parts[b], split(half.seed, 1), quietly(one));
      progress.report(b, 1.0);
    });
  } catch (const Error& error) {
    // Half of the rows may be too few for the method, where all of them are enough.
    if (error.code() != ErrorCode::kBadData) throw;
    return whole;
  }
  return std::make_unique<BandedModel>(std::move(whole), std::move(halves), mean_shares(below),
                                       BandedModel::Counts{rows, parts.front().size(), ranked});
}

}  // namespace tare

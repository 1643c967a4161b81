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
#include "calibrate/answers/row_blocks.h"
#include "calibrate/automatic/point_masses.h"
#include "calibrate/bands/left_out.h"
#include "calibrate/bands/level_curve.h"
#include "calibrate/guarantee/guarantee_split.h"
#include "math/normal.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/reliability.h"

namespace tare {
namespace {

constexpr double kNormalBand = 1.6448536269514722;  // 90 % of a normal law
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kBandBlock = 1'024;  // rows whose quantiles are in memory at once

// The levels at which an answer is compared with draws from the row's conditional distribution.
constexpr std::array kSizeLevels = {0.1, 0.25, 0.5, 0.75, 0.9};

double square(double value) { return value * value; }

/// A level that a model can be asked for.
Level kept_level(double tau) {
  constexpr double kLeast = 0.0001;
  return Level(std::clamp(tau, kLeast, 1.0 - kLeast));
}

/// How the answers of halves deviate from those of the whole, for each row and level.
class Deviations {
 public:
  Deviations(std::size_t rows, std::size_t cols) : sum_(rows, cols), norm_(rows, cols) {}

  void add(std::size_t i, std::size_t j, double deviation) {
    sum_(i, j) += deviation;
    norm_(i, j) = std::hypot(norm_(i, j), deviation);  // squares could overflow
  }

  /// The larger of the standard deviation among `count` halves and their mean's distance from the
  /// whole. Not their sum: if fits are random (initial weights of a network), both contain the same
  /// randomness.
  double error(std::size_t i, std::size_t j, std::size_t count) const {
    const auto halves = static_cast<double>(count);
    if (!(norm_(i, j) > 0.0)) return norm_(i, j);
    const double common = square(sum_(i, j) / norm_(i, j)) / halves;  // of the squares, by the mean
    const double among = std::max(0.0, 1.0 - common) / (halves - 1.0);
    return norm_(i, j) * std::sqrt(std::max(among, common / halves));
  }

 private:
  Matrix sum_, norm_;
};

std::string half_name(std::size_t b) { return "half" + std::to_string(b); }

std::vector<double> widely_shared(std::span<const double> y) {
  constexpr std::size_t kShare = 10;
  std::vector<double> values;
  for (const automatic::PointMass& mass : automatic::find_point_masses(y)) {
    if (mass.rows * kShare > y.size()) values.push_back(mass.value);
  }
  return values;
}

/// The mean over folds may differ from what all folds say by a rounding.
bool is_one_of(const std::vector<double>& values, double quantile) {
  constexpr double kRounding = 1e-12;
  return std::ranges::any_of(values, [&](double value) {
    return std::abs(quantile - value) <= kRounding * std::abs(value);
  });
}

/// About `most` of `count` rows, evenly.
std::vector<std::size_t> some_rows(std::size_t count, std::size_t most) {
  const std::size_t step = std::max<std::size_t>(1, count / most);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < count; i += step) rows.push_back(i);
  return rows;
}

/// Whether `model`, a fit on `input`, has quantiles at the values that more than a tenth of the
/// targets share, at least half as often as targets are there; true where no value is shared so.
///
/// The quantiles of a smooth method never equal such values. The true quantile then equals the
/// value at many levels and the answer at none, an error that fits of the same method cannot show.
bool takes_shared_values(const QuantileModel& model, const FitInput& input, const Execution& how) {
  constexpr std::size_t kAsked = 500;
  const std::vector<double> values = widely_shared(input.y);
  if (values.empty()) return true;
  const InputPart part(input, some_rows(input.y.size(), kAsked));
  const FitInput asked = part.input();
  const Matrix quantiles = model.own_quantiles({asked.x, asked.given}, curve_levels(), how);
  const auto share_of = [&](std::span<const double> numbers) {
    const auto found =
        std::ranges::count_if(numbers, [&](double number) { return is_one_of(values, number); });
    return static_cast<double>(found) / static_cast<double>(numbers.size());
  };
  return share_of(quantiles.values()) >= 0.5 * share_of(asked.y);
}

}  // namespace

/// The levels at which models are asked for the bands of some levels.
struct BandedModel::Asked {
  std::vector<Level> of_half;   // those of the bands, then kSizeLevels
  std::vector<Level> of_whole;  // the same, then curve_levels()
  std::vector<Level> below;   // for each level two, half of whose quantiles' distance is an error:
  std::vector<Level> above;   // that of a guarantee's ranks, or twice the bias over all rows
  std::vector<double> low;    // for each level two, whose quantiles' distance is twice the
  std::vector<double> high;   // usual local error
  std::vector<double> usual;  // that error in levels at kSizeLevels
  double ratio = 0.0;  // square of the shared error in levels to tau (1 - tau), mean of kSizeLevels
  std::size_t levels = 0;

  Asked(std::span<const Level> wanted, const BandedModel& model) : levels(wanted.size()) {
    of_half.assign(wanted.begin(), wanted.end());
    for (const double tau : kSizeLevels) of_half.emplace_back(tau);
    of_whole = of_half;
    of_whole.insert(of_whole.end(), curve_levels().begin(), curve_levels().end());
    for (const Level& level : wanted) {
      const auto [under, past] = shared_error(level.value(), model);
      below.push_back(kept_level(under));
      above.push_back(kept_level(past));
      const auto [least, most] = usual_error(level.value(), model);
      low.push_back(least);
      high.push_back(most);
    }
    for (const double tau : kSizeLevels) {
      const auto [least, most] = shared_error(tau, model);
      ratio += square(0.5 * (most - least)) / (tau * (1.0 - tau));
    }
    ratio /= static_cast<double>(kSizeLevels.size());
    for (const double tau : kSizeLevels) {
      const auto [least, most] = usual_error(tau, model);
      usual.push_back(0.5 * (most - least));
    }
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

  /// The same for the error that rows usually have of their own.
  static std::pair<double, double> usual_error(double tau, const BandedModel& model) {
    const double z = normal_quantile(tau);
    const double usual = model.local_.usual(tau);
    return {normal_cdf(z - usual), normal_cdf(z + usual)};
  }
};

BandedModel::BandedModel(std::unique_ptr<const QuantileModel> whole, Models halves, Shares below,
                         LocalError local, const Counts& counts)
    : TransparentModel(std::move(whole)),
      halves_(std::move(halves)),
      below_(std::move(below)),
      local_(std::move(local)),
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
  const Matrix whole = inner().own_quantiles(rows, asked.of_whole, how);
  Deviations in_y(count, levels);
  Deviations in_levels(count, kSizeLevels.size());
  for (const auto& half : halves_) {
    const Matrix own = half->predict({rows.x, rows.given}, asked.of_half, how).quantiles;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < levels; ++j) in_y.add(i, j, own(i, j) - whole(i, j));
      const std::span<const double> curve = whole.row(i).subspan(asked.of_half.size());
      for (std::size_t k = 0; k < kSizeLevels.size(); ++k) {
        in_levels.add(i, k, level_deviation(curve, own(i, levels + k), kSizeLevels[k]));
      }
    }
  }
  const auto ask_whole = [&](std::span<const Level> wanted) {
    return wanted.empty() ? Matrix() : inner().predict(rows, wanted, how).quantiles;
  };
  const Matrix below = ask_whole(asked.below);
  const Matrix above = ask_whole(asked.above);
  const LocalError::Values local = local_.at(columns_for_trees(rows), how);

  const double scale = deviation_scale(counts_.half, counts_.rows);
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const double> curve = whole.row(i).subspan(asked.of_half.size());
    const auto corrected = [&](double tau) {
      return curve_quantile(curve, level_with_share(below_, tau));
    };
    for (std::size_t j = 0; j < levels; ++j) {
      const double shared = 0.5 * (above(i, j) - below(i, j));
      const double usual = 0.5 * (corrected(asked.high[j]) - corrected(asked.low[j]));
      const double both =
          std::hypot(std::max(scale * in_y.error(i, j, halves_.size()), usual), shared);
      const double tau = asked.of_half[j].value();
      const double off = corrected(local.level(i, tau)) - corrected(tau);
      const double down = kNormalBand * std::hypot(both, std::min(off, 0.0));
      const double up = kNormalBand * std::hypot(both, std::max(off, 0.0));
      const double quantile = answer.quantiles(first + i, j);
      const bool is_known = std::isfinite(down) && std::isfinite(up) && std::isfinite(quantile);
      answer.band_low(first + i, j) = is_known ? quantile - down : -kInfinite;
      answer.band_high(first + i, j) = is_known ? quantile + up : kInfinite;
    }
    double own = 0.0;
    for (std::size_t k = 0; k < kSizeLevels.size(); ++k) {
      const double tau = kSizeLevels[k];
      const double error = std::max(scale * in_levels.error(i, k, halves_.size()), asked.usual[k]);
      own += (square(error) + square(local.level(i, tau) - tau)) / (tau * (1.0 - tau));
    }
    own /= static_cast<double>(kSizeLevels.size());
    answer.effective_n[first + i] =
        std::clamp(1.0 / (own + asked.ratio), 1.0, static_cast<double>(counts_.rows));
  }
}

void BandedModel::describe(Description& description) const {
  TransparentModel::describe(description);
  description.bands = {.absence = BandsAbsence::kNone,
                       .fits = halves_.size(),
                       .half = counts_.half,
                       .rows = counts_.rows,
                       .rows_needed = kRowsForBands};
}

void BandedModel::save(const TensorWriter& out) const {
  inner().save(out);
  const TensorWriter bands = out.part("bands");
  bands.value("halves", halves_.size());
  bands.value("rows", counts_.rows);
  bands.value("half", counts_.half);
  bands.value("ranked", counts_.ranked);
  bands.tensor("below", below_);
  local_.save(bands.part("local"));
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
  Shares below = bands.values<double>("below", {curve_levels().size()}, Must::kAscend);
  require(below.front() >= 0.0 && below.back() <= 1.0);
  // Files of a development version have no local error.
  LocalError local;
  const TensorReader part = bands.part("local");
  if (part.has_tensor("rms")) local = LocalError::load(part, whole->features() + whole->given());
  return std::make_unique<BandedModel>(std::move(whole), std::move(halves), std::move(below),
                                       std::move(local), counts);
}

std::unique_ptr<QuantileModel> add_bands(std::unique_ptr<QuantileModel> whole,
                                         const FitInput& input, std::size_t ranked,
                                         const FitHalf& fit, const Execution& how) {
  constexpr std::uint64_t kSeedPart = 3500;
  const std::size_t rows = input.x.rows();
  if (rows < kRowsForBands || !takes_shared_values(*whole, input, quietly(how))) return whole;
  const Seed seed = split(input.seed, kSeedPart);
  const auto parts = draw_halves(rows, kHalves, input.window > 1, seed);
  BandedModel::Models halves(kHalves);
  std::vector<LeftOut> left(kHalves);
  ParallelProgress progress(how, "bands", kHalves);
  try {
    parallel_for(how, kHalves, [&](std::size_t b) {
      const InputPart part(input, parts[b]);
      FitInput half = part.input();
      half.group = {};
      half.shift = {};
      half.seed = split(seed, kHalves + b);
      const Execution one = progress.of(b);
      halves[b] = fit(half, one);
      left[b] = ask_left_out(*halves[b], input, parts[b], split(half.seed, 1), quietly(one));
      progress.report(b, 1.0);
    });
  } catch (const Error& error) {
    // Half of the rows may be too few for the method, where all of them are enough.
    if (error.code() != ErrorCode::kBadData) throw;
    return whole;
  }
  LocalError local = find_local_error(input, left, split(seed, 2 * kHalves), quietly(how));
  return std::make_unique<BandedModel>(std::move(whole), std::move(halves), mean_shares(left),
                                       std::move(local),
                                       BandedModel::Counts{rows, parts.front().size(), ranked});
}

}  // namespace tare

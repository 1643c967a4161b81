// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/shift/shift.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "data/partition.h"
#include "data/rows.h"
#include "math/tame_weights.h"
#include "tare/calibrate/shift.h"

namespace tare {
namespace {

/// Of a ratio's logarithm: beyond it a double's products would overflow or vanish.
double tame_exp(double log_ratio) { return std::exp(std::clamp(log_ratio, -200.0, 200.0)); }

}  // namespace

Shift::Shift(QuadraticTerms terms, std::vector<LogisticFit> fits, double scale)
    : terms_(std::move(terms)), fits_(std::move(fits)), scale_(scale) {}

double Shift::ratio_by(std::size_t fit, std::span<const double> terms) const {
  return scale_ * tame_exp(fits_[fit].log_odds(terms));
}

double Shift::ratio(std::span<const double> terms) const {
  double sum = 0.0;
  for (const LogisticFit& fit : fits_) sum += fit.log_odds(terms);
  return scale_ * tame_exp(sum / static_cast<double>(fits_.size()));
}

void Shift::weights(MatrixView x, std::span<double> out, const Execution& how) const {
  constexpr std::size_t kRowsAtOnce = 256;
  parallel_blocks(how, x.rows(), kRowsAtOnce, [&](std::size_t first, std::size_t last) {
    std::vector<double> terms(terms_.terms());
    for (std::size_t i = first; i < last; ++i) {
      terms_.write(x.row(i), terms);
      const double ratio = this->ratio(terms);
      out[i] = limits_.unit *
               (ratio < limits_.most ? ratio : limits_.most);  // what is no number counts the most
    }
  });
}

void Shift::save(const TensorWriter& out) const {
  terms_.save(out);
  std::vector<double> intercept, slope;
  for (const LogisticFit& fit : fits_) {
    intercept.push_back(fit.intercept);
    slope.insert(slope.end(), fit.slope.begin(), fit.slope.end());
  }
  out.tensor("intercept", intercept);
  out.tensor("slope", std::span<const double>(slope), {fits_.size(), terms_.terms()});
  out.tensor("limits",
             std::vector<double>{scale_, limits_.most, limits_.unit, limits_.effective_rows});
}

std::shared_ptr<const Shift> Shift::load(const TensorReader& in) {
  auto shift = std::make_shared<Shift>();
  shift->terms_ = QuadraticTerms::load(in);
  const auto intercept = in.list<double>("intercept", Must::kBeFinite);
  const std::size_t terms = shift->terms_.terms();
  const auto slope = in.values<double>("slope", {intercept.size(), terms}, Must::kBeFinite);
  const auto limits = in.values<double>("limits", {4}, Must::kBePositive);
  if (intercept.empty()) fail(ErrorCode::kCorruptFile, "the model file's shift is damaged");
  for (std::size_t k = 0; k < intercept.size(); ++k) {
    const auto first = slope.begin() + static_cast<std::ptrdiff_t>(k * terms);
    shift->fits_.push_back({intercept[k], {first, first + static_cast<std::ptrdiff_t>(terms)}});
  }
  shift->scale_ = limits[0];
  shift->set_limits({limits[1], limits[2], limits[3]});
  return shift;
}

namespace {

constexpr std::size_t kShiftFolds = 5;
constexpr std::size_t kLeastOfAKind = 20;
/// Of each kind, for the classifier: more tell it nothing that a hundred terms could use.
constexpr std::size_t kMostOfAKind = 20'000;

/// Rows of both kinds, those of the fit first.
struct TwoKinds {
  Matrix terms;
  std::vector<std::uint8_t> label;
  std::vector<double> weight;
  std::vector<std::size_t> fold;
  std::vector<std::size_t> old_rows;  // of x, that are among them
  double old_weight = 0.0;
  double fresh_weight = 0.0;
};

void check_kinds(MatrixView x, std::span<const double> weight, MatrixView fresh) {
  if (x.cols() != fresh.cols() || (!weight.empty() && weight.size() != x.rows())) {
    fail(ErrorCode::kShapeMismatch,
         "shift: {} columns at fit and {} in the rows to predict, {} weights for {} rows", x.cols(),
         fresh.cols(), weight.size(), x.rows());
  }
  for (const MatrixView rows : {x, fresh}) {
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      if (!std::ranges::all_of(rows.row(i), [](double v) { return std::isfinite(v); })) {
        fail(ErrorCode::kBadData, "shift: row {} has a value that is not finite", i);
      }
    }
  }
}

/// Rows that count, at most kMostOfAKind of them, ascending.
std::vector<std::size_t> some_rows(std::size_t count, std::span<const double> weight, Seed seed) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    if (weight.empty() || weight[i] > 0.0) rows.push_back(i);
  }
  if (rows.size() < kLeastOfAKind) {
    fail(ErrorCode::kBadData,
         "a shift needs {} rows with positive weight both in the fit and to predict, but there are "
         "{}",
         kLeastOfAKind, rows.size());
  }
  if (rows.size() > kMostOfAKind) {
    Rng rng(seed);
    shuffle(std::span(rows), rng);
    rows.resize(kMostOfAKind);
    std::ranges::sort(rows);
  }
  return rows;
}

Matrix stacked(MatrixView x, std::span<const std::size_t> old_rows, MatrixView fresh,
               std::span<const std::size_t> fresh_rows) {
  Matrix both(old_rows.size() + fresh_rows.size(), x.cols());
  for (std::size_t i = 0; i < old_rows.size(); ++i) {
    std::ranges::copy(x.row(old_rows[i]), both.row(i).begin());
  }
  for (std::size_t i = 0; i < fresh_rows.size(); ++i) {
    std::ranges::copy(fresh.row(fresh_rows[i]), both.row(old_rows.size() + i).begin());
  }
  return both;
}

TwoKinds make_kinds(MatrixView x, std::span<const double> weight, MatrixView fresh, Seed seed,
                    QuadraticTerms& terms) {
  TwoKinds kinds;
  kinds.old_rows = some_rows(x.rows(), weight, split(seed, 0));
  const std::vector<std::size_t> fresh_rows = some_rows(fresh.rows(), {}, split(seed, 1));
  const Matrix both = stacked(x, kinds.old_rows, fresh, fresh_rows);
  terms = QuadraticTerms(both);
  kinds.terms = Matrix(both.rows(), terms.terms());
  for (std::size_t i = 0; i < both.rows(); ++i) terms.write(both.row(i), kinds.terms.row(i));
  kinds.fold = random_folds(kinds.old_rows.size(), kShiftFolds, split(seed, 2));
  const auto fresh_folds = random_folds(fresh_rows.size(), kShiftFolds, split(seed, 3));
  kinds.fold.insert(kinds.fold.end(), fresh_folds.begin(), fresh_folds.end());
  for (const std::size_t i : kinds.old_rows)
    kinds.weight.push_back(weight.empty() ? 1.0 : weight[i]);
  const double sum = std::accumulate(kinds.weight.begin(), kinds.weight.end(), 0.0);
  for (double& w : kinds.weight) w *= static_cast<double>(kinds.old_rows.size()) / sum;
  kinds.old_weight = static_cast<double>(kinds.old_rows.size());
  kinds.fresh_weight = static_cast<double>(fresh_rows.size());
  kinds.weight.resize(both.rows(), 1.0);
  kinds.label.assign(kinds.old_rows.size(), 0);
  kinds.label.resize(both.rows(), 1);
  return kinds;
}

/// The fits of a fold for all penalties, and their loss on its rows.
struct FoldPath {
  std::vector<LogisticFit> fits;
  std::vector<double> loss;
};

FoldPath fit_fold(const TwoKinds& kinds, std::size_t fold) {
  const Partition parts = fold_partition(kinds.fold, fold);
  const Matrix terms = take_rows(kinds.terms, parts.first);
  const std::vector<double> weight = take_rows(std::span<const double>(kinds.weight), parts.first);
  std::vector<std::uint8_t> label;
  for (const std::size_t i : parts.first) label.push_back(kinds.label[i]);
  FoldPath path;
  path.fits = fit_logistic({.label = label, .weight = weight}, terms, logistic_penalties());
  for (const LogisticFit& fit : path.fits) {
    double loss = 0.0;
    for (const std::size_t i : parts.second) {
      const double t = fit.log_odds(kinds.terms.row(i));
      const double signed_t = kinds.label[i] != 0 ? -t : t;
      loss +=
          kinds.weight[i] * (std::max(signed_t, 0.0) + std::log1p(std::exp(-std::abs(signed_t))));
    }
    path.loss.push_back(loss);
  }
  return path;
}

/// The fits of all folds at the penalty that tells unseen rows apart best.
std::vector<LogisticFit> best_fits(const TwoKinds& kinds, const Execution& how) {
  std::vector<FoldPath> paths(kShiftFolds);
  parallel_for(how, kShiftFolds, [&](std::size_t k) { paths[k] = fit_fold(kinds, k); });
  std::size_t best = 0;
  double least = 0.0;
  for (std::size_t p = 0; p < logistic_penalties().size(); ++p) {
    double loss = 0.0;
    for (const FoldPath& path : paths) loss += path.loss[p];
    if (p == 0 || loss < least) {
      least = loss;
      best = p;
    }
  }
  std::vector<LogisticFit> fits;
  for (FoldPath& path : paths) fits.push_back(std::move(path.fits[best]));
  return fits;
}

/// Of each row of x, out of fold if the row is in a fold.
std::vector<double> unseen_ratios(MatrixView x, const TwoKinds& kinds, const Shift& shift,
                                  const Execution& how) {
  constexpr std::size_t kNotAmong = kShiftFolds;
  std::vector<std::size_t> fold(x.rows(), kNotAmong);
  for (std::size_t i = 0; i < kinds.old_rows.size(); ++i) fold[kinds.old_rows[i]] = kinds.fold[i];
  std::vector<double> ratio(x.rows());
  parallel_blocks(how, x.rows(), 256, [&](std::size_t first, std::size_t last) {
    std::vector<double> terms(shift.terms().terms());
    for (std::size_t i = first; i < last; ++i) {
      shift.terms().write(x.row(i), terms);
      ratio[i] = fold[i] == kNotAmong ? shift.ratio(terms) : shift.ratio_by(fold[i], terms);
    }
  });
  return ratio;
}

/// The larger of the value that 1 % of the ratios exceed and of twenty times their median: without
/// this limit a few rows would dominate. The smaller of the two costs more coverage than it saves
/// (docs/decisions/0015).
double cut_off_of(std::vector<double> ratios) {
  const auto place = [&](std::size_t from_above) {
    const auto at = ratios.end() - 1 - static_cast<std::ptrdiff_t>(from_above);
    std::ranges::nth_element(ratios, at);
    return *at;
  };
  const double high = place(ratios.size() / 100);
  return std::max(high, 20.0 * place(ratios.size() / 2));
}

}  // namespace

ShiftWeights weigh_towards(MatrixView x, std::span<const double> weight, MatrixView fresh,
                           Seed seed, const Execution& how) {
  check_kinds(x, weight, fresh);
  if (const std::vector<double> tame = tame_weights(weight); !tame.empty()) {
    return weigh_towards(x, tame, fresh, seed, how);
  }
  QuadraticTerms terms;
  const TwoKinds kinds = make_kinds(x, weight, fresh, seed, terms);
  auto shift = std::make_shared<Shift>(std::move(terms), best_fits(kinds, how),
                                       kinds.old_weight / kinds.fresh_weight);
  ShiftWeights result;
  result.weight = unseen_ratios(x, kinds, *shift, how);
  const double most = cut_off_of(result.weight);
  double largest = weight.empty() ? 1.0 : 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const double given = weight.empty() ? 1.0 : weight[i];
    largest = std::max(largest, given);
    result.weight[i] = given * std::min(result.weight[i], most);
    sum += result.weight[i];
  }
  const double unit = static_cast<double>(x.rows()) / sum;
  double squares = 0.0;
  for (double& w : result.weight) {
    w *= unit;
    squares += w * w;
  }
  const auto rows = static_cast<double>(x.rows());
  result.effective_rows = rows * rows / squares;
  shift->set_limits(
      {.most = most, .unit = unit * largest, .effective_rows = result.effective_rows});
  result.shift = std::move(shift);
  return result;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/local/local_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "calibrate/features/screening.h"
#include "calibrate/guarantee/local/kernel_draw.h"
#include "data/rows.h"
#include "math/kernel.h"
#include "tare/calibrate/bandwidth.h"

namespace tare {
namespace {

constexpr double kWholeRange = std::numeric_limits<double>::infinity();
constexpr std::size_t kRowsToTune = 50;   // fewer cannot show a dependence
constexpr std::size_t kMostTried = 6;     // features, the strongest ones
constexpr std::size_t kMostFeatures = 4;  // of the kernel
constexpr double kWorthAFeature = 0.998;  // of the loss before
constexpr std::size_t kScreenShuffles = 200;
// A new row may have this share of the weight: a 95 % interval is then kept.
constexpr double kMostShare = 0.025;
constexpr double kMayMissIt = 0.05;  // of the rows

double best_loss(const BandwidthChoice& choice) {
  double least = kWholeRange;
  for (const BandwidthTrial& trial : choice.path) least = std::min(least, trial.loss);
  return least;
}

struct Trial {
  FeatureMap map;
  Matrix z;
  BandwidthChoice choice;
  double loss = kWholeRange;
};

Trial try_features(MatrixView candidates, std::span<const double> score,
                   std::vector<std::size_t> columns, KernelKind kernel, Seed seed,
                   const Execution& how) {
  std::ranges::sort(columns);
  FeatureMapOptions options;
  options.columns = std::move(columns);
  Trial trial;
  trial.map = FeatureMap::fit(candidates, score, all_rows(candidates.rows()), options, seed);
  trial.z = trial.map.apply(candidates);
  SnqOptions snq;
  snq.kernel = kernel;
  trial.choice = choose_bandwidth(trial.z, score, {}, snq, seed, how);
  trial.loss = best_loss(trial.choice);
  return trial;
}

/// Of each row, as a new one among `ranked` rows like these: its share of the weight, and the
/// effective number of rows.
struct Supports {
  std::vector<double> share, rows;
};

Supports measure_supports(MatrixView z, KernelKind kernel, double bandwidth, std::size_t ranked,
                          Seed seed) {
  Supports result;
  std::vector<double> drawn(z.cols()), squared(z.rows()), weight(z.rows());
  const double times = static_cast<double>(ranked) / static_cast<double>(z.rows() - 1);
  for (std::size_t i = 0; i < z.rows(); ++i) {
    Rng rng(split(seed, i));
    draw_near(kernel, bandwidth, z.row(i), rng, drawn);
    for (std::size_t k = 0; k < z.rows(); ++k) {
      squared[k] = 0.0;
      for (std::size_t j = 0; j < drawn.size(); ++j) {
        squared[k] += (z(k, j) - drawn[j]) * (z(k, j) - drawn[j]);
      }
    }
    kernel_weights(kernel, bandwidth, squared, weight);
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t k = 0; k < z.rows(); ++k) {
      if (k == i) continue;
      sum += weight[k];
      squares += weight[k] * weight[k];
    }
    const double whole = weight[i] + times * sum;
    result.share.push_back(whole > 0.0 ? weight[i] / whole : 1.0);
    result.rows.push_back(squares > 0.0 ? times * sum * sum / squares : 0.0);
  }
  return result;
}

double sorted_at(std::vector<double> values, double level) {
  std::ranges::sort(values);
  const double place = level * static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(place)];
}

}  // namespace

Matrix local_candidates(const Rows& rows, const QuantileModel& inner, const Execution& how) {
  static const std::array<Level, 3> kOwn = {Level(0.25), Level(0.5), Level(0.75)};
  const Prediction own = inner.predict({rows.x, rows.given}, kOwn, how);
  const std::size_t width = rows.x.cols();
  Matrix result(rows.x.rows(), width + 2);
  const auto tame = [](double value) { return std::clamp(value, -1e300, 1e300); };
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    std::ranges::copy(rows.x.row(i), result.row(i).begin());
    result(i, width) = tame(own.quantiles(i, 1));
    const double spread = own.quantiles(i, 2) - own.quantiles(i, 0);
    result(i, width + 1) = std::isnan(spread) ? 0.0 : tame(spread);
  }
  return result;
}

Matrix local_features(const Rows& rows, const QuantileModel& inner, const FeatureMap& map,
                      const Execution& how) {
  if (map.columns().back() >= rows.x.cols()) return map.apply(local_candidates(rows, inner, how));
  Matrix padded(rows.x.rows(), map.inputs());
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    std::ranges::copy(rows.x.row(i), padded.row(i).begin());
  }
  return map.apply(padded);
}

LocalChoice choose_local(MatrixView candidates, std::span<const double> score, std::size_t ranked,
                         KernelKind kernel, Seed seed, const Execution& how) {
  LocalChoice result;
  result.kernel = kernel;
  result.bandwidth = kWholeRange;
  result.tuned_on = candidates.rows();
  result.usual_rows = static_cast<double>(ranked);
  if (candidates.rows() < kRowsToTune) return result;
  std::vector<ScreenedColumn> screened =
      screen_columns(candidates, score, kScreenShuffles, seed, how);
  std::erase_if(screened, [](const ScreenedColumn& c) { return c.p_value > kScreenLevel; });
  std::ranges::stable_sort(screened, std::ranges::greater{}, &ScreenedColumn::strength);
  if (screened.size() > kMostTried) screened.resize(kMostTried);
  Trial best;
  std::vector<std::size_t> columns;
  for (const ScreenedColumn& next : screened) {
    if (columns.size() == kMostFeatures) break;
    std::vector<std::size_t> wider = columns;
    wider.push_back(next.column);
    Trial trial = try_features(candidates, score, wider, kernel, seed, how);
    if (!(trial.loss < (columns.empty() ? kWholeRange : kWorthAFeature * best.loss))) continue;
    columns = std::move(wider);
    best = std::move(trial);
  }
  if (columns.empty()) return result;
  const auto dims = static_cast<double>(columns.size());
  const double ratio = static_cast<double>(ranked) / static_cast<double>(candidates.rows());
  double bandwidth = best.choice.bandwidth * std::pow(ratio, -1.0 / (dims + 2.0));
  constexpr double kWiden = 1.1;
  constexpr int kMostWidened = 60;
  Supports supports;
  for (int k = 0; k < kMostWidened; ++k, bandwidth *= kWiden) {
    supports = measure_supports(best.z, kernel, bandwidth, ranked, seed);
    if (sorted_at(supports.share, 1.0 - kMayMissIt) <= kMostShare) break;
  }
  result.map = std::move(best.map);
  result.bandwidth = bandwidth;
  result.usual_rows = sorted_at(supports.rows, 0.5);
  return result;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "model/kernel_quantile/kernel_quantiles.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "data/partition.h"
#include "data/rows.h"
#include "math/bounded.h"
#include "math/kernel.h"
#include "math/normal.h"
#include "model/kernel_quantile/kernel_quantile.h"
#include "model/kernel_quantile/kernel_search.h"
#include "model/kernel_quantile/quantile_rows.h"

namespace tare {
namespace {

constexpr std::size_t kCount = kKernelLevels.size();

std::vector<Standard> column_standards(const RegressionData& data) {
  std::vector<Standard> columns;
  for (std::size_t j = 0; j < data.x.cols(); ++j) {
    columns.push_back(standardise(
        data.x.rows(), [&](std::size_t i) { return data.x(i, j); }, data.weight));
  }
  return columns;
}

/// From the quantiles at kKernelLevels, ascending, to one at any level: linear in the normal score
/// between them; beyond the last, with the slope of levels further apart.
double quantile_between(std::span<const double> learned, Level level) {
  static const std::array<double, kCount> kScores = [] {
    std::array<double, kCount> scores{};
    for (std::size_t k = 0; k < kCount; ++k) scores[k] = normal_quantile(kKernelLevels[k]);
    return scores;
  }();
  const double tau = level.value();
  const auto above = std::ranges::lower_bound(kKernelLevels, tau) - kKernelLevels.begin();
  const auto next = static_cast<std::size_t>(above);
  if (next < kCount && kKernelLevels[next] == tau) return learned[next];
  const double score = normal_quantile(tau);
  if (next == 0 || next == kCount) {
    const std::size_t at = next == 0 ? 0 : kCount - 1;
    const std::size_t inner = next == 0 ? 2 : kCount - 3;
    return learned[at] +
           (score - kScores[at]) * (learned[inner] - learned[at]) / (kScores[inner] - kScores[at]);
  }
  const double share = (score - kScores[next - 1]) / (kScores[next] - kScores[next - 1]);
  return std::min(learned[next - 1] + share * (learned[next] - learned[next - 1]), learned[next]);
}

/// The solutions at all levels; each starts from that of `start`, if there is one.
std::vector<KernelQuantileFit> solve_levels(const Matrix& kernel, const QuantileRows& rows,
                                            double penalty, double gap, const Matrix& start,
                                            const Execution& how) {
  const std::vector<double> cost = costs_for(rows.cost, penalty);
  const auto stop = [&] {
    if (how.stop != nullptr && how.stop->load()) throw Stopped();
  };
  std::vector<KernelQuantileFit> fits(kCount);
  parallel_for(how, kCount, [&](std::size_t t) {
    std::vector<double> from;
    for (std::size_t i = 0; i < start.rows(); ++i) from.push_back(start(i, t));
    fits[t] = fit_kernel_quantile({kernel, rows.y, cost, Level(kKernelLevels[t])},
                                  {.gap = gap, .stop = stop}, from);
  });
  return fits;
}

}  // namespace

KernelQuantiles KernelQuantiles::fit(const RegressionData& data,
                                     const KernelQuantilesOptions& options, Seed seed,
                                     const Execution& how) {
  constexpr std::size_t kMostScoredRows = 500;
  Rng rng(split(seed, 1));
  KernelQuantiles made;
  made.chosen_ = random_permutation(data.y.size(), rng);
  made.chosen_.resize(std::min(made.chosen_.size(), options.most_rows));
  made.column_ = column_standards(data);
  made.target_ = standardise(
      data.y.size(), [&](std::size_t i) { return data.y[i]; }, data.weight);
  const QuantileRows rows = made.rows_of(data);

  if (how.progress) how.progress("cross-validation", 0.0);
  const double unit = median_distance(rows.x);
  const QuantileRows some = rows.take(all_rows(std::min(rows.y.size(), kMostScoredRows)));
  const auto [penalty, width] = search_kernel(some, options, unit, split(seed, 2), how);
  made.penalty_ = penalty;
  made.width_ = width * unit;

  if (how.progress) how.progress("solving levels", 0.3);
  const Matrix kernel = kernel_of_rows(rows.x, rows.x, made.width_, how);
  made.keep(rows.x, solve_levels(kernel, rows, penalty, options.gap, {}, how));
  if (how.progress) how.progress("solving levels", 1.0);
  return made;
}

QuantileRows KernelQuantiles::rows_of(const RegressionData& data) const {
  QuantileRows rows{Matrix(chosen_.size(), data.x.cols()), {}, {}};
  double mean_cost = 0.0;
  for (std::size_t k = 0; k < chosen_.size(); ++k) {
    standardise_row(data.x.row(chosen_[k]), column_, rows.x.row(k));
    rows.y.push_back(standardised(data.y[chosen_[k]], target_));
    rows.cost.push_back(data.weight.empty() ? 1.0 : data.weight[chosen_[k]]);
    mean_cost += rows.cost.back() / static_cast<double>(chosen_.size());
  }
  for (double& cost : rows.cost) cost /= mean_cost;
  return rows;
}

void KernelQuantiles::keep(Matrix x, std::span<const KernelQuantileFit> fits) {
  x_ = std::move(x);
  a_ = Matrix(x_.rows(), kCount);
  b_.clear();
  for (std::size_t t = 0; t < kCount; ++t) {
    b_.push_back(fits[t].b);
    for (std::size_t k = 0; k < x_.rows(); ++k) a_(k, t) = fits[t].a[k];
  }
}

void KernelQuantiles::predict(MatrixView x, std::span<const Level> levels, MatrixSpan out,
                              const Execution& how) const {
  parallel_blocks(how, x.rows(), 64, [&](std::size_t first, std::size_t last) {
    std::vector<double> place(x.cols()), learned(kCount);
    for (std::size_t i = first; i < last; ++i) {
      standardise_row(x.row(i), column_, place);
      learn_row(place, learned);
      for (std::size_t j = 0; j < levels.size(); ++j) {
        out.row(i)[j] =
            bounded(target_.mean + target_.scale * quantile_between(learned, levels[j]));
      }
      std::ranges::sort(out.row(i));  // rounding is not monotone
    }
  });
}

Matrix KernelQuantiles::predict_left_out(const RegressionData& data,
                                         std::span<const std::uint32_t> group_of_row,
                                         std::size_t groups, std::span<const std::size_t> asked,
                                         std::span<const Level> levels,
                                         const Execution& how) const {
  constexpr double kGap = 1e-3;  // 1e-2 shows in the losses that are compared
  const QuantileRows rows = rows_of(data);
  Matrix result(asked.size(), levels.size());
  parallel_for(how, groups, [&](std::size_t group) {
    std::vector<std::size_t> kept, places, asked_rows;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      if (group_of_row[chosen_[k]] != group) kept.push_back(k);
    }
    for (std::size_t k = 0; k < asked.size(); ++k) {
      if (group_of_row[asked[k]] != group) continue;
      places.push_back(k);
      asked_rows.push_back(asked[k]);
    }
    const QuantileRows others = rows.take(kept);
    KernelQuantiles made = *this;
    const Matrix kernel = kernel_of_rows(others.x, others.x, width_, one_thread());
    made.keep(others.x,
              solve_levels(kernel, others, penalty_, kGap, take_rows(a_, kept), one_thread()));
    Matrix own(asked_rows.size(), levels.size());
    made.predict(take_rows(data.x, asked_rows), levels, own, one_thread());
    for (std::size_t k = 0; k < places.size(); ++k)
      std::ranges::copy(own.row(k), result.row(places[k]).begin());
  });
  return result;
}

void KernelQuantiles::learn_row(std::span<const double> place, std::span<double> learned) const {
  const double factor = -0.5 / (width_ * width_);
  std::ranges::copy(b_, learned.begin());
  for (std::size_t k = 0; k < x_.rows(); ++k) {
    const double near = std::exp(factor * squared_distance(place, x_.row(k)));
    const std::span<const double> a = a_.row(k);
    for (std::size_t t = 0; t < kCount; ++t) learned[t] += near * a[t];
  }
  std::ranges::sort(learned);
}

void KernelQuantiles::save(const TensorWriter& out) const {
  std::vector<double> mean, scale;
  for (const Standard& column : column_) {
    mean.push_back(column.mean);
    scale.push_back(column.scale);
  }
  out.tensor("mean", mean);
  out.tensor("scale", scale);
  out.tensor("target", std::vector<double>{target_.mean, target_.scale});
  out.value("width", width_);
  out.tensor<double>("x", x_.values(), {x_.rows(), x_.cols()});
  out.tensor<double>("a", a_.values(), {a_.rows(), a_.cols()});
  out.tensor("b", b_);
}

KernelQuantiles KernelQuantiles::load(const TensorReader& in, std::size_t columns) {
  KernelQuantiles made;
  const std::vector<double> mean = in.values<double>("mean", {columns}, Must::kBeFinite);
  const std::vector<double> scale = in.values<double>("scale", {columns}, Must::kBePositive);
  for (std::size_t j = 0; j < columns; ++j) made.column_.push_back({mean[j], scale[j]});
  const std::vector<double> target = in.values<double>("target", {2}, Must::kBeFinite);
  made.target_ = {target[0], target[1]};
  made.width_ = in.get<double>("width");
  const Shape shape = in.shape("x");
  const std::size_t rows = shape.empty() ? 0 : shape[0];
  made.a_ = Matrix(in.values<double>("a", {rows, kCount}, Must::kBeFinite), rows, kCount);
  made.x_ = Matrix(in.values<double>("x", {rows, columns}, Must::kBeFinite), rows, columns);
  made.b_ = in.values<double>("b", {kCount}, Must::kBeFinite);
  const auto too_large = [](double value) { return std::abs(value) > 1e100; };
  if (std::ranges::any_of(made.a_.values(), too_large) || std::ranges::any_of(made.b_, too_large)) {
    fail(ErrorCode::kCorruptFile, "a coefficient of the model file's kernel is above 1e100");
  }
  if (!(made.width_ > 0.0) || !(made.target_.scale > 0.0) || rows == 0) {
    fail(ErrorCode::kCorruptFile,
         "the model file's kernel has a width of {} and {} rows, and its target a scale of {}",
         made.width_, rows, made.target_.scale);
  }
  return made;
}

}  // namespace tare

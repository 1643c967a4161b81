// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/window/local_sample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "calibrate/snq/window/rank_rule.h"
#include "math/kernel.h"
#include "math/vector_targets.h"

namespace tare {
namespace {

constexpr double kFarthestRow = LocalSample::kFarthestRow;
constexpr double kLeftOutDistance = 1e300;
// Below this share of the largest weight a row is out of reach: squares of weights would underflow.
constexpr double kReach = 1e-140;
// Sums of whole numbers are exact below 2^53.
constexpr double kExactLimit = 0x1.0p53;

/// Cuts every value down to kFarthestRow and returns the smallest, in lanes so that it runs on
/// whole vectors.
TARE_VECTOR_TARGETS double clamp_and_min(double* values, std::size_t count) {
  constexpr std::size_t kLanes = 8;
  double least[kLanes];
  for (double& lane : least) lane = kFarthestRow;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane] < kFarthestRow ? values[i + lane] : kFarthestRow;
      values[i + lane] = value;
      least[lane] = value < least[lane] ? value : least[lane];
    }
  }
  for (; i < count; ++i) {
    values[i] = std::min(values[i], kFarthestRow);
    least[0] = std::min(least[0], values[i]);
  }
  return *std::min_element(std::begin(least), std::end(least));
}

Buffer<double> gather(std::span<const double> values, std::span<const std::size_t> order) {
  if (values.empty()) return {};
  std::vector<double> out;
  out.reserve(order.size());
  for (const std::size_t i : order) out.push_back(values[i]);
  return Buffer<double>(std::move(out));
}

}  // namespace

std::vector<std::size_t> residual_order(std::span<const double> u, std::span<const double> weight) {
  std::vector<std::pair<double, std::size_t>> rows;
  rows.reserve(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (weight.empty() || weight[i] > 0.0) rows.emplace_back(u[i], i);
  }
  // Equal residuals keep the user's order, so that the model file's bytes are defined.
  std::sort(rows.begin(), rows.end());
  std::vector<std::size_t> order;
  order.reserve(rows.size());
  for (const auto& [value, row] : rows) order.push_back(row);
  return order;
}

LocalSample::LocalSample(MatrixView z, std::span<const double> u, std::span<const double> weight)
    : LocalSample(z, u, weight, residual_order(u, weight)) {}

LocalSample::LocalSample(MatrixView z, std::span<const double> u, std::span<const double> weight,
                         std::span<const std::size_t> order)
    : features_(z, order) {
  residuals_ = gather(u, order);
  weights_ = gather(weight, order);
  check_weights();
}

LocalSample::LocalSample(BruteForce features, Buffer<double> residuals, Buffer<double> weights)
    : features_(std::move(features)),
      residuals_(std::move(residuals)),
      weights_(std::move(weights)) {
  check_weights();
}

void LocalSample::check_weights() {
  if (weights_.empty()) return;
  double total = 0.0;
  bool whole = true;
  largest_weight_ = 0.0;
  for (const double w : weights_.span()) {
    total += w;
    whole = whole && w == std::floor(w);
    largest_weight_ = std::max(largest_weight_, w);
  }
  weight_type_ = whole && total < kExactLimit ? WeightType::kWhole : WeightType::kReal;
}

double LocalSample::measure(std::span<const double> z, Scratch& scratch) const {
  scratch.squared_distance.resize(rows());
  features_.squared_distances(z, scratch.squared_distance);
  return std::sqrt(clamp_and_min(scratch.squared_distance.data(), rows()));
}

void LocalSample::leave_out(std::size_t place, Scratch& scratch) const {
  scratch.squared_distance[place] = kLeftOutDistance;
}

void LocalSample::leave_out_beyond(double reach2, Scratch& scratch) const {
  for (double& r2 : scratch.squared_distance) r2 = r2 > reach2 ? kLeftOutDistance : r2;
}

void LocalSample::window_of_nearest(std::size_t count, double tie_tolerance,
                                    Scratch& scratch) const {
  const std::size_t kth = std::min(count, rows()) - 1;
  scratch.selection = scratch.squared_distance;
  std::nth_element(scratch.selection.begin(),
                   scratch.selection.begin() + static_cast<std::ptrdiff_t>(kth),
                   scratch.selection.end());
  const double reach = tied_reach(scratch.selection[kth], tie_tolerance);
  for (std::size_t i = 0; i < rows(); ++i) {
    const double r2 = scratch.squared_distance[i];
    scratch.weight[i] = r2 <= reach && r2 < kLeftOutDistance ? 1.0 : 0.0;
  }
}

void LocalSample::apply_sample_weights(Scratch& scratch) const {
  if (weights_.empty()) return;
  for (std::size_t i = 0; i < rows(); ++i) scratch.weight[i] *= weights_[i];
}

bool LocalSample::weigh_in_reach(const SnqOptions& options, Scratch& scratch) const {
  if (options.kernel == KernelKind::kKnn && !std::isinf(options.bandwidth)) {
    weigh_nearest(static_cast<std::size_t>(options.bandwidth), options.tie_tolerance, scratch);
    return scratch.sums.total > kReach * largest_weight_;
  }
  const bool window = options.kernel == KernelKind::kNaive || std::isinf(options.bandwidth);
  scratch.type = window ? weight_type_ : WeightType::kReal;
  scratch.weight.resize(rows());
  kernel_weights(options.kernel, options.bandwidth, scratch.squared_distance, scratch.weight);
  apply_sample_weights(scratch);
  sum_weights(scratch.weight, scratch.sums);
  return scratch.sums.total > kReach * largest_weight_;
}

void LocalSample::weigh_nearest(std::size_t count, double tie_tolerance, Scratch& scratch) const {
  scratch.type = weight_type_;
  scratch.weight.resize(rows());
  window_of_nearest(count, tie_tolerance, scratch);
  apply_sample_weights(scratch);
  sum_weights(scratch.weight, scratch.sums);
}

LocalSample::Support LocalSample::weigh(const SnqOptions& options, Scratch& scratch) const {
  Support support;
  if (!weigh_in_reach(options, scratch)) {
    support.fallback = true;
    weigh_nearest(options.fallback == Fallback::kMarginal ? rows() : options.min_support,
                  options.tie_tolerance, scratch);
  }
  support.effective_n = scratch.sums.effective_size();
  return support;
}

LocalSample LocalSample::part(std::span<const double> columns, std::span<const double> residuals,
                              std::span<const double> weights) const {
  LocalSample some;
  some.features_ = BruteForce(Buffer<double>(columns, nullptr), residuals.size(), dims());
  some.residuals_ = Buffer<double>(residuals, nullptr);
  some.weights_ = Buffer<double>(weights, nullptr);
  some.largest_weight_ = largest_weight_;
  some.weight_type_ = weight_type_;
  return some;
}

void LocalSample::quantiles(std::span<const Level> levels, Scratch& scratch,
                            std::span<double> out) const {
  scratch.places.resize(levels.size());
  weighted_quantile_places(scratch.weight, scratch.sums, scratch.type, levels, scratch.places);
  for (std::size_t j = 0; j < levels.size(); ++j) out[j] = residuals_[scratch.places[j]];
}

void LocalSample::quantiles(RankRule& rule, Scratch& scratch, std::span<double> out) const {
  const auto targets = rule.targets(scratch.sums, scratch.type);
  scratch.places.resize(targets.size());
  scratch.values.resize(targets.size());
  weighted_places(scratch.weight, scratch.sums, targets, scratch.places);
  for (std::size_t j = 0; j < targets.size(); ++j) {
    scratch.values[j] = residuals_[scratch.places[j]];
  }
  rule.answer(scratch.values, out);
}

}  // namespace tare

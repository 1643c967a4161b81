// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc/residual_trees.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "model/boosting/light_boosting.h"
#include "model/tree/tree_ensemble.h"

namespace tare {
namespace {

/// log(|u| + a little): a residual of 0 is small, not infinitely so.
std::vector<double> log_sizes(std::span<const double> u) {
  constexpr double kLittle = 1e-2;  // of the median size
  std::vector<double> size(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) size[i] = std::abs(u[i]);
  std::vector<double> sorted = size;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  double little = kLittle * *middle;
  if (!(little > 0.0)) little = std::max(kLittle * std::ranges::max(size), 1e-300);
  for (double& value : size) value = std::log(value + little);
  return size;
}

std::unique_ptr<Regressor> load_part(const TensorReader& in, std::string_view name,
                                     std::size_t features) {
  if (!in.get<bool>(std::string("has_") + std::string(name))) return nullptr;
  std::unique_ptr<Regressor> trees = load_trees(in.part(name));
  if (trees->features() != features) {
    fail(ErrorCode::kCorruptFile, "the model file's trees of residuals read {} features and get {}",
         trees->features(), features);
  }
  return trees;
}

/// Both fit and load give a TreeEnsemble.
std::optional<std::size_t> count_trees(const Regressor* part) {
  const auto* trees = dynamic_cast<const TreeEnsemble*>(part);
  return trees == nullptr ? std::nullopt : std::optional(trees->trees());
}

}  // namespace

std::optional<std::size_t> ResidualTrees::center_trees() const {
  return count_trees(center_.get());
}

std::optional<std::size_t> ResidualTrees::size_trees() const {
  return count_trees(log_size_.get());
}

ResidualTrees::Fitted ResidualTrees::fit(MatrixView features, std::span<const double> u,
                                         std::span<const double> weight, Seed seed,
                                         const Execution& how) {
  const LightRows rows(features, weight, how);
  LightBoosting center = fit_light_boosting(rows, u, {}, split(seed, 0), how);
  std::vector<double> left(u.begin(), u.end());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] -= center.out_of_fold[i];
  LightBoosting size = fit_light_boosting(rows, log_sizes(left), {}, split(seed, 1), how);

  Fitted fitted;
  const auto [least, most] = std::ranges::minmax(size.out_of_fold);
  fitted.trees.least_ = least;
  fitted.trees.most_ = most;
  fitted.trees.center_ = std::move(center.model);
  fitted.trees.log_size_ = std::move(size.model);
  fitted.frame = {std::move(center.out_of_fold), std::move(size.out_of_fold)};
  return fitted;
}

ResidualTrees::Frame ResidualTrees::frame(MatrixView features, const Execution& how) const {
  Frame frame{std::vector<double>(features.rows(), 0.0), std::vector<double>(features.rows(), 0.0)};
  if (center_) center_->predict(features, frame.center, how);
  if (log_size_) log_size_->predict(features, frame.log_size, how);
  for (double& size : frame.log_size) size = std::clamp(size, least_, most_);
  return frame;
}

void ResidualTrees::save(const TensorWriter& out) const {
  out.value("has_center", center_ != nullptr);
  out.value("has_size", log_size_ != nullptr);
  out.tensor("range", std::vector<double>{least_, most_});
  if (center_) center_->save(out.part("center"));
  if (log_size_) log_size_->save(out.part("size"));
}

ResidualTrees ResidualTrees::load(const TensorReader& in, std::size_t features) {
  ResidualTrees trees;
  const auto range = in.values<double>("range", {2});
  if (!(std::isfinite(range[0]) && range[0] <= range[1] && std::isfinite(range[1]))) {
    fail(ErrorCode::kCorruptFile, "the model file's sizes of residuals run from {} to {}", range[0],
         range[1]);
  }
  trees.least_ = range[0];
  trees.most_ = range[1];
  trees.center_ = load_part(in, "center", features);
  trees.log_size_ = load_part(in, "size", features);
  return trees;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/features/feature_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "data/standardize.h"

namespace tare {
namespace {

/// |Pearson correlation| of column j with y over the rows; 0 for a constant.
double absolute_correlation(MatrixView x, std::size_t j, std::span<const double> y,
                            std::span<const std::size_t> rows) {
  const auto n = static_cast<double>(rows.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (const std::size_t i : rows) {
    mean_x += x(i, j) / n;
    mean_y += y[i] / n;
  }
  double xx = 0.0;
  double yy = 0.0;
  double xy = 0.0;
  for (const std::size_t i : rows) {
    xx += (x(i, j) - mean_x) * (x(i, j) - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x(i, j) - mean_x) * (y[i] - mean_y);
  }
  const double norm = std::sqrt(xx) * std::sqrt(yy);
  return norm > 0.0 && std::isfinite(norm) ? std::abs(xy) / norm : 0.0;
}

/// (x - center) / scale, also where the difference overflows, and at most so large that no
/// projection is NaN.
double scaled(double x, double center, double scale) {
  constexpr double kFarthest = 1e300;
  const double away = x - center;
  const double value = std::isfinite(away) ? away / scale : (0.5 * x - 0.5 * center) / scale * 2.0;
  return std::clamp(value, -kFarthest, kFarthest);
}

std::vector<std::size_t> most_correlated(MatrixView x, std::span<const double> y,
                                         std::span<const std::size_t> rows,
                                         std::vector<std::size_t> columns, std::size_t count) {
  std::vector<double> score(x.cols(), 0.0);
  for (const std::size_t j : columns) score[j] = absolute_correlation(x, j, y, rows);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  columns.resize(count);
  std::sort(columns.begin(), columns.end());
  return columns;
}

}  // namespace

Reducer parse_reducer(std::string_view name) {
  const std::string sought = canonical_name(name);
  if (sought == "none") return Reducer::kNone;
  if (sought == "projection") return Reducer::kProjection;
  if (sought == "correlation") return Reducer::kCorrelation;
  if (sought == "embedding") return Reducer::kEmbedding;
  fail(ErrorCode::kInvalidArgument,
       {.option = "reducer",
        .value = std::string(name),
        .remedies = {advice("known: none, projection, correlation, embedding"),
                     use("calibrate_on", "COLUMNS", "for named columns")},
        .named_in_problem = true},
       "there is no reducer '{}'", name);
}

Scale parse_scale(std::string_view name) {
  const std::string sought = canonical_name(name);
  if (sought == "standard") return Scale::kStandard;
  if (sought == "none") return Scale::kNone;
  fail_option("scale", name, "must be standard or none");
}

FeatureMap FeatureMap::fit(MatrixView x, std::span<const double> y,
                           std::span<const std::size_t> rows, const FeatureMapOptions& options,
                           Seed seed) {
  FeatureMap map;
  map.inputs_ = x.cols();
  map.columns_ = options.columns;
  if (map.columns_.empty()) {
    map.columns_.resize(x.cols());
    std::iota(map.columns_.begin(), map.columns_.end(), std::size_t{0});
  }
  const bool reduce = options.dims < map.columns_.size();
  if (reduce && options.reducer == Reducer::kCorrelation) {
    map.columns_ = most_correlated(x, y, rows, std::move(map.columns_), options.dims);
  }
  const Standardizer all = options.scale == Scale::kStandard ? Standardizer::fit(x, rows)
                                                             : Standardizer::identity(x.cols());
  for (const std::size_t j : map.columns_) {
    map.center_.push_back(all.center[j]);
    map.scale_.push_back(all.scale[j]);
  }
  if (reduce && options.reducer == Reducer::kProjection) {
    map.projection_ = Matrix(map.columns_.size(), options.dims);
    Rng rng(seed);
    const double deviation = 1.0 / std::sqrt(static_cast<double>(map.columns_.size()));
    for (double& entry : map.projection_.values()) entry = deviation * rng.normal();
  }
  return map;
}

Matrix FeatureMap::apply(MatrixView x) const {
  if (x.cols() != inputs_) {
    fail(ErrorCode::kShapeMismatch, "the rows have {} features, the model has {}", x.cols(),
         inputs_);
  }
  Matrix z(x.rows(), dims());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const auto out = z.row(i);
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const double value = scaled(x(i, columns_[k]), center_[k], scale_[k]);
      if (projection_.cols() == 0) {
        out[k] = value;
        continue;
      }
      const auto weights = projection_.row(k);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += value * weights[j];
    }
  }
  return z;
}

void FeatureMap::save(const TensorWriter& out) const {
  out.value("inputs", inputs_);
  const std::vector<std::int64_t> columns(columns_.begin(), columns_.end());
  out.tensor("columns", columns);
  out.tensor("center", center_);
  out.tensor("scale", scale_);
  if (projection_.cols() > 0) {
    out.tensor("projection", projection_.values(), {projection_.rows(), projection_.cols()});
  }
}

FeatureMap FeatureMap::load(const TensorReader& in) {
  FeatureMap map;
  map.inputs_ = in.count("inputs", std::numeric_limits<std::uint32_t>::max());
  for (const std::int64_t column : in.list<std::int64_t>("columns")) {
    if (column < 0 || static_cast<std::uint64_t>(column) >= map.inputs_) {
      fail(ErrorCode::kCorruptFile, "the model file names feature {} of {}", column, map.inputs_);
    }
    map.columns_.push_back(static_cast<std::size_t>(column));
  }
  map.center_ = in.values<double>("center", {map.columns_.size()}, Must::kBeFinite);
  map.scale_ = in.values<double>("scale", {map.columns_.size()}, Must::kBeFinite);
  if (in.has_tensor("projection")) {
    const Shape projection = in.shape("projection");
    if (projection.size() != 2 || projection[0] != map.columns_.size() || projection[1] == 0) {
      fail(ErrorCode::kCorruptFile, "the model file's projection has the wrong shape");
    }
    map.projection_ = Matrix(in.values<double>("projection", projection, Must::kBeFinite),
                             projection[0], projection[1]);
  }
  if (std::ranges::count(map.scale_, 0.0) > 0) {
    fail(ErrorCode::kCorruptFile, "the model file's feature scales are not usable");
  }
  return map;
}

}  // namespace tare

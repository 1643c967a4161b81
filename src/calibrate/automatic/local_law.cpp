// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/local_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "calibrate/bandwidth/bandwidth.h"
#include "data/rows.h"

namespace tare::automatic {
namespace {

/// The range of values, wider by a share of it on either side.
Bounds bounds_of(std::span<const double> values, double share) {
  const auto [low, high] = std::ranges::minmax(values);
  return {low - share * (high - low), high + share * (high - low)};
}

/// All columns of a fit side by side, as predict sees those of new rows; only the chosen ones are
/// filled.
Matrix sparse_columns(const CrossFit& fit, std::span<const std::size_t> chosen,
                      std::span<const std::size_t> rows) {
  const std::size_t width = chosen.empty() ? 0 : std::ranges::max(chosen) + 1;
  Matrix all(rows.size(), width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::size_t j : chosen) all(i, j) = fit.column(j)[rows[i]];
  }
  return all;
}

std::vector<double> in_order(std::span<const double> values, std::span<const std::size_t> order) {
  std::vector<double> sorted;
  if (values.empty()) return sorted;
  for (const std::size_t row : order) sorted.push_back(values[row]);
  return sorted;
}

// Several candidates each search a bandwidth: with more rows than the first number in a race, which
// ends at the second.
constexpr std::size_t kRaceRows = 400;
constexpr std::size_t kMostRaceRows = 1'000;

/// For rows in time order: which tenth of them each place of the sample lies in.
std::vector<std::size_t> time_blocks(std::span<const double> residual,
                                     std::span<const double> weight) {
  constexpr std::size_t kBlocks = 10;
  std::vector<std::size_t> block;
  for (const std::size_t row : residual_order(residual, weight)) {
    block.push_back(row * kBlocks / residual.size());
  }
  return block;
}

}  // namespace

LocalLaw LocalLaw::fit(const Candidate& candidate, const CrossFit& fit,
                       std::span<const std::size_t> x_columns, SnqOptions options, Seed seed,
                       const Execution& how) {
  const RegressionData& rows = fit.rows();
  LocalLaw law;
  law.candidate_ = candidate;
  if (!x_columns.empty()) {
    law.candidate_.kernel.clear();
    law.candidate_.x_columns.assign(x_columns.begin(), x_columns.end());
  }
  law.center_ = bounds_of(rows.y, 0.5);
  if (candidate.log_scale) law.log_scale_ = bounds_of(fit.column(*candidate.log_scale), 0.1);

  const std::vector<std::size_t> all = all_rows(rows.y.size());
  const Matrix statistics = sparse_columns(fit, law.columns(), all);
  FeatureMapOptions map_options;
  if (law.sees_x()) map_options.columns = law.candidate_.x_columns;
  const Matrix source = fit.columns(law.candidate_.kernel);
  law.map_ = FeatureMap::fit(law.sees_x() ? rows.x : source.view(), rows.y, all, map_options, seed);

  std::vector<double> residual(rows.y.size());
  std::vector<double> unit;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double scale = law.scale(statistics.row(i));
    residual[i] = (rows.y[i] - law.center(statistics.row(i))) / scale;
    if (candidate.log_scale) unit.push_back(scale);
  }
  auto sample = std::make_shared<const LocalSample>(law.kernel_features(rows.x, statistics),
                                                    residual, rows.weight);
  if (candidate.smooth) {
    law.smooth_ =
        KernelQuantiles::fit({rows.x, residual, rows.weight}, {}, split(seed, 50), quietly(how));
    // SNQ with the same kernel says how many rows an answer rests on, and how near they are.
    options.kernel = KernelKind::kGaussian;
    options.bandwidth = law.choice_.bandwidth = law.smooth_->width();
    law.snq_.push_back(Snq(std::move(sample), options).with_support(how));
    return law;
  }
  const std::vector<double> sorted_unit = in_order(unit, residual_order(residual, rows.weight));
  const std::vector<std::size_t> block =
      fit.folds().in_time() ? time_blocks(residual, rows.weight) : std::vector<std::size_t>();
  const RowNotes notes{.block = block,
                       .unit = sorted_unit,
                       .marginal = true,
                       .all_left_out = kRaceRows,
                       .most_left_out = kMostRaceRows};
  law.choice_ = choose_bandwidth(*sample, notes, options, seed, how);
  options.bandwidth = law.choice_.bandwidth;
  law.snq_.push_back(Snq(std::move(sample), options).with_support(how));
  return law;
}

double LocalLaw::center(std::span<const double> statistics) const {
  if (!candidate_.center) return 0.0;
  return std::clamp(statistics[*candidate_.center], center_.low, center_.high);
}

double LocalLaw::scale(std::span<const double> statistics) const {
  if (!candidate_.log_scale) return 1.0;
  return std::exp(std::clamp(statistics[*candidate_.log_scale], log_scale_.low, log_scale_.high));
}

Matrix LocalLaw::kernel_features(MatrixView x, const Matrix& statistics) const {
  if (sees_x()) return map_.apply(x);
  Matrix source(statistics.rows(), candidate_.kernel.size());
  for (std::size_t i = 0; i < source.rows(); ++i) {
    for (std::size_t k = 0; k < source.cols(); ++k)
      source(i, k) = statistics(i, candidate_.kernel[k]);
  }
  return map_.apply(source);
}

void LocalLaw::answer(const Matrix& statistics, Matrix& quantiles) const {
  for (std::size_t i = 0; i < quantiles.rows(); ++i) {
    const double middle = center(statistics.row(i));
    const double factor = scale(statistics.row(i));
    for (double& quantile : quantiles.row(i)) quantile = middle + factor * quantile;
  }
}

Prediction LocalLaw::predict(MatrixView x, const Matrix& statistics, std::span<const Level> levels,
                             const Execution& how) const {
  // A smooth law has the quantiles from elsewhere; how well a row is supported is asked all the
  // same.
  const std::span<const Level> of_snq = smooth_ ? std::span<const Level>() : levels;
  Prediction result = snq_.front().predict(kernel_features(x, statistics), of_snq, how);
  if (smooth_) {
    result.quantiles = Matrix(x.rows(), levels.size());
    smooth_->predict(x, levels, result.quantiles, how);
  }
  answer(statistics, result.quantiles);
  return result;
}

Matrix LocalLaw::predict_left_out(const CrossFit& fit, const Folds& groups,
                                  std::span<const std::size_t> rows, std::span<const Level> levels,
                                  const Execution& how) const {
  const RegressionData& data = fit.rows();
  const std::vector<std::size_t> all = all_rows(data.y.size());
  const Matrix statistics = sparse_columns(fit, columns(), all);
  const Matrix z = kernel_features(data.x, statistics);
  std::vector<double> residual(data.y.size());
  for (std::size_t i = 0; i < residual.size(); ++i) {
    residual[i] = (data.y[i] - center(statistics.row(i))) / scale(statistics.row(i));
  }
  Matrix result(rows.size(), levels.size());
  const Execution quiet = quietly(how);
  if (smooth_) {
    result = smooth_->predict_left_out({data.x, residual, data.weight}, groups.of_row, groups.count,
                                       rows, levels, quiet);
    answer(sparse_columns(fit, columns(), rows), result);
    return result;
  }
  for (std::size_t group = 0; group < groups.count; ++group) {
    std::vector<std::size_t> asked;  // places in `rows`
    std::vector<std::size_t> asked_rows;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (groups.of_row[rows[k]] != group) continue;
      asked.push_back(k);
      asked_rows.push_back(rows[k]);
    }
    const std::vector<std::size_t> others = groups.outside(group);
    const Snq snq(take_rows(z, others), take_rows(residual, others), take_rows(data.weight, others),
                  snq_.front().options());
    const Prediction own = snq.predict(take_rows(z, asked_rows), levels, quiet);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      std::ranges::copy(own.quantiles.row(k), result.row(asked[k]).begin());
    }
  }
  answer(sparse_columns(fit, columns(), rows), result);
  return result;
}

std::vector<std::size_t> LocalLaw::columns() const {
  std::vector<std::size_t> used = candidate_.kernel;
  if (candidate_.center) used.push_back(*candidate_.center);
  if (candidate_.log_scale) used.push_back(*candidate_.log_scale);
  return used;
}

void LocalLaw::renumber(std::span<const std::size_t> columns) {
  std::size_t next = 0;
  for (std::size_t& j : candidate_.kernel) j = columns[next++];
  if (candidate_.center) candidate_.center = columns[next++];
  if (candidate_.log_scale) candidate_.log_scale = columns[next++];
}

void LocalLaw::save(const TensorWriter& out) const {
  out.value("name", candidate_.name);
  out.value("kernel_columns", candidate_.kernel);
  if (candidate_.center) out.value("center", *candidate_.center);
  if (candidate_.log_scale) out.value("log_scale", *candidate_.log_scale);
  out.tensor("bounds",
             std::vector<double>{center_.low, center_.high, log_scale_.low, log_scale_.high});
  map_.save(out.part("features"));
  snq_.front().save(out.part("snq"));
  if (smooth_) {
    out.value("is_smooth", true);
    smooth_->save(out.part("smooth"));
  }
}

LocalLaw LocalLaw::load(const TensorReader& in, std::size_t features, std::size_t statistics) {
  LocalLaw law;
  law.candidate_.name = in.get<std::string>("name");
  constexpr std::size_t kMany = std::numeric_limits<std::uint32_t>::max();
  law.candidate_.kernel = in.counts("kernel_columns", kMany);
  if (in.has_value("center")) law.candidate_.center = in.count("center", kMany);
  if (in.has_value("log_scale")) law.candidate_.log_scale = in.count("log_scale", kMany);
  const auto bounds = in.values<double>("bounds", {4}, Must::kBeFinite);
  law.center_ = {bounds[0], bounds[1]};
  law.log_scale_ = {bounds[2], bounds[3]};
  law.map_ = FeatureMap::load(in.part("features"));
  law.snq_.push_back(Snq::load(in.part("snq")));
  law.choice_.bandwidth = law.snq_.front().options().bandwidth;
  if (in.has_value("is_smooth")) law.smooth_ = KernelQuantiles::load(in.part("smooth"), features);
  const std::size_t width = law.sees_x() ? features : law.candidate_.kernel.size();
  const bool sound = std::ranges::all_of(law.columns(), [&](auto j) { return j < statistics; }) &&
                     law.center_.low <= law.center_.high &&
                     law.log_scale_.low <= law.log_scale_.high && law.map_.inputs() == width &&
                     law.map_.dims() == law.snq_.front().dims();
  if (!sound)
    fail(ErrorCode::kCorruptFile, "the model file's candidate '{}' is damaged",
         law.candidate_.name);
  return law;
}

}  // namespace tare::automatic

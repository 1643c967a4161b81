// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/scorecard.h"

#include <algorithm>

#include "base/fail.h"
#include "evaluate/effective_sizes.h"
#include "tare/base/level.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

constexpr std::size_t kPitBins = 20;
constexpr double kConfidence = 0.9;

/// All levels one pass must predict: the metrics', the interval's two, the histogram's edges,
/// CRPS's.
struct Columns {
  std::vector<Level> levels;
  std::vector<Level> edges;  // of the histogram
  std::size_t interval = 0;
  std::size_t pit = 0;
  std::size_t crps = 0;
};

Columns make_columns() {
  Columns columns;
  columns.levels = metric_levels();
  const auto append = [&](const std::vector<Level>& more) {
    const std::size_t first = columns.levels.size();
    columns.levels.insert(columns.levels.end(), more.begin(), more.end());
    return first;
  };
  const auto [lower, upper] = interval_levels(kConfidence);
  columns.interval = append({lower, upper});
  for (std::size_t k = 1; k < kPitBins; ++k) {
    columns.edges.emplace_back(static_cast<double>(k) / static_cast<double>(kPitBins));
  }
  columns.pit = append(columns.edges);
  columns.crps = append(crps_levels());
  return columns;
}

const Columns& all_columns() {
  static const Columns kColumns = make_columns();
  return kColumns;
}

MatrixView middle_columns(const Matrix& matrix, std::size_t first, std::size_t count) {
  return {matrix.view().data() + first, matrix.rows(), count, matrix.cols()};
}

}  // namespace

void Scorecard::add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
                    const Execution& how) {
  if (rows.x.rows() != y.size()) {
    fail(ErrorCode::kShapeMismatch, "evaluate: {} rows of features, {} targets", rows.x.rows(),
         y.size());
  }
  if (y.empty()) return;
  Execution quantiles_only = how;
  quantiles_only.diagnostics = false;
  Prediction prediction = model.predict(rows, levels(), quantiles_only);
  add_effective_n(model, rows, quantiles_only, prediction);
  add(prediction, y);
}

void Scorecard::add_effective_n(const QuantileModel& model, const Rows& rows, const Execution& how,
                                Prediction& prediction) const {
  prediction.effective_n = effective_sizes(model, rows, effective_n_.size(), how);
}

std::span<const Level> Scorecard::levels() { return all_columns().levels; }

void Scorecard::add(const Prediction& prediction, std::span<const double> y) {
  const Columns& columns = all_columns();
  const Matrix& q = prediction.quantiles;
  if (q.rows() != y.size() || q.cols() < columns.levels.size()) {
    fail(ErrorCode::kShapeMismatch, "evaluate: {} x {} quantiles for {} targets and {} levels",
         q.rows(), q.cols(), y.size(), columns.levels.size());
  }
  if (y.empty()) return;
  const auto count = static_cast<double>(y.size());

  const auto jumps = target_jumps(y, middle_columns(q, 0, columns.levels.size()), columns.levels);
  jumps_.insert(jumps_.end(), jumps.begin(), jumps.end());
  y_.insert(y_.end(), y.begin(), y.end());
  for (std::size_t i = 0; i < q.rows(); ++i) {
    const auto row = q.row(i);
    quantiles_.insert(quantiles_.end(), row.begin(),
                      row.begin() + static_cast<std::ptrdiff_t>(columns.interval));
    lower_.push_back(row[columns.interval]);
    upper_.push_back(row[columns.interval + 1]);
  }
  crps_sum_ +=
      count * crps(y, middle_columns(q, columns.crps, columns.levels.size() - columns.crps));
  const auto pit =
      pit_histogram(y, middle_columns(q, columns.pit, kPitBins - 1), columns.edges, jumps);
  pit_sum_.resize(pit.size(), 0.0);
  for (std::size_t b = 0; b < pit.size(); ++b) pit_sum_[b] += count * pit[b];
  effective_n_.insert(effective_n_.end(), prediction.effective_n.begin(),
                      prediction.effective_n.end());
  for (const std::uint8_t flag : prediction.fallback) fallback_rows_ += flag;
}

Scores Scorecard::finish(Seed seed) const {
  if (y_.empty()) fail(ErrorCode::kInvalidArgument, "evaluate: there is no row to measure on");
  const std::vector<Level> levels = metric_levels();
  const MatrixView q(quantiles_.data(), y_.size(), levels.size());
  Scores scores;
  scores.rows = y_.size();
  scores.mace = mace(y_, q, levels, jumps_);
  scores.mace_floor = split_mace_floor(y_, q, levels, jumps_);
  scores.mace_counted = mace_counted(y_, q, levels);
  scores.agce = agce(y_, q, levels, split(seed, 0), jumps_);
  scores.agce_floor = split_agce_floor(y_, q, levels, split(seed, 1), jumps_);
  scores.agce_counted = agce_counted(y_, q, levels, split(seed, 0));
  scores.check_score = check_score(y_, q, levels);
  scores.crps = crps_sum_ / static_cast<double>(y_.size());
  scores.length_90 = interval_length(lower_, upper_);
  const auto [low_level, high_level] = interval_levels(kConfidence);
  scores.coverage_90 = split_coverage(y_, lower_, upper_, low_level, high_level, jumps_);
  scores.coverage_90_counted = interval_coverage(y_, lower_, upper_);
  scores.winkler_90 = winkler_score(y_, lower_, upper_, kConfidence);
  if (!effective_n_.empty()) {
    std::vector<double> sorted = effective_n_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    scores.effective_n_median = *middle;
  }
  scores.fallback_rows = fallback_rows_;
  scores.pit = pit_sum_;
  for (double& share : scores.pit) share /= static_cast<double>(y_.size());
  std::size_t hits = 0;
  for (std::size_t i = 0; i < y_.size(); ++i)
    hits += static_cast<std::size_t>(std::ranges::count(q.row(i), y_[i]));
  scores.hit_share = static_cast<double>(hits) / static_cast<double>(quantiles_.size());
  return scores;
}

}  // namespace tare

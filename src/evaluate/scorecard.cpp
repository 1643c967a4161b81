// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/scorecard.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"
#include "evaluate/effective_sizes.h"
#include "tare/base/level.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

constexpr std::size_t kPitBins = 20;

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
  const auto [lower, upper] = interval_levels(Scorecard::kConfidence);
  columns.interval = append({lower, upper});
  for (std::size_t k = 1; k < kPitBins; ++k) {
    columns.edges.emplace_back(static_cast<double>(k) / static_cast<double>(kPitBins));
  }
  columns.pit = append(columns.edges);
  columns.crps = append(crps_levels());
  return columns;
}

const Columns& all_columns() {
  static const Columns kAllColumns = make_columns();
  return kAllColumns;
}

MatrixView middle_columns(const Matrix& matrix, std::size_t first, std::size_t count) {
  return {matrix.view().data() + first, matrix.rows(), count, matrix.cols()};
}

std::size_t place_of(std::string_view score) {
  const auto table = score_table();
  const auto found = std::ranges::find(table, score, &ScoreInfo::name);
  if (found == table.end()) fail(ErrorCode::kInvalidArgument, "there is no score '{}'", score);
  return static_cast<std::size_t>(found - table.begin());
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
  if (y_.empty()) fail(ErrorCode::kInvalidArgument, "evaluate: there are no rows to score");
  const std::vector<Level> levels = metric_levels();
  const MatrixView q(quantiles_.data(), y_.size(), levels.size());
  const ScoredRows rows{.y = y_,
                        .q = q,
                        .levels = levels,
                        .jumps = jumps_,
                        .lower = lower_,
                        .upper = upper_,
                        .confidence = kConfidence,
                        .crps = crps_sum_ / static_cast<double>(y_.size()),
                        .effective_n = effective_n_,
                        .fallback_rows = fallback_rows_,
                        .group_seed = split(seed, 0),
                        .floor_seed = split(seed, 1)};
  Scores scores;
  scores.rows = y_.size();
  scores.pit = pit_sum_;
  for (double& share : scores.pit) share /= static_cast<double>(y_.size());
  for (const ScoreInfo& info : score_table()) scores.values.push_back(info.measure(rows));
  return scores;
}

std::optional<double> Scores::find(std::string_view name) const {
  const std::size_t place = place_of(name);
  return place < values.size() ? values[place] : std::nullopt;
}

void Scores::set(std::string_view name, double value) {
  values.resize(score_table().size());
  values[place_of(name)] = value;
}

double Scores::at(std::string_view name) const {
  return find(name).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace tare

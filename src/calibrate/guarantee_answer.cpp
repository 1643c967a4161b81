// SPDX-License-Identifier: BSD-3-Clause
// What a guaranteed model answers; how it comes about is in guarantee.cpp.
#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/guarantee.h"
#include "calibrate/row_blocks.h"

namespace tare {
namespace {

// Quantiles of all folds that are in memory at once: as many as caches hold.
constexpr std::size_t kBlockNumbers = 500'000;
constexpr std::size_t kLeastBlock = 64;  // rows

/// What is known about an answer of several models: their mean number of rows, the nearest row of
/// any, and whether one of them had none in reach or lies far from all. All models are of one
/// method.
void join_diagnostics(Prediction& all, const Prediction& one, double share) {
  if (all.effective_n.empty()) all.effective_n.resize(one.effective_n.size(), 0.0);
  for (std::size_t i = 0; i < one.effective_n.size(); ++i) {
    all.effective_n[i] += share * one.effective_n[i];
  }
  if (all.nearest.empty()) all.nearest = one.nearest;
  for (std::size_t i = 0; i < one.nearest.size(); ++i) {
    all.nearest[i] = std::min(all.nearest[i], one.nearest[i]);
  }
  if (all.fallback.empty()) all.fallback.resize(one.fallback.size(), 0);
  for (std::size_t i = 0; i < one.fallback.size(); ++i) all.fallback[i] |= one.fallback[i];
  if (all.outside.empty()) all.outside.resize(one.outside.size(), 0);
  for (std::size_t i = 0; i < one.outside.size(); ++i) all.outside[i] |= one.outside[i];
}

}  // namespace

void GuaranteedModel::check_groups(const Rows& rows) const {
  const bool fits = rows.group.empty() ? group_rows_.empty() || rows.x.rows() == 0
                                       : rows.group.size() == rows.x.rows();
  if (fits) return;
  fail(ErrorCode::kShapeMismatch,
       "predict: the model's guarantee holds within groups, and {} of {} rows have one",
       rows.group.size(), rows.x.rows());
}

/// Levels are known for rows that count alike, of a split exactly, of folds as far as it is proven.
bool GuaranteedModel::knows_levels() const {
  if (folds() > 1) return has_bound_;
  const FoldRanks& all = lines_.front();
  return !shift_ && all.mass() == all.rows() * all.largest();
}

double GuaranteedModel::delivered_by(const FoldRanks& line, Level level) const {
  if (folds() == 1) return line.folds().front().delivered(level);
  const bool upper = level.value() >= 0.5;
  if (!line.finite(level, line.largest())) return upper ? 1.0 : 0.0;
  const double alpha = upper ? 1.0 - level.value() : level.value();
  const double miss = cross_miss_bound(line.rows(), folds(), alpha);
  return upper ? 1.0 - miss : miss;
}

Matrix GuaranteedModel::delivered(const Rows& rows, std::span<const Level> levels) const {
  check_groups(rows);
  if (!knows_levels()) return {};
  Matrix of_line(lines_.size(), levels.size());
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      of_line(k, j) = delivered_by(lines_[k], levels[j]);
    }
  }
  Matrix result(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < result.rows(); ++i) {
    std::ranges::copy(of_line.row(line_of_row(rows, i)), result.row(i).begin());
  }
  return result;
}

Prediction GuaranteedModel::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                              const Execution& how) const {
  check_groups(rows);
  if (folds() == 1 && !shift_) return predict_places(rows, levels, how);
  std::size_t columns = 0;
  for (const auto& asked : asked_) columns += asked.size();
  const std::size_t block = std::max(kLeastBlock, kBlockNumbers / columns);
  Prediction result;
  result.quantiles = Matrix(rows.x.rows(), levels.size());
  std::size_t first = 0;
  do {
    const std::size_t count = std::min(block, rows.x.rows() - first);
    Prediction part;
    part.quantiles = Matrix(count, levels.size());
    predict_block(middle_of(rows, first, count), levels, how, part);
    std::ranges::copy(
        part.quantiles.values(),
        result.quantiles.values().begin() + static_cast<std::ptrdiff_t>(first * levels.size()));
    append_diagnostics(result, part);
    first += count;
  } while (first < rows.x.rows());
  return result;
}

/// Asks all folds' models at all knots that matter.
void GuaranteedModel::predict_block(const Rows& rows, std::span<const Level> levels,
                                    const Execution& how, Prediction& result) const {
  std::vector<Matrix> quantiles;
  for (std::size_t k = 0; k < folds(); ++k) {
    Prediction p = inner_[k]->predict({rows.x, rows.given}, asked_[k], how);
    join_diagnostics(result, p, 1.0 / static_cast<double>(folds()));
    quantiles.push_back(std::move(p.quantiles));
  }
  std::vector<double> weight(shift_ ? rows.x.rows() : 0);
  if (shift_) shift_->weights(rows.x, weight, how);
  constexpr std::size_t kMergedRows = 64;
  parallel_blocks(how, rows.x.rows(), kMergedRows, [&](std::size_t first, std::size_t last) {
    std::vector<std::span<const double>> row(folds());
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t k = 0; k < folds(); ++k) row[k] = quantiles[k].view().row(i);
      const std::size_t line = line_of_row(rows, i);
      const Mass fresh = shift_ ? scale_.of(weight[i]) : lines_[line].largest();
      merges_[line].answer(row, levels, fresh, result.quantiles.row(i));
    }
  });
}

/// One model, whose answers lie at the same knots for all rows of a line: it is asked at these.
Prediction GuaranteedModel::predict_places(const Rows& rows, std::span<const Level> levels,
                                           const Execution& how) const {
  std::vector<std::vector<KnotPlace>> places(lines_.size());  // of each level, for lines in use
  std::vector<std::size_t> column(knots_.size(), 0);          // 1: the knot is needed
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    const std::size_t line = line_of_row(rows, i);
    std::vector<KnotPlace>& own = places[line];
    if (!own.empty()) continue;
    for (const Level& level : levels) {
      own.push_back(lines_[line].folds().front().place(level));
      column[own.back().knot] = 1;
    }
  }
  std::vector<Level> asked;
  for (std::size_t k = 0; k < knots_.size(); ++k) {
    if (column[k] == 0) continue;
    column[k] = asked.size();
    asked.push_back(knots_[k]);
  }

  Prediction result = inner_.front()->predict({rows.x, rows.given}, asked, how);
  // Levels ascend, and so do their knots: where there is a knot for each, they are the columns.
  if (lines_.size() == 1 && asked.size() == levels.size()) {
    for (std::size_t j = 0; j < levels.size() && rows.x.rows() > 0; ++j) {
      const double beyond = places.front()[j].beyond;
      if (beyond == 0.0) continue;
      for (std::size_t i = 0; i < rows.x.rows(); ++i) {
        result.quantiles(i, j) = moved(result.quantiles(i, j), beyond);
      }
    }
    return result;
  }
  Matrix quantiles(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    const std::vector<KnotPlace>& own = places[line_of_row(rows, i)];
    for (std::size_t j = 0; j < levels.size(); ++j) {
      quantiles(i, j) = moved(result.quantiles(i, column[own[j].knot]), own[j].beyond);
    }
  }
  result.quantiles = std::move(quantiles);
  return result;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
// Predictions of a guaranteed model; guarantee.cpp has the fit.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/answers/merge_diagnostics.h"
#include "calibrate/answers/row_blocks.h"
#include "calibrate/guarantee/asked_knots.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/own_levels.h"

namespace tare {
namespace {

// Quantiles of all folds that are in memory at once: as many as caches hold.
constexpr std::size_t kBlockNumbers = 500'000;
constexpr std::size_t kLeastBlock = 64;  // rows
constexpr double kUnboundedEnd = std::numeric_limits<double>::infinity();

}  // namespace

void GuaranteedModel::check_groups(const Rows& rows) const {
  const bool fits = rows.group.empty() ? group_rows_.empty() || rows.x.rows() == 0
                                       : rows.group.size() == rows.x.rows();
  if (fits) return;
  fail(ErrorCode::kShapeMismatch,
       "predict: the model's guarantee holds within groups, but only {} of {} rows have one",
       rows.group.size(), rows.x.rows());
}

/// Levels are known for rows of equal weight: exactly for a split, as a proven bound for folds.
bool GuaranteedModel::knows_levels() const {
  if (folds() > 1) return has_bound_;
  const FoldRanks& all = ranks_.front();
  return !shift_ && !in_time_order_ && !rows_depend_ && all.mass() == all.rows() * all.largest();
}

double GuaranteedModel::delivered_by(const FoldRanks& line, Level level) const {
  const bool upper = level.value() >= 0.5;
  const bool infinite = outer_ == OuterLevels::kInfinite && !line.keeps(level, line.largest());
  if (infinite) return upper ? 1.0 : 0.0;
  if (folds() == 1) return own_delivered(line.folds().front(), levels_, level);
  const double least = 1.0 / static_cast<double>(line.rows() + 1);  // that a side can miss
  const double alpha = std::max(upper ? 1.0 - level.value() : level.value(), least);
  const double miss = cross_miss_bound(line.rows(), folds(), alpha);
  return upper ? 1.0 - miss : miss;
}

Matrix GuaranteedModel::delivered(const Rows& rows, std::span<const Level> levels) const {
  check_groups(rows);
  if (!knows_levels()) return {};
  Matrix of_line(ranks_.size(), levels.size());
  for (std::size_t k = 0; k < ranks_.size(); ++k) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      of_line(k, j) = delivered_by(ranks_[k], levels[j]);
    }
  }
  Matrix result(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < result.rows(); ++i) {
    const std::size_t line = ranks_of_row(rows, i);
    if (!rows.group.empty() && line == 0) {
      // The ranks of all rows say nothing about the rows of one group.
      std::ranges::transform(levels, result.row(i).begin(),
                             [](const Level& level) { return level.value() >= 0.5 ? 0.0 : 1.0; });
    } else {
      std::ranges::copy(of_line.row(line), result.row(i).begin());
    }
  }
  return result;
}

Matrix GuaranteedModel::own_quantiles(const Rows& rows, std::span<const Level> levels,
                                      const Execution& how) const {
  Matrix mean(rows.x.rows(), levels.size());
  const double share = 1.0 / static_cast<double>(folds());
  for (const auto& inner : inner_) {
    const Matrix own = inner->own_quantiles({rows.x, rows.given}, levels, how);
    for (std::size_t k = 0; k < own.values().size(); ++k)
      mean.values()[k] += share * own.values()[k];
  }
  return mean;
}

std::vector<std::uint8_t> GuaranteedModel::ranks_in_use(const Rows& rows) const {
  std::vector<std::uint8_t> used(ranks_.size(), 0);
  for (std::size_t i = 0; i < rows.x.rows(); ++i) used[ranks_of_row(rows, i)] = 1;
  return used;
}

/// A shift says for each row how much it counts, and so from which level on it needs the tail: from
/// that of the largest on all knots are needed.
bool GuaranteedModel::mark_tails(const Rows& rows, std::span<const Level> levels,
                                 std::span<std::uint8_t> flag) const {
  if (outer_ == OuterLevels::kInfinite) return false;
  const std::vector<std::uint8_t> used = ranks_in_use(rows);
  bool any = false;
  for (std::size_t k = 0; k < ranks_.size(); ++k) {
    if (used[k] == 0) continue;
    const Mass fresh = most_fresh(ranks_[k]);
    for (const Level& level : levels) {
      if (ranks_[k].keeps(level, fresh)) continue;
      any = true;
      const OwnTail tail = own_tail(knots_, level, ranks_[k].mass(), fresh);
      FoldMerge::mark_knots(tail.from, flag);
      FoldMerge::mark_knots(tail.to, flag);
      if (!shift_) continue;
      const auto from = flag.begin() + static_cast<std::ptrdiff_t>(tail.from.knot());
      if (level.value() >= 0.5) {
        std::fill(from, flag.end(), std::uint8_t{1});
      } else {
        std::fill(flag.begin(), from + 1, std::uint8_t{1});
      }
    }
  }
  return any;
}

Prediction GuaranteedModel::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                              const Execution& how) const {
  check_groups(rows);
  if (folds() == 1 && !shift_) return predict_places(rows, levels, how);
  const std::vector<MergeWindows::Target> targets = few_targets(rows, levels);
  if (!targets.empty()) return predict_few(rows, targets, levels, how);
  return predict_all_steps(rows, levels, how);
}

Prediction GuaranteedModel::predict_all_steps(const Rows& rows, std::span<const Level> levels,
                                              const Execution& how) const {
  std::vector<std::uint8_t> flag(knots_.size(), 0);
  const bool tails = mark_tails(rows, levels, flag);
  const Asked with_tails = tails ? make_asked(flag) : Asked{};
  const Asked& asked = tails ? with_tails : asked_;
  const std::size_t block = std::max(kLeastBlock, kBlockNumbers / asked.columns);
  Prediction result;
  result.quantiles = Matrix(rows.x.rows(), levels.size());
  std::size_t first = 0;
  do {
    const std::size_t count = std::min(block, rows.x.rows() - first);
    Prediction part;
    part.quantiles = Matrix(count, levels.size());
    predict_block(middle_of(rows, first, count), levels, asked, how, part);
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
                                    const Asked& asked, const Execution& how,
                                    Prediction& result) const {
  std::vector<Matrix> quantiles;
  for (std::size_t k = 0; k < folds(); ++k) {
    Prediction p = inner_[k]->predict({rows.x, rows.given}, asked.levels[k], how);
    merge_diagnostics(result, p, 1.0 / static_cast<double>(folds()));
    quantiles.push_back(std::move(p.quantiles));
  }
  std::vector<double> weight(shift_ ? rows.x.rows() : 0);
  if (shift_) shift_->weights(rows.x, weight, how);
  constexpr std::size_t kMergedRows = 64;
  parallel_blocks(how, rows.x.rows(), kMergedRows, [&](std::size_t first, std::size_t last) {
    std::vector<std::span<const double>> row(folds());
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t k = 0; k < folds(); ++k) row[k] = quantiles[k].view().row(i);
      const std::size_t line = ranks_of_row(rows, i);
      const Mass most = most_fresh(ranks_[line]);
      const Mass fresh = shift_ ? std::min(scale_.of(weight[i]), most) : most;
      asked.merges[line].answer(row, levels, fresh, result.quantiles.row(i));
    }
  });
}

/// One model, whose answers lie at the same positions for all rows with the same ranks: it is
/// evaluated at the knots around these.
Prediction GuaranteedModel::predict_places(const Rows& rows, std::span<const Level> levels,
                                           const Execution& how) const {
  /// How a level is answered.
  struct Answer {
    CurvePlace place;
    OwnTail tail;
    enum class Kind : std::uint8_t { kKept, kTail, kInfinite } kind = Kind::kKept;
  };
  const std::vector<std::uint8_t> used = ranks_in_use(rows);
  std::vector<std::uint8_t> flag(knots_.size(), 0);
  mark_tails(rows, levels, flag);
  std::vector<std::vector<Answer>> answers(ranks_.size());
  for (std::size_t line = 0; line < ranks_.size(); ++line) {
    if (used[line] == 0) continue;
    const FoldRanks& ranks = ranks_[line];
    for (const Level& level : levels) {
      const GuaranteeRanks& only = ranks.folds().front();
      const bool ranked = levels_ == SplitLevels::kRanked;
      Answer answer{
          .place = ranked ? only.place(level) : own_or_ranked_place(only, knots_, levels_, level),
          .tail = {}};
      if (!ranks.keeps(level, ranks.largest())) {
        answer.kind =
            outer_ == OuterLevels::kOwnTail ? Answer::Kind::kTail : Answer::Kind::kInfinite;
        answer.tail = own_tail(knots_, level, ranks.mass(), ranks.largest());
      }
      FoldMerge::mark_knots(answer.place, flag);
      answers[line].push_back(answer);
    }
  }
  const AskedKnots asked(knots_, flag);
  for (std::vector<Answer>& own : answers) {
    for (Answer& answer : own) {
      asked.to_columns(answer.place);
      if (answer.kind != Answer::Kind::kTail) continue;
      asked.to_columns(answer.tail.from);
      asked.to_columns(answer.tail.to);
    }
  }

  Prediction result = inner_.front()->predict({rows.x, rows.given}, asked.levels, how);
  Matrix quantiles(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    const std::span<const double> own = result.quantiles.view().row(i);
    const std::vector<Answer>& to = answers[ranks_of_row(rows, i)];
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const bool upwards = levels[j].value() >= 0.5;
      double value = value_at(own, to[j].place);
      if (to[j].kind == Answer::Kind::kTail) {
        value += tail_length(value_at(own, to[j].tail.from), value_at(own, to[j].tail.to), upwards);
      } else if (to[j].kind == Answer::Kind::kInfinite) {
        value = upwards ? kUnboundedEnd : -kUnboundedEnd;
      }
      quantiles(i, j) = value;
    }
  }
  result.quantiles = std::move(quantiles);
  return result;
}

}  // namespace tare

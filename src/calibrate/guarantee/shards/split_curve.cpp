// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/shards/split_curve.h"

#include "base/fail.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/guarantee_merge.h"

namespace tare {

std::vector<RowScore> score_quantiles(MatrixView quantiles, std::span<const double> y, Seed seed,
                                      std::uint64_t first) {
  const std::span<const Level> knots = guarantee_levels();
  if (quantiles.cols() != knots.size() || quantiles.rows() != y.size()) {
    fail(ErrorCode::kShapeMismatch, "scores: {} x {} quantiles for {} targets and {} knots",
         quantiles.rows(), quantiles.cols(), y.size(), knots.size());
  }
  std::vector<RowScore> scores;
  for (std::size_t i = 0; i < y.size(); ++i) {
    scores.push_back(score_row(quantiles.row(i), y[i]));
    Rng rng(split(seed, first + i));
    draw_within_mass(knots, rng, scores.back());
  }
  return scores;
}

SplitCurve::SplitCurve(std::span<const RowScore> scores, std::span<const Level> levels) {
  if (scores.empty()) fail(ErrorCode::kBadData, "no row is held out for the guarantee");
  const std::span<const Level> knots = guarantee_levels();
  const GuaranteeRanks ranks(scores);
  std::vector<std::uint8_t> flag(knots.size(), 0);
  for (const Level& level : levels) {
    Answer answer{.place = ranks.place(level),
                  .tail = {},
                  .is_kept = can_keep(level, ranks.mass(), ranks.largest()),
                  .upwards = level.value() >= 0.5};
    FoldMerge::mark_knots(answer.place, flag);
    if (!answer.is_kept) {
      answer.tail = own_tail(knots, level, ranks.mass(), ranks.largest());
      FoldMerge::mark_knots(answer.tail.from, flag);
      FoldMerge::mark_knots(answer.tail.to, flag);
    }
    answers_.push_back(answer);
  }
  std::vector<std::size_t> column(knots.size(), 0);
  for (std::size_t k = 0; k < knots.size(); ++k) {
    if (flag[k] == 0) continue;
    column[k] = asked_.size();
    asked_.push_back(knots[k]);
  }
  const auto to_columns = [&](CurvePlace& place) {
    place.at = static_cast<double>(column[place.knot()]) + place.share();
  };
  for (Answer& answer : answers_) {
    to_columns(answer.place);
    if (answer.is_kept) continue;
    to_columns(answer.tail.from);
    to_columns(answer.tail.to);
  }
}

Matrix SplitCurve::answer(MatrixView own) const {
  if (own.cols() != asked_.size()) {
    fail(ErrorCode::kShapeMismatch, "{} quantiles of each row, {} are needed", own.cols(),
         asked_.size());
  }
  Matrix result(own.rows(), answers_.size());
  for (std::size_t i = 0; i < own.rows(); ++i) {
    for (std::size_t j = 0; j < answers_.size(); ++j) {
      const Answer& to = answers_[j];
      double value = value_at(own.row(i), to.place);
      if (!to.is_kept) {
        value += tail_length(value_at(own.row(i), to.tail.from), value_at(own.row(i), to.tail.to),
                             to.upwards);
      }
      result(i, j) = value;
    }
  }
  return result;
}

}  // namespace tare

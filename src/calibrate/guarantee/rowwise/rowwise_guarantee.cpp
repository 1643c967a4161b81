// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/rowwise/rowwise_guarantee.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "calibrate/answers/row_blocks.h"
#include "calibrate/guarantee/asked_knots.h"
#include "calibrate/guarantee/conditional/conditional_ranks.h"
#include "calibrate/guarantee/guarantee_file.h"
#include "calibrate/guarantee/local/local_ranks.h"
#include "tare/calibrate/description.h"

namespace tare {
namespace {

// Rows whose bounds and quantiles at the knots are in memory at once.
constexpr std::size_t kRowwiseBlock = 2048;
constexpr double kNoEnd = std::numeric_limits<double>::infinity();

bool is_upper(const Level& level) { return level.value() >= 0.5; }

}  // namespace

RowwiseGuarantee::RowwiseGuarantee(Parts parts)
    : ModelAround(std::move(parts.inner)), parts_(std::move(parts)), knots_(guarantee_levels()) {}

RowwiseGuarantee::Spare RowwiseGuarantee::spare_of(Level level) const {
  const GuaranteeRanks& all = parts_.overall;
  Spare spare{.place = all.place(level), .tail = {}};
  if (can_keep(level, all.mass(), all.largest())) return spare;
  spare.tail = own_tail(knots_, level, all.mass(), all.largest());
  spare.has_tail = true;
  return spare;
}

double RowwiseGuarantee::value_of(std::span<const double> own, const RowBound& bound,
                                  const Spare& spare, bool upper) const {
  if (bound.kept) return value_at(own, bound.place);
  if (parts_.outer == OuterLevels::kInfinite) return upper ? kNoEnd : -kNoEnd;
  double value = value_at(own, spare.place);
  if (spare.has_tail) {
    value += tail_length(value_at(own, spare.tail.from), value_at(own, spare.tail.to), upper);
  }
  const double outermost = value_at(own, bound.place);
  return upper ? std::max(value, outermost) : std::min(value, outermost);
}

void widen_to_order(std::span<const Level> levels, std::span<double> answers) {
  const auto first = std::ranges::find_if(levels, is_upper);
  const auto uppers = static_cast<std::size_t>(first - levels.begin());
  for (std::size_t j = uppers + 1; j < answers.size(); ++j) {
    answers[j] = std::max(answers[j], answers[j - 1]);
  }
  const std::size_t known = std::min(uppers + 1, answers.size());
  for (std::size_t j = known; j-- > 1;) answers[j - 1] = std::min(answers[j - 1], answers[j]);
}

Prediction RowwiseGuarantee::predict_block(const Rows& rows, std::span<const Level> levels,
                                           std::span<const Spare> spare,
                                           const Execution& how) const {
  std::vector<RowBound> bounds(rows.x.rows() * levels.size());
  parts_.rule->bounds(rows, inner(), levels, how, bounds);
  std::vector<std::uint8_t> flag(knots_.size(), 0);
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    FoldMerge::mark_knots(bounds[k].place, flag);
    if (bounds[k].kept) continue;
    const Spare& own = spare[k % levels.size()];
    FoldMerge::mark_knots(own.place, flag);
    if (!own.has_tail) continue;
    FoldMerge::mark_knots(own.tail.from, flag);
    FoldMerge::mark_knots(own.tail.to, flag);
  }
  const AskedKnots asked(knots_, flag);
  std::vector<Spare> moved_spare(spare.begin(), spare.end());
  for (std::size_t j = 0; j < levels.size(); ++j) {
    asked.to_columns(moved_spare[j].place);
    asked.to_columns(moved_spare[j].tail.from);
    asked.to_columns(moved_spare[j].tail.to);
  }
  Prediction result = inner().predict({rows.x, rows.given}, asked.levels, how);
  Matrix quantiles(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    const std::span<const double> own = result.quantiles.view().row(i);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      RowBound bound = bounds[i * levels.size() + j];
      asked.to_columns(bound.place);
      quantiles(i, j) = value_of(own, bound, moved_spare[j], is_upper(levels[j]));
    }
    widen_to_order(levels, quantiles.row(i));
  }
  result.quantiles = std::move(quantiles);
  return result;
}

Prediction RowwiseGuarantee::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                               const Execution& how) const {
  parts_.rule->check(rows);
  std::vector<Spare> spare;
  for (const Level& level : levels) spare.push_back(spare_of(level));
  Prediction result;
  result.quantiles = Matrix(rows.x.rows(), levels.size());
  std::size_t first = 0;
  do {
    const std::size_t count = std::min(kRowwiseBlock, rows.x.rows() - first);
    const Prediction part = predict_block(middle_of(rows, first, count), levels, spare, how);
    std::ranges::copy(
        part.quantiles.values(),
        result.quantiles.values().begin() + static_cast<std::ptrdiff_t>(first * levels.size()));
    append_diagnostics(result, part);
    first += count;
  } while (first < rows.x.rows());
  return result;
}

Matrix RowwiseGuarantee::delivered(const Rows& rows, std::span<const Level> levels) const {
  parts_.rule->check(rows);
  if (!delivers_levels()) return {};
  Matrix result(rows.x.rows(), levels.size());
  std::vector<RowBound> bounds;
  for (std::size_t first = 0; first < rows.x.rows(); first += kRowwiseBlock) {
    const std::size_t count = std::min(kRowwiseBlock, rows.x.rows() - first);
    bounds.assign(count * levels.size(), {});
    parts_.rule->bounds(middle_of(rows, first, count), inner(), levels, {}, bounds);
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      result(first + k / levels.size(), k % levels.size()) = bounds[k].delivered;
    }
  }
  return result;
}

Matrix RowwiseGuarantee::own_quantiles(const Rows& rows, std::span<const Level> levels,
                                       const Execution& how) const {
  return inner().own_quantiles({rows.x, rows.given}, levels, how);
}

void RowwiseGuarantee::describe(Description& description) const {
  inner().describe(description);
  GuaranteeDescription own;
  own.rows = parts_.overall.rows();
  const GuaranteeRanks& all = parts_.overall;
  const bool strict = parts_.outer == OuterLevels::kInfinite;
  // Without ",strict" the proven coverage of a row is that of RowBound::delivered.
  own.has_bound = delivers_levels() && strict;
  for (const double confidence : {0.5, 0.8, 0.9, 0.95, 0.99}) {
    const auto [low, high] = interval_levels(confidence);
    const bool kept =
        can_keep(low, all.mass(), all.largest()) && can_keep(high, all.mass(), all.largest());
    IntervalCoverage interval{.confidence = confidence,
                              .on_average = kept || strict ? confidence : 0.0,
                              .kept = kept,
                              .infinite = !kept && strict};
    if (!kept && !strict) {
      interval.on_average = std::max(0.0, all.delivered(high) - all.delivered(low));
    }
    if (own.has_bound) interval.proven = interval.infinite ? 1.0 : confidence;
    own.intervals.push_back(interval);
  }
  own.rows_for_own_ranks = kRowsForNinety;
  own.assumes_unseen_predictions = given() > 0;
  own.rows_depend = parts_.rows_depend;
  parts_.rule->describe(own);
  description.guarantee = std::move(own);
}

void RowwiseGuarantee::save(const TensorWriter& whole) const {
  inner().save(whole);
  const TensorWriter out = whole.part("rowwise");
  out.value("outer", parts_.outer == OuterLevels::kOwnTail ? "own_tail" : "infinite");
  if (parts_.rows_depend) out.value("rows_depend", true);
  const FoldRanks line(std::vector<GuaranteeRanks>{parts_.overall});
  save_ranks(out, {&line, 1});
  parts_.rule->save(out);
}

std::unique_ptr<RowwiseGuarantee> RowwiseGuarantee::load(
    const TensorReader& whole, const GuaranteedModel::LoadInner& load_inner) {
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  };
  const TensorReader in = whole.part("rowwise");
  Parts parts;
  parts.inner = load_inner(whole);
  const auto outer = in.get<std::string>("outer");
  require(outer == "own_tail" || outer == "infinite");
  parts.outer = outer == "own_tail" ? OuterLevels::kOwnTail : OuterLevels::kInfinite;
  parts.rows_depend = in.has_value("rows_depend");
  const std::vector<FoldRanks> lines = load_ranks(in, 1, guarantee_levels().size());
  require(lines.size() == 1);
  parts.overall = lines.front().folds().front();
  const auto form = in.get<std::string>("form");
  require(form == LocalRanks::kForm || form == ConditionalRanks::kForm);
  if (form == LocalRanks::kForm) {
    parts.rule = LocalRanks::load(in, parts.inner->features());
  } else {
    parts.rule = ConditionalRanks::load(in, parts.inner->features());
  }
  return std::make_unique<RowwiseGuarantee>(std::move(parts));
}

}  // namespace tare

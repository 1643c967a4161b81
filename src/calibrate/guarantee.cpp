// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

constexpr std::size_t kScoredRows =
    2048;  // rows whose quantiles at all knots are in memory at once

std::vector<Level> make_guarantee_levels() {
  std::vector<double> lower = {0.000001, 0.00001, 0.00002, 0.00005, 0.0001, 0.0002};
  for (int k = 1; k < 40; ++k) lower.push_back(k / 2000.0);  // the double nearest to the decimal
  for (int k = 10; k < 250; ++k) lower.push_back(k / 500.0);
  std::vector<Level> levels;
  for (const double tau : lower) levels.emplace_back(tau);
  levels.emplace_back(0.5);
  for (std::size_t k = lower.size(); k-- > 0;) {
    levels.emplace_back(std::round(1e6 * (1.0 - lower[k])) / 1e6);
  }
  return levels;
}

Rows rows_of(const FitInput& input, std::size_t first, std::size_t count) {
  Rows rows{.x = input.x.middle_rows(first, count)};
  if (input.given.cols() > 0) rows.given = input.given.middle_rows(first, count);
  if (!input.group.empty()) rows.group = input.group.subspan(first, count);
  return rows;
}

/// Calls `use` with ever further rows and where they start.
template <class Use>
void for_blocks(const FitInput& input, const Use& use) {
  const std::size_t all = input.x.rows();
  for (std::size_t first = 0; first < all; first += kScoredRows) {
    use(rows_of(input, first, std::min(kScoredRows, all - first)), first);
  }
}

/// Progress was told by the fit, and nobody asks for diagnostics here.
Execution quiet(const Execution& how) {
  return {.threads = how.threads, .diagnostics = false, .progress = {}};
}

std::vector<RowScore> score_rows(const QuantileModel& model, std::span<const Level> knots,
                                 const FitInput& input, const Execution& how) {
  std::vector<RowScore> scores;
  scores.reserve(input.x.rows());
  for_blocks(input, [&](const Rows& rows, std::size_t first) {
    const Prediction p = model.predict({rows.x, rows.given}, knots, how);
    for (std::size_t i = 0; i < rows.x.rows(); ++i) {
      scores.push_back(score_row(p.quantiles.row(i), input.y[first + i]));
    }
  });
  return scores;
}

/// Infinity of one sign is never added to the other.
double moved(double quantile, double beyond) {
  return std::isinf(beyond) ? beyond : quantile + beyond;
}

double pinball_at(double y, double q, double tau) {
  return std::max(tau * (y - q), (tau - 1.0) * (y - q));
}

/// Mean over rows and levels, in the order of the rows.
double mean_pinball(const QuantileModel& model, std::span<const Level> levels,
                    const FitInput& input, bool with_groups, const Execution& how) {
  double sum = 0.0;
  for_blocks(input, [&](const Rows& rows, std::size_t first) {
    Rows asked = rows;
    if (!with_groups) asked.group = {};
    const Prediction p = model.predict(asked, levels, how);
    for (std::size_t i = 0; i < rows.x.rows(); ++i) {
      for (std::size_t j = 0; j < levels.size(); ++j) {
        sum += pinball_at(input.y[first + i], p.quantiles(i, j), levels[j].value());
      }
    }
  });
  return sum / static_cast<double>(input.x.rows()) / static_cast<double>(levels.size());
}

/// Several lists of the same length one after the other, as a tensor of two dimensions.
template <class T>
void append(std::vector<T>& all, const std::vector<T>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

/// Takes the next `count` of `all`, from `next` on.
template <class T>
std::vector<T> take_next(const std::vector<T>& all, std::size_t& next, std::size_t count) {
  if (count > all.size() - next) {
    fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  }
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(next);
  next += count;
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

std::span<const Level> guarantee_levels() {
  static const std::vector<Level> kLevels = make_guarantee_levels();
  return kLevels;
}

GuaranteedModel::GuaranteedModel(std::unique_ptr<const QuantileModel> inner,
                                 const FitInput& held_out, const Execution& how)
    : inner_(std::move(inner)), knots_(guarantee_levels().begin(), guarantee_levels().end()) {
  if (held_out.x.rows() == 0) fail(ErrorCode::kBadData, "no row is held out for the guarantee");
  const Execution silent = quiet(how);
  const std::vector<RowScore> scores = score_rows(*inner_, knots_, held_out, silent);
  ranks_.emplace_back(scores, knots_.size());
  set_groups(held_out.group, scores);
  cost_ = measure(held_out, silent);
}

void GuaranteedModel::set_groups(std::span<const std::uint32_t> group,
                                 std::span<const RowScore> scores) {
  if (group.empty()) return;
  std::vector<std::vector<RowScore>> by_group(std::ranges::max(group) + std::size_t{1});
  for (std::size_t i = 0; i < group.size(); ++i) by_group[group[i]].push_back(scores[i]);
  for (const std::vector<RowScore>& own : by_group) {
    group_rows_.push_back(static_cast<std::int32_t>(own.size()));
    const bool enough = own.size() >= kRowsForNinety;
    group_ranks_.push_back(enough ? static_cast<std::int32_t>(ranks_.size()) : 0);
    if (enough) ranks_.emplace_back(own, knots_.size());
  }
}

bool GuaranteedModel::all_finite(Level level) const {
  return std::ranges::all_of(ranks_, [&](const GuaranteeRanks& ranks) {
    return std::isfinite(ranks.place(level).beyond);
  });
}

GuaranteedModel::Cost GuaranteedModel::measure(const FitInput& held_out,
                                               const Execution& how) const {
  std::vector<Level> levels = metric_levels();
  std::erase_if(levels, [&](const Level& level) { return !all_finite(level); });
  if (levels.empty()) return {};
  return {.without = mean_pinball(*inner_, levels, held_out, false, how),
          .with = mean_pinball(*this, levels, held_out, true, how),
          .levels = levels.size()};
}

void GuaranteedModel::check_groups(const Rows& rows) const {
  const bool fits = rows.group.empty() ? group_rows_.empty() || rows.x.rows() == 0
                                       : rows.group.size() == rows.x.rows();
  if (fits) return;
  fail(ErrorCode::kShapeMismatch,
       "predict: the model's guarantee holds within groups, and {} of {} rows have one",
       rows.group.size(), rows.x.rows());
}

Matrix GuaranteedModel::delivered(const Rows& rows, std::span<const Level> levels) const {
  check_groups(rows);
  Matrix of_ranks(ranks_.size(), levels.size());
  for (std::size_t k = 0; k < ranks_.size(); ++k) {
    for (std::size_t j = 0; j < levels.size(); ++j) of_ranks(k, j) = ranks_[k].delivered(levels[j]);
  }
  Matrix result(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < result.rows(); ++i) {
    const std::size_t ranks = rows.group.empty() ? 0 : ranks_of(rows.group[i]);
    std::ranges::copy(of_ranks.row(ranks), result.row(i).begin());
  }
  return result;
}

Prediction GuaranteedModel::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                              const Execution& how) const {
  check_groups(rows);
  const auto ranks_of_row = [&](std::size_t i) {
    return rows.group.empty() ? 0 : ranks_of(rows.group[i]);
  };
  std::vector<std::vector<KnotPlace>> places(ranks_.size());  // of each level, for ranks in use
  std::vector<std::size_t> column(knots_.size(), 0);          // 1: the knot is needed
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    std::vector<KnotPlace>& own = places[ranks_of_row(i)];
    if (!own.empty()) continue;
    for (const Level& level : levels) {
      own.push_back(ranks_[ranks_of_row(i)].place(level));
      column[own.back().knot] = 1;
    }
  }
  std::vector<Level> asked;
  for (std::size_t k = 0; k < knots_.size(); ++k) {
    if (column[k] == 0) continue;
    column[k] = asked.size();
    asked.push_back(knots_[k]);
  }

  Prediction result = inner_->predict({rows.x, rows.given}, asked, how);
  Matrix quantiles(rows.x.rows(), levels.size());
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    const std::vector<KnotPlace>& own = places[ranks_of_row(i)];
    for (std::size_t j = 0; j < levels.size(); ++j) {
      quantiles(i, j) = moved(result.quantiles(i, column[own[j].knot]), own[j].beyond);
    }
  }
  result.quantiles = std::move(quantiles);
  return result;
}

void GuaranteedModel::save(const TensorWriter& whole) const {
  inner_->save(whole);
  const TensorWriter out = whole.part("guarantee");
  out.value("form", "split");
  out.value("rows", overall().rows());
  out.value("cost_levels", cost_.levels);
  std::vector<double> levels;
  for (const Level& level : knots_) levels.push_back(level.value());
  GuaranteeRanks::Counts all;
  std::vector<std::int32_t> rows;
  for (const GuaranteeRanks& ranks : ranks_) {
    const GuaranteeRanks::Counts own = ranks.counts();
    append(all.upper, own.upper);
    append(all.lower, own.lower);
    append(all.above, own.above);
    append(all.below, own.below);
    rows.push_back(static_cast<std::int32_t>(ranks.rows()));
  }
  const Shape table = {ranks_.size(), knots_.size()};
  out.tensor("levels", levels);
  out.tensor("cost", std::vector<double>{cost_.without, cost_.with});  // may be infinite
  out.tensor("rows", rows);
  out.tensor("upper", std::span<const std::int32_t>(all.upper), table);
  out.tensor("lower", std::span<const std::int32_t>(all.lower), table);
  out.tensor("above", all.above);
  out.tensor("below", all.below);
  out.tensor("group_rows", group_rows_);
  out.tensor("group_ranks", group_ranks_);
}

std::unique_ptr<GuaranteedModel> GuaranteedModel::load(const TensorReader& whole,
                                                       std::unique_ptr<const QuantileModel> inner) {
  const TensorReader in = whole.part("guarantee");
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  };
  require(in.get<std::string>("form") == "split");
  std::unique_ptr<GuaranteedModel> model(new GuaranteedModel);
  model->inner_ = std::move(inner);
  const std::vector<double> levels = in.values<double>("levels", in.shape("levels"));
  require(!levels.empty() &&
          std::ranges::adjacent_find(levels, std::greater_equal<>{}) == levels.end() &&
          levels.front() > 0.0 && levels.back() < 1.0);
  for (const double level : levels) model->knots_.emplace_back(level);

  const auto rows = in.values<std::int32_t>("rows", in.shape("rows"));
  const Shape table = {rows.size(), levels.size()};
  const auto upper = in.values<std::int32_t>("upper", table);
  const auto lower = in.values<std::int32_t>("lower", table);
  const auto above = in.values<double>("above", in.shape("above"));
  const auto below = in.values<double>("below", in.shape("below"));
  std::size_t next = 0;
  std::size_t next_lower = 0;
  std::size_t next_above = 0;
  std::size_t next_below = 0;
  for (const std::int32_t count : rows) {
    GuaranteeRanks::Counts own;
    own.upper = take_next(upper, next, levels.size());
    own.lower = take_next(lower, next_lower, levels.size());
    require(count > 0 && own.upper.back() <= count && own.upper.back() >= 0 &&
            own.lower.back() <= count && own.lower.back() >= 0);
    own.above = take_next(above, next_above, static_cast<std::size_t>(count - own.upper.back()));
    own.below = take_next(below, next_below, static_cast<std::size_t>(count - own.lower.back()));
    model->ranks_.push_back(GuaranteeRanks::from_counts(std::move(own)));
  }
  require(!rows.empty() && next_above == above.size() && next_below == below.size());

  model->group_rows_ = in.values<std::int32_t>("group_rows", in.shape("group_rows"));
  model->group_ranks_ = in.values<std::int32_t>("group_ranks", {model->group_rows_.size()});
  for (const std::int32_t place : model->group_ranks_) {
    require(place >= 0 && static_cast<std::size_t>(place) < rows.size());
  }
  const auto cost = in.values<double>("cost", {2});
  model->cost_ = {cost[0], cost[1], in.count("cost_levels", 100)};
  return model;
}

}  // namespace tare

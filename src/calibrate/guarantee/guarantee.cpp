// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/guarantee.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "calibrate/answers/level_order.h"
#include "calibrate/answers/row_blocks.h"
#include "calibrate/guarantee/guarantee_file.h"
#include "calibrate/guarantee/ranks/guarantee_mass.h"
#include "math/pinball.h"

namespace tare {
namespace {

constexpr std::size_t kScoredRows = 256;    // whose quantiles at all knots are in memory at once
constexpr std::size_t kCheckedRows = 2000;  // for the coverage of rows that were seen

std::vector<Level> make_guarantee_levels() {
  std::vector<double> lower = {0.000001, 0.00001, 0.00002, 0.00005, 0.0001, 0.0002};
  for (int k = 1; k < 40; ++k) lower.push_back(k / 2000.0);  // the double nearest to the decimal
  for (int k = 10; k < 250; ++k) lower.push_back(k / 500.0);
  return mirrored_levels(lower);
}

Rows rows_of(const FitInput& input, std::size_t first, std::size_t count) {
  return middle_of({input.x, input.given, input.group}, first, count);
}

/// Calls `use` with ever further rows and where they start.
template <class Use>
void for_blocks(const FitInput& input, const Use& use) {
  const std::size_t all = input.x.rows();
  for (std::size_t first = 0; first < all; first += kScoredRows) {
    use(rows_of(input, first, std::min(kScoredRows, all - first)), first);
  }
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
        sum += pinball_of_error(input.y[first + i] - p.quantiles(i, j), levels[j].value());
      }
    }
  });
  return sum / static_cast<double>(input.x.rows()) / static_cast<double>(levels.size());
}

void set_masses(std::span<RowScore> scores, std::span<const double> weight,
                const MassScale& scale) {
  for (std::size_t i = 0; i < weight.size(); ++i) scores[i].mass = scale.of(weight[i]);
}

/// Of the rows that are ranked; empty where there are no weights.
std::vector<double> ranked_weights(const FitInput& input, const FoldPlan& plan) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < input.weight.size(); ++i) {
    if (plan.fold_of_row[i] < plan.folds) weights.push_back(input.weight[i]);
  }
  return weights;
}

bool count_alike(std::span<const double> weights) {
  return std::ranges::adjacent_find(weights, std::not_equal_to<>{}) == weights.end();
}

/// Those of several folds have fewer steps, since all of them are merged for each new row.
GuaranteeRanks ranks_of(std::span<const RowScore> scores, std::size_t folds) {
  const GuaranteeRanks ranks(scores);
  return folds == 1 ? ranks : ranks.thinned();
}

std::string fold_name(std::size_t k) { return "fold" + std::to_string(k); }

}  // namespace

std::vector<RowScore> score_rows(const QuantileModel& model, std::span<const Level> knots,
                                 const FitInput& input, const Execution& how,
                                 std::vector<SetPlace>* sets) {
  constexpr std::uint64_t kSeedPart = 3300;
  const SetColumnsOfKnots set_columns(knots);
  Rng rng(split(input.seed, kSeedPart));
  std::vector<RowScore> scores;
  scores.reserve(input.x.rows());
  for_blocks(input, [&](const Rows& rows, std::size_t first) {
    const Prediction p = model.predict({rows.x, rows.given}, knots, how);
    for (std::size_t i = 0; i < rows.x.rows(); ++i) {
      scores.push_back(score_row(p.quantiles.row(i), input.y[first + i]));
      draw_within_mass(knots, rng, scores.back());
      if (sets == nullptr) continue;
      sets->push_back(set_columns.family(p.quantiles.row(i)).place_of(input.y[first + i]));
    }
  });
  return scores;
}

std::span<const Level> guarantee_levels() {
  static const std::vector<Level> kLevels = make_guarantee_levels();
  return kLevels;
}

GuaranteedModel::GuaranteedModel(OuterLevels outer)
    : knots_(guarantee_levels().begin(), guarantee_levels().end()), outer_(outer) {}

GuaranteedModel::GuaranteedModel(std::unique_ptr<const QuantileModel> inner,
                                 const FitInput& held_out, const Execution& how, OuterLevels outer,
                                 SplitLevels levels)
    : GuaranteedModel(outer) {
  levels_ = held_out.shift ? SplitLevels::kRanked : levels;
  if (held_out.x.rows() == 0) fail(ErrorCode::kBadData, "no row is held out for the guarantee");
  inner_.push_back(std::move(inner));
  const Execution silent = quietly(how);
  FoldScores fold{{}, {held_out.group.begin(), held_out.group.end()}};
  fold.scores = score_rows(*inner_.front(), knots_, held_out, silent, &fold.sets);
  shift_ = held_out.shift;
  scale_ = MassScale(held_out.weight);
  set_masses(fold.scores, held_out.weight, scale_);
  set_lines({&fold, 1});
  rank_sets(fold);
  asked_ = make_asked({});
  cost_ = measure(held_out, silent);
}

std::unique_ptr<GuaranteedModel> GuaranteedModel::cross(const FitInput& input, const FoldPlan& plan,
                                                        const FitRows& fit, const Execution& how,
                                                        OuterLevels outer) {
  constexpr std::uint64_t kSeedPart = 3100;
  std::unique_ptr<GuaranteedModel> model(new GuaranteedModel(outer));
  model->shift_ = input.shift;
  model->scale_ = MassScale(ranked_weights(input, plan));
  std::vector<FoldScores> folds;
  for (std::size_t k = 0; k < plan.folds; ++k) {
    const Partition parts = fold_partition(plan.fold_of_row, k, input.window);
    const InputPart others(input, parts.first);
    FitInput training = others.input();
    training.group = {};
    training.seed = split(input.seed, kSeedPart + k);
    model->inner_.push_back(fit(training, part_of(how, k, plan.folds)));
    const InputPart own(input, parts.second);
    FitInput unseen = own.input();
    unseen.seed = training.seed;  // which differs from fold to fold
    folds.push_back({score_rows(*model->inner_.back(), model->knots_, unseen, quietly(how)),
                     {unseen.group.begin(), unseen.group.end()}});
    set_masses(folds.back().scores, unseen.weight, model->scale_);
  }
  model->set_lines(folds);
  model->rows_depend_ = input.rows_depend;
  model->has_bound_ = plan.order == RowOrder::kNone && !input.rows_depend &&
                      count_alike(ranked_weights(input, plan));
  model->asked_ = model->make_asked({});
  model->seen_coverage_ = model->measure_coverage(input, plan, quietly(how));
  return model;
}

void GuaranteedModel::set_lines(std::span<const FoldScores> folds) {
  std::vector<GuaranteeRanks> overall;
  std::uint32_t groups = 0;
  for (const FoldScores& fold : folds) {
    overall.push_back(ranks_of(fold.scores, folds.size()));
    if (!fold.group.empty()) groups = std::max(groups, std::ranges::max(fold.group) + 1);
  }
  ranks_.emplace_back(std::move(overall));
  std::vector<std::vector<std::vector<RowScore>>> by_group(groups);
  for (auto& own : by_group) own.resize(folds.size());
  for (std::size_t k = 0; k < folds.size(); ++k) {
    for (std::size_t i = 0; i < folds[k].group.size(); ++i) {
      by_group[folds[k].group[i]][k].push_back(folds[k].scores[i]);
    }
  }
  for (const auto& own : by_group) add_group(own);
}

void GuaranteedModel::rank_sets(const FoldScores& fold) {
  std::vector<Mass> masses;
  std::vector<std::size_t> lines(fold.scores.size(), 0);
  for (const RowScore& score : fold.scores) masses.push_back(score.mass);
  for (std::size_t i = 0; i < fold.group.size(); ++i) lines[i] = line_of(fold.group[i]);
  set_ranks_ = SetRanks(fold.sets, masses, lines, ranks_.size());
}

/// Folds of a group that is large enough are of equal size (guarantee_folds).
void GuaranteedModel::add_group(std::span<const std::vector<RowScore>> folds) {
  std::size_t rows = 0;
  bool equal = true;
  for (const auto& fold : folds) {
    rows += fold.size();
    equal = equal && fold.size() == folds.front().size();
  }
  group_rows_.push_back(static_cast<std::int32_t>(rows));
  const bool enough = rows >= kRowsForNinety && equal;
  group_ranks_.push_back(enough ? static_cast<std::int32_t>(ranks_.size()) : 0);
  if (!enough) return;
  std::vector<GuaranteeRanks> own;
  for (const auto& fold : folds) own.push_back(ranks_of(fold, folds.size()));
  ranks_.emplace_back(std::move(own));
}

GuaranteedModel::Asked GuaranteedModel::make_asked(std::span<const std::uint8_t> flagged) const {
  Asked asked;
  std::vector<std::vector<std::size_t>> used(folds());
  for (std::size_t k = 0; k < folds(); ++k) {
    std::vector<std::uint8_t> flag(flagged.begin(), flagged.end());
    flag.resize(knots_.size(), 0);
    for (const FoldRanks& line : ranks_) FoldMerge::mark_knots(line.folds()[k], flag);
    asked.levels.emplace_back();
    for (std::size_t j = 0; j < knots_.size(); ++j) {
      if (flag[j] == 0) continue;
      used[k].push_back(j);
      asked.levels.back().push_back(knots_[j]);
    }
    asked.columns += used[k].size();
  }
  for (const FoldRanks& line : ranks_) asked.merges.emplace_back(line, used, knots_of_tails());
  return asked;
}

std::span<const Level> GuaranteedModel::knots_of_tails() const {
  return outer_ == OuterLevels::kOwnTail ? std::span<const Level>(knots_)
                                         : std::span<const Level>();
}

Mass GuaranteedModel::most_fresh(const FoldRanks& line) const {
  return shift_ ? scale_.of(shift_->largest()) : line.largest();
}

bool GuaranteedModel::all_keep(Level level) const {
  return std::ranges::all_of(
      ranks_, [&](const FoldRanks& line) { return line.keeps(level, most_fresh(line)); });
}

GuaranteedModel::Cost GuaranteedModel::measure(const FitInput& held_out,
                                               const Execution& how) const {
  std::vector<Level> levels = metric_levels();
  std::erase_if(levels, [&](const Level& level) { return !all_keep(level); });
  if (levels.empty()) return {};
  return {.without = mean_pinball(*inner_.front(), levels, held_out, false, how),
          .with = mean_pinball(*this, levels, held_out, true, how),
          .levels = levels.size()};
}

double GuaranteedModel::measure_coverage(const FitInput& input, const FoldPlan& plan,
                                         const Execution& how) const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < plan.fold_of_row.size(); ++i) {
    if (plan.fold_of_row[i] < plan.folds) rows.push_back(i);
  }
  const std::size_t step = rows.size() / kCheckedRows + 1;
  std::vector<std::size_t> some;
  for (std::size_t k = 0; k < rows.size(); k += step) some.push_back(rows[k]);
  const InputPart part(input, some);
  const FitInput seen = part.input();
  const auto [low, high] = interval_levels(0.9);
  const std::vector<Level> levels = {low, high};
  const Prediction p = predict(rows_of(seen, 0, some.size()), levels, how);
  std::size_t covered = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (p.quantiles(i, 0) <= seen.y[i] && seen.y[i] <= p.quantiles(i, 1)) ++covered;
  }
  return static_cast<double>(covered) / static_cast<double>(some.size());
}

void GuaranteedModel::save(const TensorWriter& whole) const {
  const TensorWriter out = whole.part("guarantee");
  out.value("rows", overall().rows());
  if (rows_depend_) out.value("rows_depend", true);
  if (folds() == 1) {
    inner_.front()->save(whole);
    out.value("form", "split");
    if (in_time_order_) out.value("in_time_order", true);
    if (levels_ != SplitLevels::kRanked) out.value("own_levels", true);
    if (levels_ == SplitLevels::kNear) out.value("near_levels", true);
    out.value("cost_levels", cost_.levels);
    out.tensor("cost", std::vector<double>{cost_.without, cost_.with});  // may be infinite
  } else {
    for (std::size_t k = 0; k < folds(); ++k) inner_[k]->save(whole.part(fold_name(k)));
    out.value("form", "cross");
    out.value("folds", folds());
    out.value("bound", has_bound_);
    out.value("seen_coverage", seen_coverage_);
  }
  std::vector<double> levels;
  for (const Level& level : knots_) levels.push_back(level.value());
  out.tensor("levels", levels);
  save_ranks(out, ranks_);
  set_ranks_.save(out);
  out.value("outer", outer_ == OuterLevels::kOwnTail ? "own_tail" : "infinite");
  out.tensor("group_rows", group_rows_);
  out.tensor("group_ranks", group_ranks_);
  if (shift_) {
    out.value("shifted", true);
    out.tensor("weight_scale", std::vector<double>{scale_.largest()});
    shift_->save(out.part("shift"));
  }
}

std::unique_ptr<GuaranteedModel> GuaranteedModel::load(const TensorReader& whole,
                                                       const LoadInner& load_inner) {
  const TensorReader in = whole.part("guarantee");
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  };
  // A file of an earlier version does not say, and was infinite.
  const std::string outer = in.has_value("outer") ? in.get<std::string>("outer") : "infinite";
  require(outer == "own_tail" || outer == "infinite");
  std::unique_ptr<GuaranteedModel> model(
      new GuaranteedModel(outer == "own_tail" ? OuterLevels::kOwnTail : OuterLevels::kInfinite));
  model->rows_depend_ = in.has_value("rows_depend");
  const auto form = in.get<std::string>("form");
  require(form == "split" || form == "cross");
  if (form == "split") {
    model->in_time_order_ = in.has_value("in_time_order");
    if (in.has_value("own_levels")) {
      model->levels_ = in.has_value("near_levels") ? SplitLevels::kNear : SplitLevels::kOwn;
    }
    model->inner_.push_back(load_inner(whole));
    const auto cost = in.values<double>("cost", {2});
    model->cost_ = {cost[0], cost[1], in.count("cost_levels", 100)};
  } else {
    const std::size_t folds = in.count("folds", kMostFolds);
    require(folds >= 2);
    for (std::size_t k = 0; k < folds; ++k) {
      model->inner_.push_back(load_inner(whole.part(fold_name(k))));
      const QuantileModel& inner = *model->inner_.back();
      require(inner.features() == model->features() && inner.given() == model->given());
    }
    model->has_bound_ = in.get<bool>("bound");
    model->seen_coverage_ = in.get<double>("seen_coverage");
    require(model->seen_coverage_ >= 0.0 && model->seen_coverage_ <= 1.0);
  }
  const std::vector<double> levels = in.list<double>("levels", Must::kRise);
  // All files have 571 so far. Every set of ranks keeps a number for each knot.
  constexpr std::size_t kMostKnots = 1'000;
  require(!levels.empty() && levels.size() <= kMostKnots && levels.front() > 0.0 &&
          levels.back() < 1.0);
  model->knots_.clear();
  for (const double level : levels) model->knots_.emplace_back(level);
  model->ranks_ = load_ranks(in, model->folds(), levels.size());
  if (form == "split") model->set_ranks_ = SetRanks::load(in, model->ranks_.size());
  model->group_rows_ = in.list<std::int32_t>("group_rows");
  require(std::ranges::all_of(model->group_rows_, [](std::int32_t rows) { return rows >= 0; }));
  model->group_ranks_ = in.values<std::int32_t>("group_ranks", {model->group_rows_.size()});
  for (const std::int32_t place : model->group_ranks_) {
    require(place >= 0 && static_cast<std::size_t>(place) < model->ranks_.size());
  }
  if (in.has_value("shifted")) {
    const double largest = in.values<double>("weight_scale", {1})[0];
    require(std::isfinite(largest) && largest > 0.0);
    model->scale_ = MassScale::of_largest(largest);
    model->shift_ = Shift::load(in.part("shift"));
    require(model->shift_->features() == model->features());
  }
  model->asked_ = model->make_asked({});
  return model;
}

}  // namespace tare

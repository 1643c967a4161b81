// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/conditional/conditional_ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "tare/calibrate/description.h"

namespace tare {
namespace {

constexpr std::size_t kPathRows = 64;           // of a task
constexpr std::size_t kMostFitted = 64U << 20;  // bytes of fits that are kept
constexpr std::size_t kLeastFitted = 4;         // however large they are

}  // namespace

ConditionalRanks::ConditionalRanks(ConditionFeatures features, ScoreScale scale, const Rows& rows,
                                   std::span<const RowScore> scores, Seed seed)
    : ConditionalRanks(std::move(features), std::move(scale)) {
  constexpr std::uint64_t kSeedPart = 3500;
  std::vector<std::uint8_t> inside(rows.x.rows());
  phi_ = features_.apply(rows, inside);
  Rng rng(split(seed, kSeedPart));
  for (const RowScore& score : scores) {
    upper_.push_back(scale_.upper(score.upper) + rng.uniform(0.25, 0.5) * ScoreScale::kStep);
    lower_.push_back(-scale_.lower(score.lower) + rng.uniform(0.25, 0.5) * ScoreScale::kStep);
  }
}

std::shared_ptr<const ImputedPath> ConditionalRanks::known_path(Level level) const {
  const std::lock_guard guard(lock_);
  const auto found = std::ranges::find(fitted_, level.value(), &Fitted::level);
  if (found == fitted_.end()) return nullptr;
  std::rotate(found, found + 1, fitted_.end());
  return fitted_.back().path;
}

void ConditionalRanks::keep_path(Level level, std::shared_ptr<const ImputedPath> path) const {
  const std::lock_guard guard(lock_);
  const std::size_t each = std::max<std::size_t>(1, path->bytes());
  fitted_.push_back({level.value(), std::move(path)});
  const std::size_t most = std::max(kLeastFitted, kMostFitted / each);
  if (fitted_.size() > most) fitted_.erase(fitted_.begin());
}

std::vector<std::shared_ptr<const ImputedPath>> ConditionalRanks::paths_of(
    std::span<const Level> levels, const Execution& how) const {
  std::vector<std::shared_ptr<const ImputedPath>> paths(levels.size());
  std::vector<std::size_t> missing;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    // The constant is one of the functions: no row has more than n / (n + 1).
    if (!can_keep(levels[j], upper_.size(), 1)) continue;
    paths[j] = known_path(levels[j]);
    if (paths[j] == nullptr) missing.push_back(j);
  }
  // Two callers may fit the same level at once; both have the same fit.
  parallel_for(how, missing.size(), [&](std::size_t k) {
    const double tau = levels[missing[k]].value();
    paths[missing[k]] = tau >= 0.5 ? std::make_shared<const ImputedPath>(phi_, upper_, tau)
                                   : std::make_shared<const ImputedPath>(phi_, lower_, 1.0 - tau);
  });
  for (const std::size_t j : missing) keep_path(levels[j], paths[j]);
  return paths;
}

CurvePlace ConditionalRanks::place_of(double threshold, bool upper) const {
  const double score = std::floor(threshold / ScoreScale::kStep) * ScoreScale::kStep;
  return scale_.place(upper ? score : -score);
}

void ConditionalRanks::bounds(const Rows& rows, const QuantileModel& /*inner*/,
                              std::span<const Level> levels, const Execution& how,
                              std::span<RowBound> result) const {
  std::vector<std::uint8_t> inside(rows.x.rows());
  const Matrix phi = features_.apply(rows, inside);
  const auto paths = paths_of(levels, how);
  parallel_blocks(how, rows.x.rows(), kPathRows, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const bool upper = levels[j].value() >= 0.5;
        RowBound& bound = result[i * levels.size() + j];
        bound = {.place = RowBound::innermost(upper), .delivered = upper ? 0.0 : 1.0};
        if (inside[i] == 0 || paths[j] == nullptr) continue;
        const auto threshold = paths[j]->threshold(phi.row(i));
        if (!threshold) continue;
        bound = {
            .place = place_of(*threshold, upper), .kept = true, .delivered = levels[j].value()};
      }
    }
  });
}

void ConditionalRanks::check(const Rows& rows) const {
  if (!features_.needs_groups() || rows.group.size() == rows.x.rows()) return;
  fail(ErrorCode::kShapeMismatch,
       "predict: the model's guarantee holds within groups, but only {} of {} rows have one",
       rows.group.size(), rows.x.rows());
}

void ConditionalRanks::describe(GuaranteeDescription& description) const {
  description.form = GuaranteeForm::kConditional;
  description.conditions.assign(features_.names().begin(), features_.names().end());
  description.functions = features_.dims();
}

void ConditionalRanks::save(const TensorWriter& out) const {
  out.value("form", kForm);
  features_.save(out.part("features"));
  out.tensor("unit", std::vector<double>{scale_.unit()});
  out.tensor("phi", phi_.values(), {phi_.rows(), phi_.cols()});
  out.tensor("score_upper", upper_);
  out.tensor("score_lower", lower_);
}

std::unique_ptr<const ConditionalRanks> ConditionalRanks::load(const TensorReader& in,
                                                               std::size_t inputs) {
  const double unit = in.values<double>("unit", {1}, Must::kBePositive)[0];
  std::unique_ptr<ConditionalRanks> ranks(new ConditionalRanks(
      ConditionFeatures::load(in.part("features"), inputs), ScoreScale(guarantee_levels(), unit)));
  ranks->upper_ = in.list<double>("score_upper", Must::kBeFinite);
  const std::size_t rows = ranks->upper_.size();
  ranks->lower_ = in.values<double>("score_lower", {rows}, Must::kBeFinite);
  const std::size_t dims = ranks->features_.dims();
  ranks->phi_ = Matrix(in.values<double>("phi", {rows, dims}, Must::kBeFinite), rows, dims);
  if (rows == 0 || rows > kMostGuaranteeRows) {
    fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  }
  return ranks;
}

}  // namespace tare

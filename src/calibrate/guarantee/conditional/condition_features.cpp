// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/conditional/condition_features.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "base/unknown_name.h"
#include "calibrate/guarantee/rowwise_rule.h"
#include "data/rows.h"
#include "math/exponential.h"
#include "math/kernel.h"

namespace tare {
namespace {

constexpr std::size_t kRowsForBumps = 2000;

/// The columns of a name: one of a number, several of a category ("name=value"), or by its place
/// where columns have no names.
std::vector<std::size_t> columns_named(const FitInput& input, const std::string& name) {
  std::vector<std::size_t> found;
  for (std::size_t j = 0; j < input.x.cols(); ++j) {
    const std::string own = j < input.names.size() ? input.names[j] : std::to_string(j);
    if (own == name || own.starts_with(name + "=")) found.push_back(j);
  }
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const std::string& own : input.names) {
    const std::string column = own.substr(0, own.find('='));
    if (std::ranges::find(known, column) == known.end()) known.push_back(column);
  }
  fail_unknown_name(ErrorCode::kInvalidArgument, "feature column", name, known, "guarantee");
}

}  // namespace

ConditionFeatures ConditionFeatures::fit(const FitInput& training, const FitInput& held_out,
                                         std::span<const std::string> conditions) {
  ConditionFeatures features;
  std::size_t bumps = 0;
  for (const std::string& condition : conditions) {
    features.names_.push_back(condition);
    if (bumps_of(condition) > 0) {
      bumps = bumps_of(condition);
    } else if (condition == "groups") {
      if (held_out.group.empty()) {
        fail(ErrorCode::kInvalidArgument,
             {.option = "guarantee",
              .remedies = {{"name the column of groups with", "group", "COLUMN", ""}}},
             "conditional:groups needs groups of rows, and there are none");
      }
      std::uint32_t last = std::ranges::max(held_out.group);
      if (!training.group.empty()) last = std::max(last, std::ranges::max(training.group));
      features.groups_ = std::size_t{last} + 1;
    } else {
      for (const std::size_t column : columns_named(training, condition)) {
        features.columns_.push_back(column);
      }
    }
  }
  std::ranges::sort(features.columns_);
  features.columns_.erase(std::ranges::unique(features.columns_).begin(), features.columns_.end());
  if (features.functions() + bumps > kMostConditions) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "guarantee",
          .remedies = {advice("name fewer columns, or columns with fewer categories")}},
         "the guarantee would hold under reweightings by {} functions of a row, but at most {} are "
         "possible",
         features.functions() + bumps, kMostConditions);
  }
  if (bumps > 0) features.choose_bumps(training, bumps);
  const Matrix values = features.evaluate({held_out.x, held_out.given, held_out.group});
  features.basis_ = SpanBasis(values);
  return features;
}

/// Centers far apart: each one is drawn with a probability in proportion to its squared distance
/// from those before it (k-means++).
void ConditionFeatures::choose_bumps(const FitInput& training, std::size_t count) {
  constexpr std::uint64_t kSeedPart = 3400;
  if (training.x.cols() == 0) {
    fail(ErrorCode::kInvalidArgument, {.option = "guarantee"},
         "conditional:kernel needs feature columns, and there are none");
  }
  Rng rng(split(training.seed, kSeedPart));
  std::vector<std::size_t> some = random_permutation(training.x.rows(), rng);
  some.resize(std::min(some.size(), kRowsForBumps));
  map_ = FeatureMap::fit(training.x, training.y, some, {}, training.seed);
  const Matrix z = map_.apply(take_rows(training.x, some));
  std::vector<double> away(z.rows(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> centers;
  std::size_t next = 0;
  while (centers.size() < count) {
    centers.push_back(next);
    double sum = 0.0;
    for (std::size_t i = 0; i < z.rows(); ++i) {
      away[i] = std::min(away[i], squared_distance(z.row(i), z.row(next)));
      sum += away[i];
    }
    if (!(sum > 0.0) || !std::isfinite(sum)) break;
    double drawn = rng.uniform() * sum;
    next = 0;
    while (next + 1 < z.rows() && drawn >= away[next]) drawn -= away[next++];
  }
  bump_ = take_rows(z, centers);
  // As wide as a center is far from its nearest neighbour.
  std::vector<double> nearest;
  for (std::size_t a = 0; a < bump_.rows(); ++a) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t b = 0; b < bump_.rows(); ++b) {
      if (a != b) least = std::min(least, squared_distance(bump_.row(a), bump_.row(b)));
    }
    nearest.push_back(std::sqrt(least));
  }
  std::ranges::sort(nearest);
  const double middle = nearest[nearest.size() / 2];
  width_ = std::isfinite(middle) && middle > 0.0 ? middle : 1.0;
}

Matrix ConditionFeatures::evaluate(const Rows& rows) const {
  Matrix result(rows.x.rows(), functions());
  const Matrix z = bump_.rows() > 0 ? map_.apply(rows.x) : Matrix();
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    const auto out = result.row(i);
    std::size_t to = 0;
    out[to++] = 1.0;
    for (const std::size_t column : columns_) out[to++] = rows.x(i, column);
    if (groups_ > 0) {
      if (rows.group[i] < groups_) out[to + rows.group[i]] = 1.0;
      to += groups_;
    }
    for (std::size_t k = 0; k < bump_.rows(); ++k) {
      const double squared = squared_distance(z.view().row(i), bump_.row(k));
      out[to++] = exp_negative(-0.5 * squared / (width_ * width_));
    }
  }
  return result;
}

Matrix ConditionFeatures::apply(const Rows& rows, std::span<std::uint8_t> inside) const {
  const Matrix values = evaluate(rows);
  Matrix result(values.rows(), dims());
  for (std::size_t i = 0; i < values.rows(); ++i) {
    inside[i] = basis_.apply(values.row(i), result.row(i)) ? 1 : 0;
  }
  return result;
}

void ConditionFeatures::save(const TensorWriter& out) const {
  out.value("conditions", names_);
  out.tensor("columns", std::vector<std::int64_t>(columns_.begin(), columns_.end()));
  out.value("groups", groups_);
  out.value("bumps", bump_.rows());
  basis_.save(out.part("span"));
  if (bump_.rows() == 0) return;
  map_.save(out.part("map"));
  out.tensor("centers", bump_.values(), {bump_.rows(), bump_.cols()});
  out.tensor("width", std::vector<double>{width_});
}

ConditionFeatures ConditionFeatures::load(const TensorReader& in, std::size_t inputs) {
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  };
  ConditionFeatures features;
  features.names_ = in.get<std::vector<std::string>>("conditions");
  for (const std::int64_t column : in.list<std::int64_t>("columns")) {
    require(column >= 0 && static_cast<std::uint64_t>(column) < inputs);
    features.columns_.push_back(static_cast<std::size_t>(column));
  }
  require(features.columns_.size() <= kMostConditions);
  features.groups_ = in.count("groups", kMostConditions);
  const std::size_t bumps = in.count("bumps", kMostBumps);
  if (bumps > 0) {
    features.map_ = FeatureMap::load(in.part("map"));
    require(features.map_.inputs() == inputs);
    const std::size_t dims = features.map_.dims();
    features.bump_ =
        Matrix(in.values<double>("centers", {bumps, dims}, Must::kBeFinite), bumps, dims);
    features.width_ = in.values<double>("width", {1}, Must::kBePositive)[0];
  }
  require(features.functions() <= kMostConditions);
  features.basis_ = SpanBasis::load(in.part("span"), features.functions());
  return features;
}

}  // namespace tare

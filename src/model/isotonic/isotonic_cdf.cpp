// SPDX-License-Identifier: BSD-3-Clause
#include "model/isotonic/isotonic_cdf.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "math/weighted_quantile.h"

namespace tare {
namespace {

constexpr std::size_t kMostKnots = std::numeric_limits<std::int32_t>::max();
// Thresholds whose rows are counted at once. The number is fixed, and no result depends on it.
constexpr std::size_t kThresholdBlock = 64;
// All weights together. Whole numbers below 2^31 have exact products and sums, so that values that
// are equal, or monotone in the threshold, stay so; a row's weight is rounded to half of a
// billionth of all.
constexpr double kAllWeight = 0x1.0p30;

/// Weights as whole numbers, at least 1; rows themselves where all weigh the same.
std::vector<std::uint64_t> whole_weights(std::span<const double> weight, std::size_t rows) {
  std::vector<std::uint64_t> whole(rows, 1);
  if (std::ranges::all_of(weight, [&](double w) { return w == weight.front(); })) return whole;
  const double largest = std::ranges::max(weight);
  double total = 0.0;
  for (const double w : weight) total += w / largest;
  for (std::size_t i = 0; i < rows; ++i) {
    const double share = weight[i] / largest / total;
    whole[i] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * kAllWeight));
  }
  return whole;
}

std::vector<std::size_t> order_of_values(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

/// Different predictions, or groups of neighbours, and the group of each row.
struct PredictionGroups {
  std::vector<double> prediction;
  std::vector<std::uint32_t> of_row;
};

PredictionGroups group_predictions(std::span<const double> prediction, std::size_t knots) {
  const std::vector<std::size_t> order = order_of_values(prediction);
  const std::size_t rows = order.size();
  std::size_t different = 1;
  for (std::size_t k = 1; k < rows; ++k) {
    different += prediction[order[k - 1]] < prediction[order[k]] ? 1U : 0U;
  }
  // A group ends where it has its share of the rows, and the prediction changes.
  const double share =
      different <= knots ? 0.0 : static_cast<double>(rows) / static_cast<double>(knots);
  PredictionGroups groups;
  groups.of_row.resize(rows);
  std::size_t first = 0;
  for (std::size_t k = 0; k < rows; ++k) {
    groups.of_row[order[k]] = static_cast<std::uint32_t>(groups.prediction.size());
    const bool changes = k + 1 == rows || prediction[order[k]] < prediction[order[k + 1]];
    const double wanted = share * static_cast<double>(groups.prediction.size() + 1);
    if (!changes || (k + 1 < rows && static_cast<double>(k + 1) < wanted)) continue;
    // The mean, from the group's first value: one value alone is kept to the bit.
    const double start = prediction[order[first]];
    double away = 0.0;
    for (std::size_t i = first; i <= k; ++i) {
      away += (0.5 * prediction[order[i]] - 0.5 * start) / static_cast<double>(k + 1 - first);
    }
    groups.prediction.push_back(std::clamp(start + 2.0 * away, start, prediction[order[k]]));
    first = k + 1;
  }
  return groups;
}

/// Different targets in order, or `knots` of them at equal steps, the first and the last included.
std::vector<double> choose_thresholds(std::span<const double> y, std::size_t knots) {
  std::vector<double> sorted(y.begin(), y.end());
  std::ranges::sort(sorted);
  std::vector<double> different = sorted;
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.size() <= knots) return different;
  std::vector<double> chosen;
  for (std::size_t k = 0; k < knots; ++k) {
    chosen.push_back(sorted[k * (sorted.size() - 1) / (knots - 1)]);
  }
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

/// A stretch of predictions with one value.
struct PooledStep {
  std::uint64_t below = 0;   // weight of the rows at or below the threshold
  std::uint64_t weight = 0;  // of all
  std::size_t end = 0;
};

/// Pools adjacent violators, so that below / weight falls from step to step.
void pool(std::span<const std::uint64_t> below, std::span<const std::uint64_t> weight,
          std::vector<PooledStep>& steps) {
  steps.clear();
  for (std::size_t j = 0; j < weight.size(); ++j) {
    PooledStep step{below[j], weight[j], j + 1};
    while (!steps.empty() && steps.back().below * step.weight <= step.below * steps.back().weight) {
      step.below += steps.back().below;
      step.weight += steps.back().weight;
      steps.pop_back();
    }
    steps.push_back(step);
  }
}

/// The steps of some thresholds.
struct ThresholdSteps {
  std::vector<std::int64_t> count;
  std::vector<std::int32_t> end;
  std::vector<double> value;
};

}  // namespace

IsotonicCdf IsotonicCdf::fit(std::span<const double> prediction, std::span<const double> y,
                             std::span<const double> weight, std::size_t knots,
                             const Execution& how) {
  assert(!y.empty() && prediction.size() == y.size() && knots >= 2);
  if (y.size() > kMostKnots / 2) {
    fail(ErrorCode::kInvalidArgument, "isotonic regression: {} rows, at most {} are possible",
         y.size(), kMostKnots / 2);
  }
  const std::vector<std::uint64_t> whole = whole_weights(weight, y.size());
  PredictionGroups groups = group_predictions(prediction, knots);
  IsotonicCdf cdf;
  cdf.prediction_ = std::move(groups.prediction);
  cdf.threshold_ = choose_thresholds(y, knots);
  std::vector<std::uint64_t> group_weight(cdf.prediction_.size(), 0);
  for (std::size_t i = 0; i < y.size(); ++i) group_weight[groups.of_row[i]] += whole[i];
  const std::vector<std::size_t> by_target = order_of_values(y);

  const std::size_t thresholds = cdf.threshold_.size();
  std::vector<ThresholdSteps> found((thresholds + kThresholdBlock - 1) / kThresholdBlock);
  parallel_blocks(how, thresholds, kThresholdBlock, [&](std::size_t first, std::size_t last) {
    ThresholdSteps& own = found[first / kThresholdBlock];
    std::vector<std::uint64_t> below(group_weight.size(), 0);
    std::vector<PooledStep> steps;
    std::size_t counted = 0;
    for (std::size_t k = first; k < last; ++k) {
      for (; counted < y.size() && y[by_target[counted]] <= cdf.threshold_[k]; ++counted) {
        below[groups.of_row[by_target[counted]]] += whole[by_target[counted]];
      }
      pool(below, group_weight, steps);
      own.count.push_back(static_cast<std::int64_t>(steps.size()));
      for (const PooledStep& step : steps) {
        own.end.push_back(static_cast<std::int32_t>(step.end));
        own.value.push_back(static_cast<double>(step.below) / static_cast<double>(step.weight));
      }
    }
  });
  std::vector<std::int32_t> end;
  std::vector<double> value;
  cdf.first_.push_back(0);
  for (const ThresholdSteps& block : found) {
    for (const std::int64_t count : block.count) cdf.first_.push_back(cdf.first_.back() + count);
    end.insert(end.end(), block.end.begin(), block.end.end());
    value.insert(value.end(), block.value.begin(), block.value.end());
  }
  cdf.end_ = Buffer<std::int32_t>(std::move(end));
  cdf.value_ = Buffer<double>(std::move(value));
  return cdf;
}

IsotonicCdf::Place IsotonicCdf::place(double prediction) const {
  const auto above = std::ranges::upper_bound(prediction_, prediction);
  if (above == prediction_.begin()) return {0, 0, 0.0};
  const auto from = static_cast<std::size_t>(above - prediction_.begin()) - 1;
  if (above == prediction_.end()) return {from, from, 0.0};
  const double low = 0.5 * prediction_[from];
  const double gap = 0.5 * *above - low;  // halves, so that it is finite
  const double share = gap > 0.0 ? (0.5 * prediction - low) / gap : 0.0;
  return {from, from + 1, std::clamp(share, 0.0, 1.0)};
}

double IsotonicCdf::value(std::size_t threshold, std::size_t prediction) const {
  const auto first = static_cast<std::size_t>(first_[threshold]);
  const auto count = static_cast<std::size_t>(first_[threshold + 1]) - first;
  const auto ends = end_.span().subspan(first, count);
  const auto step = std::ranges::upper_bound(ends, static_cast<std::int32_t>(prediction));
  return value_[first + static_cast<std::size_t>(step - ends.begin())];
}

double IsotonicCdf::value(std::size_t threshold, const Place& at) const {
  const double low = value(threshold, at.from);
  if (at.share == 0.0) return low;
  return (1.0 - at.share) * low + at.share * value(threshold, at.to);
}

double IsotonicCdf::cdf(double prediction, std::size_t k) const {
  return value(k, place(prediction));
}

void IsotonicCdf::quantiles(double prediction, std::span<const Level> levels,
                            std::span<double> out) const {
  const Place at = place(prediction);
  std::size_t first = 0;  // the answer of the level before: none lies below it
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double wanted = levels[j].value() * (1.0 - kTieSlack);
    std::size_t last = threshold_.size() - 1;  // where the probability is 1
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if (value(middle, at) >= wanted) {
        last = middle;
      } else {
        first = middle + 1;
      }
    }
    out[j] = threshold_[first];
  }
}

void IsotonicCdf::save(const TensorWriter& out) const {
  out.tensor("prediction", prediction_);
  out.tensor("threshold", threshold_);
  out.tensor("first", first_);
  out.tensor<std::int32_t>("end", end_.span(), {end_.size()});
  out.tensor<double>("value", value_.span(), {value_.size()});
}

IsotonicCdf IsotonicCdf::load(const TensorReader& in) {
  IsotonicCdf cdf;
  cdf.prediction_ = in.list<double>("prediction", Must::kRise);
  cdf.threshold_ = in.list<double>("threshold", Must::kRise);
  const std::size_t predictions = cdf.prediction_.size();
  const std::size_t thresholds = cdf.threshold_.size();
  const Shape steps = {in.length("end")};
  if (predictions == 0 || thresholds == 0 || predictions > kMostKnots) {
    fail(ErrorCode::kCorruptFile, "the model file has distributions of {} predictions, {} targets",
         predictions, thresholds);
  }
  cdf.first_ = in.values<std::int64_t>("first", {thresholds + 1});
  cdf.end_ = in.tensor<std::int32_t>("end", steps);
  cdf.value_ = in.tensor<double>("value", steps, Must::kNotBeNegative);
  for (std::size_t k = 0; k < thresholds; ++k) {
    const std::int64_t first = cdf.first_[k], last = cdf.first_[k + 1];
    bool fits = first >= 0 && first < last && last <= static_cast<std::int64_t>(steps[0]);
    std::int32_t before = 0;
    double value = 1.0;
    for (auto s = static_cast<std::size_t>(fits ? first : last); fits && std::cmp_less(s, last);
         ++s) {
      fits = cdf.end_[s] > before && cdf.value_[s] <= value;
      before = cdf.end_[s];
      value = cdf.value_[s];
    }
    if (!fits || std::cmp_not_equal(before, predictions)) {
      fail(ErrorCode::kCorruptFile, "the model file's probabilities of target {} are damaged", k);
    }
  }
  return cdf;
}

}  // namespace tare

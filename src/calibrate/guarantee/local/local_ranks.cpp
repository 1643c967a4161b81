// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/local/local_ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/local/kernel_draw.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "math/kernel.h"
#include "tare/calibrate/description.h"

namespace tare {
namespace {

constexpr std::size_t kLocalRows = 16;  // of a task
constexpr std::uint64_t kDrawPart = 3700;

/// A weight from 0 to 1. To a signed number, for which processors have an instruction.
Mass mass_of_weight(double weight) {
  return static_cast<Mass>(std::llrint(weight * static_cast<double>(kLargestMass)));
}

}  // namespace

struct LocalRanks::Scratch {
  std::vector<double> drawn, squared, weight;
  std::vector<Mass> mass;    // of the rows in the order of upper_
  std::vector<Mass> up_to;   // sums of these
  std::vector<Mass> low_to;  // the same in the order of lower_
};

LocalRanks::LocalRanks(LocalChoice choice, const Options& options, const Rows& rows,
                       const QuantileModel& inner, std::span<const RowScore> scores,
                       const Execution& how)
    : choice_(std::move(choice)), options_(options) {
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return scores[i].upper; });
  std::vector<std::uint32_t> place(scores.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    upper_.push_back(scores[order[k]].upper);
    place[order[k]] = k;
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return scores[i].lower; });
  for (const std::uint32_t i : order) {
    lower_.push_back(scores[i].lower);
    lower_row_.push_back(place[i]);
  }
  if (everywhere_alike()) return;
  const Matrix z = local_features(rows, inner, choice_.map, how);
  z_.resize(z.rows() * z.cols());
  for (std::size_t i = 0; i < z.rows(); ++i) {
    for (std::size_t j = 0; j < z.cols(); ++j) z_[j * z.rows() + place[i]] = z(i, j);
  }
}

bool LocalRanks::everywhere_alike() const noexcept { return std::isinf(choice_.bandwidth); }

Mass LocalRanks::weigh(std::span<const double> z, Seed seed, Scratch& scratch) const {
  const std::size_t rows = upper_.size();
  scratch.mass.resize(rows);
  if (everywhere_alike()) {
    std::ranges::fill(scratch.mass, kLargestMass);
    return kLargestMass;
  }
  scratch.drawn.assign(z.begin(), z.end());
  if (!options_.fixed) {
    Rng rng(split(seed, kDrawPart));
    draw_near(choice_.kernel, choice_.bandwidth, z, rng, scratch.drawn);
  }
  // The last entry is the new row.
  scratch.squared.assign(rows + 1, 0.0);
  scratch.weight.resize(rows + 1);
  for (std::size_t j = 0; j < z.size(); ++j) {
    const double at = scratch.drawn[j];
    const double* const column = z_.data() + j * rows;
    for (std::size_t i = 0; i < rows; ++i) {
      scratch.squared[i] += (column[i] - at) * (column[i] - at);
    }
    scratch.squared[rows] += (z[j] - at) * (z[j] - at);
  }
  kernel_weights(choice_.kernel, choice_.bandwidth, scratch.squared, scratch.weight);
  for (std::size_t i = 0; i < rows; ++i) scratch.mass[i] = mass_of_weight(scratch.weight[i]);
  return std::max(Mass{1}, mass_of_weight(scratch.weight[rows]));
}

void LocalRanks::bound_row(std::span<const Level> levels, Mass fresh, Scratch& scratch,
                           std::span<RowBound> result) const {
  static const Level kMiddle(0.5);
  const std::size_t rows = upper_.size();
  scratch.up_to.resize(rows);
  scratch.low_to.resize(rows);
  Mass sum = 0;
  Mass largest = fresh;
  for (std::size_t i = 0; i < rows; ++i) {
    scratch.up_to[i] = sum += scratch.mass[i];
    largest = std::max(largest, scratch.mass[i]);
  }
  Mass low_sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    scratch.low_to[i] = low_sum += scratch.mass[lower_row_[i]];
  }
  const double share = static_cast<double>(largest) / static_cast<double>(sum + fresh);
  const auto reaching = [](std::span<const CurvePlace> places, std::span<const Mass> up_to,
                           Mass target) {
    const auto at = std::ranges::lower_bound(up_to, target) - up_to.begin();
    return places[static_cast<std::size_t>(at)];
  };
  const auto upper_place = [&](Level level) {
    return reaching(upper_, scratch.up_to, std::min(upper_target(level, sum, fresh), sum));
  };
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const Level level = levels[j];
    const bool upper = level.value() >= 0.5;
    RowBound& bound = result[j];
    bound = {.place = RowBound::innermost(upper), .delivered = upper ? 0.0 : 1.0};
    bound.kept = sum > 0 && can_keep(level, sum, fresh);
    if (sum > 0) {
      bound.place = upper ? upper_place(level)
                          : std::min(reaching(lower_, scratch.low_to,
                                              std::max(lower_target(level, sum, fresh), Mass{1})),
                                     upper_place(kMiddle));
    }
    if (options_.outer == OuterLevels::kInfinite) {
      bound.delivered = level.value();
    } else if (sum > 0) {
      bound.delivered =
          upper ? std::min(level.value(), 1.0 - share) : std::max(level.value(), share);
    }
  }
}

void LocalRanks::bounds(const Rows& rows, const QuantileModel& inner, std::span<const Level> levels,
                        const Execution& how, std::span<RowBound> result) const {
  const Matrix z =
      everywhere_alike() ? Matrix(rows.x.rows(), 0) : local_features(rows, inner, choice_.map, how);
  parallel_blocks(how, rows.x.rows(), kLocalRows, [&](std::size_t first, std::size_t last) {
    thread_local Scratch scratch;
    for (std::size_t i = first; i < last; ++i) {
      const auto given = rows.given.cols() > 0 ? rows.given.row(i) : std::span<const double>();
      const Seed seed = seed_of_row(options_.seed, rows.x.row(i), given);
      const Mass fresh = weigh(z.row(i), seed, scratch);
      bound_row(levels, fresh, scratch, result.subspan(i * levels.size(), levels.size()));
    }
  });
}

void LocalRanks::describe(GuaranteeDescription& description) const {
  description.form = GuaranteeForm::kLocal;
  LocalGuaranteeDescription local;
  local.fixed = options_.fixed;
  local.kernel = kernel_name(choice_.kernel);
  local.bandwidth = choice_.bandwidth;
  local.tuned_on = choice_.tuned_on;
  local.usual_rows = choice_.usual_rows;
  if (!everywhere_alike()) {
    const std::size_t width = choice_.map.inputs() - 2;
    for (const std::size_t column : choice_.map.columns()) {
      if (column < width) {
        local.columns.push_back(column);
      } else {
        (column == width ? local.own_median : local.own_spread) = true;
      }
    }
  }
  description.local = std::move(local);
}

void LocalRanks::save(const TensorWriter& out) const {
  out.value("form", kForm);
  out.value("fixed", options_.fixed);
  out.value("draw_seed", options_.seed.value);
  out.value("kernel", kernel_name(choice_.kernel));
  out.tensor("bandwidth", std::vector<double>{choice_.bandwidth});
  out.value("tuned_on", choice_.tuned_on);
  out.tensor("usual_rows", std::vector<double>{choice_.usual_rows});
  if (everywhere_alike()) return;
  choice_.map.save(out.part("map"));
  const std::vector<std::int32_t> row(lower_row_.begin(), lower_row_.end());
  out.tensor("lower_row", row);
  out.tensor("z", std::span<const double>(z_), {choice_.map.dims(), upper_.size()});
}

std::unique_ptr<const LocalRanks> LocalRanks::load(const TensorReader& in, std::size_t inputs) {
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  };
  std::unique_ptr<LocalRanks> ranks(new LocalRanks);
  ranks->options_.fixed = in.get<bool>("fixed");
  ranks->options_.seed = Seed{in.count("draw_seed", std::numeric_limits<std::uint64_t>::max())};
  ranks->options_.outer =
      in.get<std::string>("outer") == "own_tail" ? OuterLevels::kOwnTail : OuterLevels::kInfinite;
  LocalChoice& choice = ranks->choice_;
  choice.kernel = parse_kernel(in.get<std::string>("kernel"));
  choice.bandwidth = in.values<double>("bandwidth", {1})[0];
  choice.tuned_on = in.count("tuned_on", std::numeric_limits<std::uint32_t>::max());
  choice.usual_rows = in.values<double>("usual_rows", {1}, Must::kNotBeNegative)[0];
  require(choice.kernel != KernelKind::kKnn && choice.bandwidth > 0.0);
  // The scores are those of the ranks of all rows, which the caller has checked.
  const std::size_t rows = in.length("upper_at");
  const auto places = [&](const std::string& side) {
    const auto at = in.values<double>(side + "_at", {rows});
    const auto beyond = in.values<double>(side + "_beyond", {rows});
    std::vector<CurvePlace> result(rows);
    for (std::size_t i = 0; i < rows; ++i) result[i] = {at[i], beyond[i]};
    return result;
  };
  ranks->upper_ = places("upper");
  ranks->lower_ = places("lower");
  ranks->lower_row_.resize(rows);
  std::iota(ranks->lower_row_.begin(), ranks->lower_row_.end(), 0U);
  if (ranks->everywhere_alike()) return ranks;
  choice.map = FeatureMap::load(in.part("map"));
  require(choice.map.inputs() == inputs + 2 && choice.map.dims() > 0);
  const auto row = in.values<std::int32_t>("lower_row", {rows});
  std::vector<std::uint8_t> seen(rows, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    require(row[i] >= 0 && static_cast<std::size_t>(row[i]) < rows &&
            seen[static_cast<std::size_t>(row[i])]++ == 0);
    ranks->lower_row_[i] = static_cast<std::uint32_t>(row[i]);
  }
  ranks->z_ = in.values<double>("z", {choice.map.dims(), rows}, Must::kBeFinite);
  return ranks;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "tare/decide/risk_control.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"
#include "decide/exact_sum.h"
#include "decide/written_number.h"

namespace tare {
namespace {

constexpr double kLargestBound = 1e100;  // products with it are exact (exact_sum.h)

std::vector<Level> make_risk_levels() {
  std::vector<Level> levels;
  for (const double tau : {1e-6, 1e-5, 1e-4, 2e-4, 5e-4}) levels.emplace_back(tau);
  for (int k = 1; k < 1'000; ++k) levels.emplace_back(k / 1000.0);
  for (const double tau : {0.9995, 0.9998, 0.9999, 0.99999, 0.999999}) levels.emplace_back(tau);
  return levels;
}

void check_target(const RiskTarget& target) {
  if (!(target.bound > 0.0 && target.bound <= kLargestBound)) {
    fail_option("bound", fmt::to_string(target.bound), "must be a positive number up to 1e100");
  }
  if (!(target.at_most > 0.0 && target.at_most < target.bound)) {
    fail_option("at_most", fmt::to_string(target.at_most),
                fmt::format("must lie strictly between 0 and the bound {}, which no loss exceeds",
                            target.bound));
  }
}

}  // namespace

std::span<const Level> risk_levels() {
  static const std::vector<Level> kLevels = make_risk_levels();
  return kLevels;
}

double UnitLoss::at(double action, double outcome) const {
  const double distance = side == Side::kUnder ? outcome - action : action - outcome;
  return distance > 0.0 ? rate * distance : 0.0;
}

UnitLoss UnitLoss::parse(std::string_view text) {
  const std::size_t mark = text.find('=');
  const std::string name = canonical_name(trim(text.substr(0, mark)));
  double rate = 0.0;
  if (mark != std::string_view::npos) {
    rate = parse_number(trim(text.substr(mark + 1))).value_or(0.0);
  }
  if ((name != "under" && name != "over") || !(rate > 0.0)) {
    fail_option("loss", text, "must be under=NUMBER or over=NUMBER with a positive number",
                {advice("under=1 is a loss of 1 for each unit that the action is too low")});
  }
  return {name == "under" ? Side::kUnder : Side::kOver, rate};
}

class RiskControl::Impl {
 public:
  /// The losses of all rows at one level.
  struct LevelSum {
    ExactSum below_bound;
    std::size_t at_bound = 0;  // each counts as the bound, the decimal number
  };

  Impl(std::size_t levels, const RiskTarget& given)
      : target(given), at_most(given.at_most), bound(given.bound), sums(levels) {}

  /// L + B <= alpha (n + 1), L the sum of the losses. All times 10^places, so that the decimals are
  /// whole numbers.
  bool holds(const LevelSum& sum) const {
    const int places = std::max(at_most.places(), bound.places());
    ExactSum difference = sum.below_bound.times(WrittenNumber::power_of_ten(places));
    difference.add(bound.scaled(places, sum.at_bound + 1));
    difference.add(at_most.scaled(places, rows + 1).times(-1.0));
    return difference.sign() <= 0;
  }

  /// The place of the k-th level from the side with the large losses.
  std::size_t from_large(std::size_t k) const {
    return target.side == UnitLoss::Side::kUnder ? k : sums.size() - 1 - k;
  }

  RiskTarget target;
  WrittenNumber at_most;
  WrittenNumber bound;
  std::vector<LevelSum> sums;
  std::size_t rows = 0;
};

RiskControl::RiskControl(std::size_t levels, RiskTarget target) {
  check_target(target);
  if (levels == 0) fail(ErrorCode::kInvalidArgument, "risk control needs at least one level");
  impl_ = std::make_unique<Impl>(levels, target);
}
RiskControl::~RiskControl() = default;
RiskControl::RiskControl(RiskControl&&) noexcept = default;
RiskControl& RiskControl::operator=(RiskControl&&) noexcept = default;

void RiskControl::add(std::span<const double> losses) {
  if (losses.size() != impl_->sums.size()) {
    fail(ErrorCode::kShapeMismatch, "risk control: {} losses of a row for {} levels", losses.size(),
         impl_->sums.size());
  }
  const std::uint64_t row = impl_->rows;
  const bool falls = impl_->target.side == UnitLoss::Side::kUnder;
  for (std::size_t j = 0; j < losses.size(); ++j) {
    if (!(losses[j] >= 0.0)) {
      fail(ErrorCode::kBadData, {.row = row}, "a loss is {}, but it must not be negative or NaN",
           losses[j]);
    }
    if (j == 0 || (falls ? losses[j] <= losses[j - 1] : losses[j] >= losses[j - 1])) continue;
    fail(ErrorCode::kBadData, {.row = row},
         "its loss {} with the action, from {} to {}, but it must never {}",
         falls ? "rises" : "falls", losses[j - 1], losses[j], falls ? "rise" : "fall");
  }
  for (std::size_t j = 0; j < losses.size(); ++j) {
    if (losses[j] >= impl_->target.bound) {
      ++impl_->sums[j].at_bound;
    } else {
      impl_->sums[j].below_bound.add(losses[j]);
    }
  }
  ++impl_->rows;
}

RiskChoice RiskControl::choose() const {
  const Impl& all = *impl_;
  RiskChoice choice;
  choice.rows = all.rows;
  choice.least_rows = least_rows(all.at_most, all.bound);
  // Sums are monotone as their terms are, so the first level that holds is found by halving.
  std::size_t low = 0;
  std::size_t high = all.sums.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (all.holds(all.sums[all.from_large(middle)])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == all.sums.size()) return choice;
  choice.place = all.from_large(low);
  const Impl::LevelSum& sum = all.sums[*choice.place];
  const auto n = static_cast<double>(all.rows);
  const double total =
      sum.below_bound.value() + static_cast<double>(sum.at_bound) * all.target.bound;
  choice.mean_loss = all.rows > 0 ? total / n : 0.0;
  choice.corrected = (total + all.target.bound) / (n + 1.0);
  choice.at_bound = sum.at_bound;
  return choice;
}

RiskChoice RiskControl::choose_or_fail() const {
  RiskChoice choice = choose();
  if (choice.place) return choice;
  if (choice.rows < choice.least_rows) {
    fail(ErrorCode::kBadData,
         {.remedies = {advice(fmt::format("give at least {} rows", choice.least_rows)),
                       advice("raise the expected loss that is allowed")}},
         "{} calibration rows are too few: the bound {} of one loss, divided by {}, is above the "
         "expected loss {} that is allowed",
         choice.rows, impl_->target.bound, choice.rows + 1, impl_->target.at_most);
  }
  fail(ErrorCode::kBadData,
       {.remedies = {advice("give more rows"), advice("raise the expected loss that is allowed"),
                     advice("improve the model")}},
       "no level from {} to {} keeps the expected loss at most {}: the losses of the {} "
       "calibration rows are too large",
       risk_levels().front().value(), risk_levels().back().value(), impl_->target.at_most,
       choice.rows);
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bands/shared_values.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/automatic/point_masses.h"
#include "calibrate/bands/level_curve.h"
#include "calibrate/guarantee/guarantee_split.h"

namespace tare {
namespace {

std::vector<double> widely_shared(std::span<const double> y) {
  constexpr std::size_t kShare = 10;
  std::vector<double> values;
  for (const automatic::PointMass& mass : automatic::find_point_masses(y)) {
    if (mass.rows * kShare > y.size()) values.push_back(mass.value);
  }
  return values;
}

/// The mean over folds may differ from what all folds say by a rounding.
bool is_one_of(const std::vector<double>& values, double quantile) {
  constexpr double kRounding = 1e-12;
  return std::ranges::any_of(values, [&](double value) {
    return std::abs(quantile - value) <= kRounding * std::abs(value);
  });
}

/// About `most` of `count` rows, evenly.
std::vector<std::size_t> some_rows(std::size_t count, std::size_t most) {
  const std::size_t step = std::max<std::size_t>(1, count / most);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < count; i += step) rows.push_back(i);
  return rows;
}

}  // namespace

bool takes_shared_values(const QuantileModel& model, const FitInput& input, const Execution& how) {
  constexpr std::size_t kAsked = 500;
  const std::vector<double> values = widely_shared(input.y);
  if (values.empty()) return true;
  const InputPart part(input, some_rows(input.y.size(), kAsked));
  const FitInput asked = part.input();
  const Matrix quantiles = model.own_quantiles({asked.x, asked.given}, curve_levels(), how);
  const auto share_of = [&](std::span<const double> numbers) {
    const auto found =
        std::ranges::count_if(numbers, [&](double number) { return is_one_of(values, number); });
    return static_cast<double>(found) / static_cast<double>(numbers.size());
  };
  return share_of(quantiles.values()) >= 0.5 * share_of(asked.y);
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/rows/given_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/fail.h"

namespace tare {
namespace {

constexpr double kLeastOfUsualSlope = 1e-3;  // of the median row, for a row without a spread
constexpr double kLeastOfMeanSlope = 1e-2;   // of the row, for an end without a spread

void check_levels(std::span<const double> levels) {
  if (levels.size() < 2) {
    fail(ErrorCode::kInvalidArgument,
         "{} given quantiles do not determine a spread: at least 2 are needed", levels.size());
  }
  for (std::size_t j = 0; j < levels.size(); ++j) {
    if (!(levels[j] > 0.0 && levels[j] < 1.0) || (j > 0 && !(levels[j - 1] < levels[j]))) {
      fail(ErrorCode::kInvalidArgument,
           "the levels of given quantiles must ascend inside (0, 1), but number {} is {}", j,
           levels[j]);
    }
  }
}

double mean_slope(std::span<const double> knots, std::span<const double> values) {
  return (values.back() - values.front()) / (knots.back() - knots.front());
}

}  // namespace

double RowLaw::answer(double u) const {
  if (u < u_.front()) return y_.front() + below_ * (u - u_.front());
  if (u >= u_.back()) return y_.back() + above_ * (u - u_.back());
  const auto next =
      static_cast<std::size_t>(std::upper_bound(u_.begin(), u_.end(), u) - u_.begin());
  const double share = (u - u_[next - 1]) / (u_[next] - u_[next - 1]);
  const double low = y_[next - 1];
  const double high = y_[next];
  return std::min(low + share * (high - low), high);  // rounding must not pass the knot
}

double RowLaw::residual(double y) const {
  if (y < y_.front()) return u_.front() + (y - y_.front()) / below_;
  if (y > y_.back()) return u_.back() + (y - y_.back()) / above_;
  const auto [first, last] = std::equal_range(y_.begin(), y_.end(), y);
  if (first != last) {  // one knot, or a step
    const double low = u_[static_cast<std::size_t>(first - y_.begin())];
    const double high = u_[static_cast<std::size_t>(last - y_.begin()) - 1];
    return low == high ? low : 0.5 * (low + high);
  }
  const auto next = static_cast<std::size_t>(first - y_.begin());
  const double share = (y - y_[next - 1]) / (y_[next] - y_[next - 1]);
  return u_[next - 1] + share * (u_[next] - u_[next - 1]);
}

void GivenLaw::set_levels() {
  knots_.clear();
  for (const double level : form_.levels) knots_.push_back(std::log(level) - std::log1p(-level));
}

GivenLaw GivenLaw::fit(const GivenForm& form, MatrixView given) {
  GivenLaw law;
  law.form_ = form;
  if (form.kind == GivenKind::kQuantiles) check_levels(form.levels);
  law.set_levels();
  law.check(given);
  if (form.kind != GivenKind::kQuantiles) return law;

  std::vector<double> slopes;
  for (std::size_t i = 0; i < given.rows(); ++i) {
    const auto [low, high] = std::ranges::minmax(given.row(i));
    if (low < high) slopes.push_back((high - low) / (law.knots_.back() - law.knots_.front()));
  }
  if (slopes.empty()) {
    law.least_slope_ = 1.0;  // every row has a point: residuals are y minus that
    return law;
  }
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  law.least_slope_ = std::max(kLeastOfUsualSlope * *middle, std::numeric_limits<double>::min());
  return law;
}

void GivenLaw::check(MatrixView given) const {
  if (given.cols() != form_.columns()) {
    fail(ErrorCode::kShapeMismatch, "{} given columns, but the form has {}", given.cols(),
         form_.columns());
  }
  if (form_.kind == GivenKind::kPoint) return;
  for (std::size_t i = 0; i < given.rows(); ++i) {
    const auto row = given.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!std::isfinite(row[j])) {
        fail(ErrorCode::kBadData, "row {}, given column {}: {} is not finite", i, j, row[j]);
      }
    }
    if (form_.kind == GivenKind::kMeanSd && !(row[1] > 0.0)) {
      fail(ErrorCode::kBadData, "row {}, given column 1: the standard deviation {} is not above 0",
           i, row[1]);
    }
    const auto [low, high] = std::ranges::minmax(row);
    if (form_.kind == GivenKind::kQuantiles && !std::isfinite(high - low)) {
      fail(ErrorCode::kBadData, "row {}: the given quantiles {} and {} are too far apart", i, low,
           high);
    }
  }
}

void GivenLaw::read(std::span<const double> row, RowLaw& out) const {
  if (form_.kind == GivenKind::kQuantiles) {
    read_quantiles(row, out);
    return;
  }
  out.u_.assign(1, 0.0);
  out.y_.assign(1, row[0]);
  out.unit_ = form_.kind == GivenKind::kMeanSd ? row[1] : 1.0;
  out.below_ = out.unit_;
  out.above_ = out.unit_;
}

void GivenLaw::read_quantiles(std::span<const double> row, RowLaw& out) const {
  out.u_ = knots_;
  out.y_.assign(row.begin(), row.end());
  std::sort(out.y_.begin(), out.y_.end());
  const double mean = mean_slope(out.u_, out.y_);
  const double least = mean > 0.0 ? kLeastOfMeanSlope * mean : least_slope_;
  const std::span<const double> u = out.u_;
  const std::span<const double> y = out.y_;
  out.unit_ = mean > 0.0 ? mean : least_slope_;
  out.below_ = std::max(mean_slope(u.first(2), y.first(2)), least);
  out.above_ = std::max(mean_slope(u.last(2), y.last(2)), least);
}

GivenLaw::Residuals GivenLaw::residuals(MatrixView given, std::span<const double> y) const {
  Residuals result;
  RowLaw law;
  for (std::size_t i = 0; i < y.size(); ++i) {
    read(given.row(i), law);
    result.u.push_back(law.residual(y[i]));
    result.unit.push_back(law.unit());
    if (!std::isfinite(result.u.back())) {
      fail(ErrorCode::kBadData,
           "row {}: the target {} is too far from the given distribution, whose spread is {}", i,
           y[i], law.unit());
    }
  }
  return result;
}

void GivenLaw::features(std::span<const double> row, std::span<double> out) const {
  RowLaw law;
  read(row, law);
  out[0] = law.center();
  if (out.size() > 1) out[1] = std::log(law.unit());
}

void GivenLaw::save(const TensorWriter& out) const {
  if (form_.kind == GivenKind::kPoint) return;
  out.value("kind", form_.kind == GivenKind::kMeanSd ? "mean_sd" : "quantiles");
  if (form_.kind == GivenKind::kMeanSd) return;
  out.value("levels", form_.levels);
  out.value("least_slope", least_slope_);
}

GivenLaw GivenLaw::load(const TensorReader& in) {
  GivenLaw law;
  if (!in.has_value("kind")) return law;
  const auto kind = in.get<std::string>("kind");
  if (kind == "mean_sd") {
    law.form_.kind = GivenKind::kMeanSd;
    return law;
  }
  if (kind != "quantiles") {
    fail(ErrorCode::kCorruptFile, "the model file's input is of an unknown kind '{}'", kind);
  }
  law.form_.kind = GivenKind::kQuantiles;
  law.form_.levels = in.get<std::vector<double>>("levels");
  law.least_slope_ = in.get<double>("least_slope");
  if (!(law.least_slope_ > 0.0) || !std::isfinite(law.least_slope_)) {
    fail(ErrorCode::kCorruptFile, "the model file's least slope is {}", law.least_slope_);
  }
  check_levels(law.form_.levels);
  law.set_levels();
  return law;
}

}  // namespace tare

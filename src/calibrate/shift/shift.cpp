// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/shift/shift.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"

namespace tare {
namespace {

/// Of a ratio's logarithm: beyond it a double's products would overflow or vanish.
double tame_exp(double log_ratio) { return std::exp(std::clamp(log_ratio, -200.0, 200.0)); }

}  // namespace

Shift::Shift(QuadraticTerms terms, std::vector<LogisticFit> fits, double scale)
    : terms_(std::move(terms)), fits_(std::move(fits)), scale_(scale) {}

double Shift::ratio_by(std::size_t fit, std::span<const double> terms) const {
  return scale_ * tame_exp(fits_[fit].log_odds(terms));
}

double Shift::ratio(std::span<const double> terms) const {
  double sum = 0.0;
  for (const LogisticFit& fit : fits_) sum += fit.log_odds(terms);
  return scale_ * tame_exp(sum / static_cast<double>(fits_.size()));
}

void Shift::weights(MatrixView x, std::span<double> out, const Execution& how) const {
  constexpr std::size_t kRowsAtOnce = 256;
  parallel_blocks(how, x.rows(), kRowsAtOnce, [&](std::size_t first, std::size_t last) {
    std::vector<double> terms(terms_.terms());
    for (std::size_t i = first; i < last; ++i) {
      terms_.write(x.row(i), terms);
      const double ratio = this->ratio(terms);
      out[i] = limits_.unit *
               (ratio < limits_.most ? ratio : limits_.most);  // what is no number counts the most
    }
  });
}

void Shift::save(const TensorWriter& out) const {
  terms_.save(out);
  std::vector<double> intercept, slope;
  for (const LogisticFit& fit : fits_) {
    intercept.push_back(fit.intercept);
    slope.insert(slope.end(), fit.slope.begin(), fit.slope.end());
  }
  out.tensor("intercept", intercept);
  out.tensor("slope", std::span<const double>(slope), {fits_.size(), terms_.terms()});
  out.tensor("limits",
             std::vector<double>{scale_, limits_.most, limits_.unit, limits_.effective_rows});
}

std::shared_ptr<const Shift> Shift::load(const TensorReader& in) {
  auto shift = std::make_shared<Shift>();
  shift->terms_ = QuadraticTerms::load(in);
  const auto intercept = in.values<double>("intercept", in.shape("intercept"));
  const std::size_t terms = shift->terms_.terms();
  const auto slope = in.values<double>("slope", {intercept.size(), terms});
  const auto limits = in.values<double>("limits", {4});
  const auto finite = [](double value) { return std::isfinite(value); };
  const auto positive = [](double value) { return value > 0.0 && std::isfinite(value); };
  if (intercept.empty() || !std::ranges::all_of(intercept, finite) ||
      !std::ranges::all_of(slope, finite) || !std::ranges::all_of(limits, positive)) {
    fail(ErrorCode::kCorruptFile, "the model file's shift is damaged");
  }
  for (std::size_t k = 0; k < intercept.size(); ++k) {
    const auto first = slope.begin() + static_cast<std::ptrdiff_t>(k * terms);
    shift->fits_.push_back({intercept[k], {first, first + static_cast<std::ptrdiff_t>(terms)}});
  }
  shift->scale_ = limits[0];
  shift->set_limits({limits[1], limits[2], limits[3]});
  return shift;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "series_problem.h"

#include <cmath>
#include <numbers>

#include "tare/base/params.h"
#include "tare/calibrate/methods.h"

namespace tare {

Series Series::draw(std::size_t rows, double carry, Seed seed) {
  Series series;
  Rng rng(seed);
  const auto wave = [&](double period, double phase, std::size_t t) {
    return std::sin(2.0 * std::numbers::pi * (static_cast<double>(t) / period + phase));
  };
  const double phases[] = {rng.uniform(), rng.uniform(), rng.uniform()};
  const auto slow = [&](std::size_t t) {
    return 1.2 * wave(400.0, phases[0], t) + 0.8 * wave(173.0, phases[1], t);
  };
  series.x = Matrix(rows, 2 * series.window);
  double noise = rng.normal();
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < series.window; ++k) {
      series.x(i, 2 * k) = slow(i + k);
      series.x(i, 2 * k + 1) = wave(400.0, phases[2], i + k);
    }
    const double now = slow(i + series.window - 1);
    noise = carry * noise + std::sqrt(1.0 - carry * carry) * rng.normal();
    const double sd = 0.3 + 0.7 / (1.0 + std::exp(-2.0 * now));
    series.y.push_back(1.5 * std::sin(1.2 * now) + 0.5 * now + sd * noise);
  }
  return series;
}

double coverage_of_the_future(const Series& series, std::size_t test, const char* method,
                              const char* params) {
  const std::size_t past = series.y.size() - test;
  const std::span<const double> y = series.y;
  FitInput input{.x = series.x.view().middle_rows(0, past), .y = y.first(past)};
  input.window = series.window;
  const auto model = fit_method(find_method(method), input, Params::parse(params));
  const auto [lower, upper] = interval_levels(0.9);
  const auto p = model->predict({series.x.view().middle_rows(past, test)}, {{lower, upper}});
  std::size_t inside = 0;
  for (std::size_t i = 0; i < test; ++i) {
    if (y[past + i] >= p.quantiles(i, 0) && y[past + i] <= p.quantiles(i, 1)) ++inside;
  }
  return static_cast<double>(inside) / static_cast<double>(test);
}

}  // namespace tare

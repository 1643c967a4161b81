// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/exceedance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tare {
namespace {

/// The share of `among` below each value; equal ones count half. Both ascend.
std::vector<double> places_among(std::span<const double> values, std::span<const double> among) {
  std::vector<double> places;
  std::size_t smaller = 0, up_to = 0;
  for (const double value : values) {
    while (smaller < among.size() && among[smaller] < value) ++smaller;
    while (up_to < among.size() && among[up_to] <= value) ++up_to;
    const auto twice = static_cast<double>(smaller + up_to);
    places.push_back(twice / (2.0 * static_cast<double>(among.size())));
  }
  return places;
}

double mean_of_terms(std::span<const double> terms) {
  double sum = 0.0;
  for (const double term : terms) sum += term;
  return sum / static_cast<double>(terms.size());
}

/// The variance of the mean of n terms, at least 1 / (12 n): without a change the terms are uniform
/// on an interval of length 1.
double variance_of_mean(std::span<const double> terms) {
  const auto count = static_cast<double>(terms.size());
  const double mean = mean_of_terms(terms);
  double squares = 0.0;
  for (const double term : terms) squares += (term - mean) * (term - mean);
  return std::max(squares / (count - 1.0), 1.0 / 12.0) / count;
}

/// What each x contributes to the mean of |2 F(Y) - 1|: the mean over y of
/// sign(2 F(y) - 1) 2 (1{x < y} + 1{x = y} / 2), up to a constant.
std::vector<double> outward_terms(std::span<const double> x, std::span<const double> y,
                                  std::span<const double> y_places) {
  std::vector<double> sums(y.size() + 1, 0.0);  // of the signs of y[k], y[k + 1], ...
  for (std::size_t k = y.size(); k-- > 0;) {
    const double side = y_places[k] - 0.5;
    sums[k] = sums[k + 1] + (side > 0.0 ? 1.0 : (side < 0.0 ? -1.0 : 0.0));
  }
  std::vector<double> terms;
  std::size_t smaller = 0, up_to = 0;
  for (const double value : x) {
    while (smaller < y.size() && y[smaller] < value) ++smaller;
    while (up_to < y.size() && y[up_to] <= value) ++up_to;
    terms.push_back((sums[smaller] + sums[up_to]) / static_cast<double>(y.size()));
  }
  return terms;
}

}  // namespace

Exceedance estimate_exceedance(std::span<const double> x, std::span<const double> y) {
  const std::vector<double> y_places = places_among(y, x);
  const std::vector<double> x_places = places_among(x, y);
  return {mean_of_terms(y_places), variance_of_mean(x_places), variance_of_mean(y_places)};
}

Exceedance estimate_outwardness(std::span<const double> x, std::span<const double> y) {
  const std::vector<double> y_places = places_among(y, x);
  std::vector<double> outward;
  for (const double place : y_places) outward.push_back(std::fabs(2.0 * place - 1.0));
  const std::vector<double> x_terms = outward_terms(x, y, y_places);
  return {mean_of_terms(outward), variance_of_mean(x_terms), variance_of_mean(outward)};
}

}  // namespace tare

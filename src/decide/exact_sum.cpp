// SPDX-License-Identifier: BSD-3-Clause
#include "decide/exact_sum.h"

#include <cmath>
#include <utility>

namespace tare {

void ExactSum::add(double term) {
  if (term == 0.0) return;
  std::size_t kept = 0;
  for (double part : parts_) {
    if (std::fabs(term) < std::fabs(part)) std::swap(term, part);
    const double sum = term + part;
    const double rest = part - (sum - term);  // exact, as |term| >= |part|
    if (rest != 0.0) parts_[kept++] = rest;
    term = sum;
  }
  parts_.resize(kept);
  if (term != 0.0) parts_.push_back(term);
}

void ExactSum::add_product(double a, double b) {
  const double product = a * b;
  add(product);
  add(std::fma(a, b, -product));  // what rounding dropped
}

void ExactSum::add(const ExactSum& other) {
  const std::vector<double> terms = other.parts_;  // `other` may be this
  for (const double part : terms) add(part);
}

ExactSum ExactSum::times(double factor) const {
  ExactSum result;
  for (const double part : parts_) result.add_product(part, factor);
  return result;
}

int ExactSum::sign() const noexcept {
  if (parts_.empty()) return 0;
  return parts_.back() > 0.0 ? 1 : -1;  // the others together are smaller
}

double ExactSum::value() const noexcept {
  double sum = 0.0;
  for (const double part : parts_) sum += part;  // from the smallest on
  return sum;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "decide/written_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace tare {
namespace {

constexpr int kMostPlaces = 12;
constexpr std::size_t kMostDigits = 15;

}  // namespace

double WrittenNumber::power_of_ten(int exponent) {
  double power = 1.0;
  for (int i = 0; i < exponent; ++i) power *= 10.0;
  return power;
}

WrittenNumber::WrittenNumber(double value) : value_(value) {
  // The shortest digits that read back as the double: "0.3", "3.25e-07".
  std::string shortest = fmt::format("{}", value);
  const std::size_t mark = shortest.find('e');
  int exponent = 0;
  if (mark != std::string::npos) {
    exponent = std::stoi(shortest.substr(mark + 1));
    shortest.resize(mark);
  }
  int places = 0;
  if (const std::size_t point = shortest.find('.'); point != std::string::npos) {
    places = static_cast<int>(shortest.size() - point - 1);
    shortest.erase(point, 1);
  }
  places -= exponent;
  while (places > 0 && shortest.size() > 1 && shortest.back() == '0') {
    shortest.pop_back();
    --places;
  }
  if (places < 0 || places > kMostPlaces) return;
  shortest.erase(0, std::min(shortest.find_first_not_of('0'), shortest.size() - 1));
  if (shortest.size() > kMostDigits) return;
  digits_ = std::stoull(shortest);
  places_ = places;
}

ExactSum WrittenNumber::scaled(int places, std::size_t count) const {
  ExactSum once;
  if (digits_ > 0) {
    once.add_product(static_cast<double>(digits_), power_of_ten(places - places_));
  } else {
    once.add_product(value_, power_of_ten(places));
  }
  // Two halves of the count are doubles, whatever it is.
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 32;
  ExactSum all = once.times(static_cast<double>(count % kHalf));
  all.add(once.times(static_cast<double>(count / kHalf) * static_cast<double>(kHalf)));
  return all;
}

std::size_t least_rows(const WrittenNumber& at_most, const WrittenNumber& bound) {
  const int places = std::max(at_most.places(), bound.places());
  const ExactSum needed = bound.scaled(places, 1);
  const auto enough = [&](std::size_t rows) {
    ExactSum difference = needed;
    difference.add(at_most.scaled(places, rows + 1).times(-1.0));
    return difference.sign() <= 0;
  };
  std::size_t high = 1;
  while (!enough(high) && high < (std::size_t{1} << 60)) high *= 2;
  std::size_t low = 0;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace tare

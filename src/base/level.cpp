// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/level.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/fail.h"

namespace tare {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kMaxDigits = 18;  // 10^18 fits 64 bits

}  // namespace

Level::Level(double tau) : tau_(tau) {
  if (!(tau > 0.0 && tau < 1.0)) {
    fail(ErrorCode::kInvalidArgument, "a quantile level must lie strictly between 0 and 1, got {}",
         tau);
  }

  // fmt prints the shortest decimal that reads back as the same double, "0.0625" or "6.25e-12".
  const std::string shortest = fmt::format("{}", tau);
  const std::size_t mark = shortest.find('e');
  const int exponent = mark == std::string::npos ? 0 : std::stoi(shortest.substr(mark + 1));
  std::string digits;
  int places = 0;  // tau = digits / 10^places
  bool after_point = false;
  for (const char c : shortest.substr(0, mark)) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    digits.push_back(c);
    if (after_point) ++places;
  }
  places -= exponent;
  if (places > kMaxDigits || digits.size() > kMaxDigits) return;
  numerator_ = std::stoull(digits);
  denominator_ = 1;
  for (int i = 0; i < places; ++i) denominator_ *= 10;
}

std::uint64_t Level::rank(std::uint64_t count) const noexcept {
  if (count == 0) return 0;
  if (denominator_ == 0) {  // below 1e-18 or so: no count of rows reaches a second rank
    const auto rank = static_cast<std::uint64_t>(
        std::ceil(static_cast<long double>(tau_) * static_cast<long double>(count)));
    return rank < 1 ? 1 : rank;
  }
  const Wide product = static_cast<Wide>(numerator_) * count;
  return static_cast<std::uint64_t>((product + denominator_ - 1) / denominator_);
}

std::uint64_t Level::rank_below(std::uint64_t count) const noexcept {
  if (denominator_ == 0) {
    return static_cast<std::uint64_t>(static_cast<long double>(tau_) *
                                      static_cast<long double>(count));
  }
  return static_cast<std::uint64_t>(static_cast<Wide>(numerator_) * count / denominator_);
}

std::uint64_t Level::central_rank(std::uint64_t count) const noexcept {
  if (denominator_ == 0) {
    const auto outside = 2.0L * static_cast<long double>(tau_) * static_cast<long double>(count);
    return count - static_cast<std::uint64_t>(outside);  // of a small level, so less than count
  }
  const std::uint64_t tail = std::min(numerator_, denominator_ - numerator_);
  return count - static_cast<std::uint64_t>(static_cast<Wide>(2 * tail) * count / denominator_);
}

std::vector<Level> metric_levels() {
  std::vector<Level> levels;
  levels.reserve(100);
  for (int j = 0; j < 100; ++j) levels.emplace_back(0.01 + 0.98 * j / 99.0);
  return levels;
}

std::pair<Level, Level> interval_levels(double confidence) {
  if (!(confidence > 0.0 && confidence < 1.0)) {
    fail(ErrorCode::kInvalidArgument,
         "an interval's confidence must lie strictly between 0 and 1, got {}", confidence);
  }
  // (1 - 0.9) / 2 is 0.04999999999999999 in binary; a person means 0.05. Twelve digits keep what
  // was written and drop the rounding.
  const auto tidy = [](double tau) { return Level{std::stod(fmt::format("{:.12g}", tau))}; };
  return {tidy((1.0 - confidence) / 2.0), tidy((1.0 + confidence) / 2.0)};
}

}  // namespace tare

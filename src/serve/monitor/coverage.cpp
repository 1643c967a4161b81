// SPDX-License-Identifier: BSD-3-Clause
#include "serve/monitor/coverage.h"

#include <fmt/format.h>

#include "math/binomial.h"

namespace tare::serve {
namespace {

constexpr std::size_t kMostPoints = 240;

/// The smallest number of successes that is not too rare from below.
std::uint64_t least_usual(std::uint64_t trials, double p) {
  std::uint64_t low = 0;
  std::uint64_t high = trials;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (binomial_at_most(trials, p, middle) > kCoverageTail) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

CoverageBand coverage_band(std::size_t count, double level) {
  if (count == 0) return {};
  const auto n = static_cast<double>(count);
  // From above: the misses are binomial with 1 - level.
  const std::uint64_t least_misses = least_usual(count, 1.0 - level);
  return {static_cast<double>(least_usual(count, level)) / n,
          static_cast<double>(count - least_misses) / n};
}

CoverageWatch::CoverageWatch(double level, std::size_t window) : level_(level), window_(window) {}

void CoverageWatch::add(bool inside) {
  recent_.push_back(inside);
  if (inside) ++inside_;
  if (recent_.size() > window_) {
    if (recent_.front()) --inside_;
    recent_.pop_front();
  }
  ++total_;
  if (total_ % stride_ == 0) remember();
}

void CoverageWatch::clear() { *this = CoverageWatch(level_, window_); }

double CoverageWatch::coverage() const noexcept {
  if (recent_.empty()) return 0.0;
  return static_cast<double>(inside_) / static_cast<double>(recent_.size());
}

CoverageBand CoverageWatch::band() const { return coverage_band(recent_.size(), level_); }

int CoverageWatch::alarm() const {
  if (recent_.empty()) return 0;
  const CoverageBand allowed = band();
  if (coverage() < allowed.low) return -1;
  return coverage() > allowed.high ? 1 : 0;
}

void CoverageWatch::remember() {
  history_.push_back({total_, coverage(), band()});
  if (history_.size() <= kMostPoints) return;
  stride_ *= 2;
  std::erase_if(history_, [&](const Point& point) { return point.at % stride_ != 0; });
}

std::string CoverageWatch::to_json(History which) const {
  // As text: the destructor of a JSON value allocates, and ends the process where it cannot.
  const CoverageBand allowed = band();
  const int side = alarm();
  std::string out = fmt::format(
      "{{\"level\":{},\"window\":{},\"observations\":{},\"inside\":{},\"total\":{},\"coverage\":{},"
      "\"band\":{{\"low\":{},\"high\":{}}},\"alarm\":\"{}\"",
      level_, window_, observations(), inside_, total_,
      recent_.empty() ? std::string("null") : fmt::format("{}", coverage()), allowed.low,
      allowed.high, side < 0 ? "below" : (side > 0 ? "above" : "none"));
  if (which == History::kWithout) return out + "}";
  out += ",\"history\":[";
  for (const Point& point : history_) {
    if (out.back() != '[') out += ',';
    out += fmt::format("{{\"at\":{},\"coverage\":{},\"low\":{},\"high\":{}}}", point.at,
                       point.coverage, point.band.low, point.band.high);
  }
  return out + "]}";
}

}  // namespace tare::serve

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace tare::serve {

/// The range of shares of covered observations for which an interval of confidence `level` raises
/// no alarm.
struct CoverageBand {
  double low = 0.0;
  double high = 1.0;
};

/// For `count` independent observations, each inside with probability `level`. Exact, by the
/// binomial distribution: a count outside the band has at most probability kCoverageTail on its
/// side.
CoverageBand coverage_band(std::size_t count, double level);

/// Probability on each side. The window slides, so the band is tested many times: a band of 95 %
/// would raise a false alarm within a few windows.
inline constexpr double kCoverageTail = 0.0005;

/// The coverage of the monitored interval over the last observations. Not thread-safe.
class CoverageWatch {
 public:
  /// `window` observations at most, 1 or more.
  CoverageWatch(double level, std::size_t window);

  void add(bool inside);
  void clear();

  double level() const noexcept { return level_; }
  std::size_t window() const noexcept { return window_; }
  std::size_t observations() const noexcept { return recent_.size(); }
  std::size_t inside() const noexcept { return inside_; }
  std::uint64_t total() const noexcept { return total_; }
  double coverage() const noexcept;  // 0 where there is no observation
  CoverageBand band() const;
  /// -1 below the band, 1 above it, 0 within.
  int alarm() const;

  /// Coverage as it was after `at` observations: at most 240 points, evenly spaced.
  struct Point {
    std::uint64_t at = 0;
    double coverage = 0.0;
    CoverageBand band;
  };
  const std::vector<Point>& history() const noexcept { return history_; }

  enum class History : std::uint8_t { kWithout, kWith };
  std::string to_json(History which) const;

 private:
  void remember();

  double level_;
  std::size_t window_;
  std::deque<bool> recent_;
  std::size_t inside_ = 0;
  std::uint64_t total_ = 0;
  std::vector<Point> history_;
  std::uint64_t stride_ = 1;  // observations between two points; doubles when there are too many
};

}  // namespace tare::serve

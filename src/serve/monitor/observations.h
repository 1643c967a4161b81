// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/monitor/coverage.h"
#include "tare/base/matrix.h"

namespace tare::serve {

/// The monitored intervals of the last predicted rows, and the coverage of those whose target
/// arrived later. Memory is allocated at the start. Thread-safe.
class Observations {
 public:
  struct Options {
    double level = 0.9;          // of the watched interval
    std::size_t window = 1'000;  // observations over which coverage is measured
    std::size_t remembered = 0;  // predicted rows whose target can be reported by id; 0: none
    std::string prefix;          // of ids; different for each process, because ids restart
  };
  explicit Observations(Options options);

  const Options& options() const noexcept { return options_; }

  /// Stores the intervals (one per row) of model number `model`, and returns the number of the
  /// first; the others follow it.
  std::uint64_t remember(MatrixView intervals, std::uint32_t model);
  std::string id(std::uint64_t number) const;
  /// The number of an id of this process, or nothing. The row may be forgotten.
  std::optional<std::uint64_t> number(std::string_view id) const;

  /// The outcome of the targets of one request.
  struct Outcome {
    std::size_t counted = 0;
    std::size_t unknown = 0;   // the id is unknown or too old
    std::size_t repeated = 0;  // the row already has its target
    std::size_t earlier = 0;   // the row was predicted by an earlier model
  };
  Outcome observe(std::span<const std::string> ids, std::span<const double> targets);
  Outcome observe(MatrixView intervals, std::span<const double> targets, std::uint32_t model);

  /// Switches to another model: coverage restarts.
  void start_model(std::uint32_t model);

  /// As it is now.
  CoverageWatch coverage() const;

 private:
  struct Slot {
    double lower = 0.0;
    double upper = 0.0;
    std::uint32_t model = 0;
    bool observed = false;
  };
  enum class Found { kCounted, kUnknown, kRepeated, kEarlier };

  Found observe_one(std::string_view id, double target);
  Slot* find(std::string_view id);

  Options options_;
  mutable std::mutex guard_;
  std::vector<Slot> slots_;  // number n lies at n % slots_.size()
  std::uint64_t next_ = 0;
  std::uint32_t model_ = 0;
  CoverageWatch watch_;
};

}  // namespace tare::serve

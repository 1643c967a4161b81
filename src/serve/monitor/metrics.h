// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tare::serve {

/// Increments a counter for the lifetime of this object.
class CountedIn {
 public:
  explicit CountedIn(std::atomic<std::uint64_t>& counter) : counter_(&counter) { ++counter; }
  CountedIn(CountedIn&& other) noexcept : counter_(std::exchange(other.counter_, nullptr)) {}
  CountedIn& operator=(CountedIn&&) = delete;
  ~CountedIn() {
    if (counter_ != nullptr) --*counter_;
  }

 private:
  std::atomic<std::uint64_t>* counter_;
};

/// Adds bytes to a counter for the lifetime of this object.
class CountedBytes {
 public:
  CountedBytes() = default;
  CountedBytes(CountedBytes&&) = delete;
  ~CountedBytes() { release(); }

  /// Returns false and counts nothing if the counter would exceed `most`.
  bool take(std::atomic<std::uint64_t>& counter, std::uint64_t bytes, std::uint64_t most) {
    release();
    if (counter.fetch_add(bytes) + bytes > most) {
      counter.fetch_sub(bytes);
      return false;
    }
    counter_ = &counter;
    bytes_ = bytes;
    return true;
  }
  void release() noexcept {
    if (counter_ != nullptr) counter_->fetch_sub(bytes_);
    counter_ = nullptr;
  }

 private:
  std::atomic<std::uint64_t>* counter_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// Metrics of the service in Prometheus' text format. Counting does not lock.
class Metrics {
 public:
  Metrics();

  /// Counts an answered request on routes()[route], or on an unknown path.
  void count_request(std::size_t route, unsigned status, double seconds, std::size_t rows);

  // The rest is counted where it happens.
  std::atomic<std::uint64_t> connections{0};  // open now
  std::atomic<std::uint64_t> connections_total{0};
  std::atomic<std::uint64_t> connections_refused{0};  // above the limit
  std::atomic<std::uint64_t> requests_in_flight{0};
  std::atomic<std::uint64_t> batches_waiting{0};
  std::atomic<std::uint64_t> body_bytes_buffered{0};
  std::atomic<std::uint64_t> answer_bytes_held{0};  // of large answers that are being sent
  std::atomic<std::uint64_t> reloads_switched{0};
  std::atomic<std::uint64_t> reloads_same{0};
  std::atomic<std::uint64_t> reloads_refused{0};

  /// All metrics as text; `more` is appended unchanged.
  std::string text(const std::string& more) const;

 private:
  static constexpr std::array<unsigned, 15> kStatuses = {200, 400, 401, 403, 404, 405, 408, 413,
                                                         415, 422, 429, 431, 500, 501, 503};
  static constexpr std::array<double, 12> kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                     0.05,   0.1,   0.25,   0.5,   1.0,  5.0};
  struct RouteCounts {
    std::array<std::atomic<std::uint64_t>, kStatuses.size() + 1> by_status{};  // and any other
    std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> by_time{};      // and longer
    std::atomic<std::uint64_t> microseconds{0};
  };

  void append_requests(std::string& out) const;
  void append_times(std::string& out) const;

  std::vector<RouteCounts> routes_;  // the last one is of unknown paths
  std::atomic<std::uint64_t> rows_{0};
};

/// Appends "# HELP", "# TYPE" and one value.
void append_metric(std::string& out, const char* name, const char* type, const char* help,
                   double value);

}  // namespace tare::serve

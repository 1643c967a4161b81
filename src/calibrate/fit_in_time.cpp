// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/fit_in_time.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/fail.h"
#include "base/strings.h"
#include "calibrate/guarantee/guarantee_split.h"
#include "data/partition.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t kPilotRows = 4000;
constexpr std::uint64_t kPilotSeedPart = 3003;
// Budget quick took 0.2 to 0.3 ms a row on two cores. With less than three times that, rows that
// are slower could leave nothing done.
constexpr double kSafeSecondsPerRow = 1e-3;
// A larger budget has never taken less than twice the time of the one before.
constexpr double kLeastGrowth = 2.0;

/// Sets a flag at a time, or as soon as another flag is set.
class Alarm {
 public:
  Alarm(Clock::time_point at, const std::atomic<bool>* other)
      : thread_([this, at, other] { wait(at, other); }) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() {
    {
      const std::lock_guard lock(guard_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  const std::atomic<bool>* flag() const noexcept { return &rings_; }

 private:
  void wait(Clock::time_point at, const std::atomic<bool>* other) {
    constexpr auto kLook = std::chrono::milliseconds(20);
    std::unique_lock lock(guard_);
    while (!over_ && Clock::now() < at && !(other && *other)) {
      changed_.wait_until(lock, std::min(at, Clock::now() + kLook));
    }
    if (!over_) rings_ = true;
  }

  std::mutex guard_;
  std::condition_variable changed_;
  bool over_ = false;
  std::atomic<bool> rings_ = false;
  std::thread thread_;
};

/// Rows that the caller has given a part to cannot be left out.
bool needs_pilot(const FitInput& input, double seconds) {
  const auto rows = static_cast<double>(input.x.rows());
  return input.x.rows() > kPilotRows && rows * kSafeSecondsPerRow > seconds &&
         input.held_out_rows.empty() && input.calibrate_rows.empty() && input.fold.empty();
}

}  // namespace

double parse_time_limit(std::string_view text) {
  constexpr double kMost = 1e6;
  std::string_view number = text;
  double unit = 1.0;
  if (!number.empty()) {
    const char last = number.back();
    unit = last == 'm' ? 60.0 : last == 'h' ? 3600.0 : 1.0;
    if (last == 's' || last == 'm' || last == 'h') number.remove_suffix(1);
  }
  const double seconds = unit * parse_number(number).value_or(0.0);
  if (!(seconds > 0.0 && seconds <= kMost)) {
    fail_option("time", text,
                "must be a time above 0 and up to a million seconds, such as 30s, 2m or 1h");
  }
  return seconds;
}

std::unique_ptr<QuantileModel> fit_in_time(const FitInput& input, double seconds,
                                           const FitWithBudget& fit, const Execution& how) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point end =
      start + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  const auto left = [&] { return Seconds(end - Clock::now()).count(); };
  std::unique_ptr<QuantileModel> best;
  if (needs_pilot(input, seconds)) {
    try {
      const std::vector<std::size_t> pilot =
          limit_rows(input.x.rows(), kPilotRows, input.window, split(input.seed, kPilotSeedPart));
      best = fit(InputPart(input, pilot).input(), "quick", how);
    } catch (const Error&) {
      // Some rows can be too few where all are enough, for example if few have a weight.
    }
  }
  double last = 0.0;  // what the budget before took
  for (const std::string_view budget : {"quick", "default", "best"}) {
    if (best && left() < std::max(0.0, kLeastGrowth * last)) break;
    const Clock::time_point begun = Clock::now();
    if (!best) {
      best = fit(input, budget, how);
    } else {
      const Alarm alarm(end, how.stop);
      Execution limited = how;
      limited.stop = alarm.flag();
      try {
        best = fit(input, budget, limited);
      } catch (const Stopped&) {
        if (how.stop && *how.stop) throw;
        break;
      }
    }
    last = Seconds(Clock::now() - begun).count();
  }
  return best;
}

}  // namespace tare

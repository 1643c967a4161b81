// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/pid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>

#include "online/reference/adaptive_step.h"
#include "online/reference/reference_options.h"
#include "online/reference/threshold_method.h"

namespace tare {
namespace {

constexpr double kPidStep = 0.1;
constexpr std::size_t kPidWindow = 300;

struct PidOptions {
  double step = kPidStep;
  double saturation = 0.0;
  std::optional<double> gain;  // none: the largest recent |score|
};

/// tan, and infinite from pi / 2 on.
double saturating_tan(double x) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (x >= std::numbers::pi / 2.0) return kInfinite;
  if (x <= -std::numbers::pi / 2.0) return -kInfinite;
  return std::tan(x);
}

/// The state: the tracked part of the threshold, and the number of misses.
class PidRule final : public ThresholdRule {
 public:
  explicit PidRule(const PidOptions& options) : options_(options) {}

  std::size_t state_size() const override { return 2; }
  std::size_t note_size() const override { return 1; }

  void start(double, std::span<double> state) const override { std::ranges::fill(state, 0.0); }

  void answer(const TrackPast& past, std::span<const double> state,
              std::span<double> note) const override {
    note[0] = state[0] + integrator(past, state[1]);
  }

  void learn(const TrackPast& past, std::span<const double> note, double score,
             std::span<double> state) const override {
    const double step = adaptive_step(options_.step, past.window, score);
    const double miss = score > note[0] ? 1.0 : 0.0;
    state[0] = bounded(state[0] + step * (miss - past.alpha));
    state[1] += miss;
  }

  bool is_possible(std::uint64_t learned, std::span<const double> state) const override {
    return state[1] >= 0.0 && state[1] <= static_cast<double>(learned) &&
           state[1] == std::floor(state[1]);
  }

 private:
  /// K_I tan(x log(t) / (t C_sat)), where x is the excess of misses after t rows. An infinite tan
  /// stays so where K_I is 0: the bound on the misses rests on it.
  double integrator(const TrackPast& past, double misses) const {
    if (past.learned == 0) return 0.0;
    const double rows = static_cast<double>(past.learned);
    const double excess = misses - past.alpha * rows;
    const double push = saturating_tan(excess * std::log(rows) / (rows * options_.saturation));
    if (std::isinf(push)) return push;
    const auto sorted = past.window.sorted();
    const double largest = std::max(std::fabs(sorted.front()), std::fabs(sorted.back()));
    return bounded(options_.gain.value_or(largest) * push);
  }

  PidOptions options_;
};

constexpr auto kPidOptions = std::to_array<ParamInfo>({
    {"step", "0.1",
     "as for tracker; its authors try 1, 0.5, 0.1, 0.05 and 0 on elec2 and the climate data",
     "1,0.5,0.1,0.05,0.01,0.005,0"},
    {"window", "300", "as for tracker"},
    {"saturation", "auto",
     "C_sat of the integrator; auto: (2 / pi) (ceil(delta log T) - 1 / log T) with delta = 0.01 "
     "and "
     "T = 1000; its authors use 5 on elec2 and the climate data",
     "auto,5"},
    {"gain", "auto",
     "K_I of the integrator, in units of the target; auto: the largest |score| of the window; its "
     "authors use 10 on elec2 and the climate data",
     "auto,10"},
    kScoresOption,
});

PidOptions read_pid_options(const Params& params) {
  constexpr double kLeast = 1e-9;
  constexpr double kMost = 1e9;
  constexpr double kDelta = 0.01;
  const double log_rows = std::log(1000.0);
  PidOptions options;
  options.step = params.number("step", kPidStep, 0.0, 100.0);
  options.saturation =
      params.text("saturation", "auto") == "auto"
          ? 2.0 / std::numbers::pi * (std::ceil(log_rows * kDelta) - 1.0 / log_rows)
          : params.number("saturation", 0.0, kLeast, kMost);
  if (params.text("gain", "auto") != "auto") options.gain = params.number("gain", 0.0, 0.0, kMost);
  return options;
}

std::unique_ptr<ThresholdMethod> build_pid(const OnlineSetup& setup) {
  check_options(pid_method(), setup);
  return std::make_unique<ThresholdMethod>(
      setup, score_kind(setup.params), window_option(setup.params, kPidWindow),
      std::make_unique<PidRule>(read_pid_options(setup.params)));
}

std::unique_ptr<OnlineMethod> make_pid(const OnlineSetup& setup) { return build_pid(setup); }

std::unique_ptr<OnlineMethod> load_pid(const OnlineSetup& setup, const TensorReader& in) {
  auto method = build_pid(setup);
  method->load(in);
  return method;
}

}  // namespace

const OnlineMethodInfo& pid_method() {
  static const OnlineMethodInfo kInfo = {
      .name = "pid",
      .summary =
          "as tracker, with an integrator that raises the threshold while there were too "
          "many misses; without the paper's scorecaster, a forecast of the score",
      .guarantee =
          "for the widest interval of an answer and every sequence, if each target is known "
          "before the next row: after T >= 3 rows the share of misses differs from alpha by at "
          "most (pi / 2) C_sat / log(T) + 3 / T, where alpha is the share outside of it, or, "
          "with signed scores, beyond its level; where the integrator saturates, intervals are "
          "infinite, or empty, which is answered by the prediction and counted as a miss",
      .citation = "Angelopoulos, Candes, Tibshirani 2023",
      .options = kPidOptions,
      .make = &make_pid,
      .load = &load_pid};
  return kInfo;
}

}  // namespace tare

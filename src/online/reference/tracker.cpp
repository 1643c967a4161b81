// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/tracker.h"

#include <array>
#include <memory>

#include "online/reference/adaptive_step.h"
#include "online/reference/reference_options.h"
#include "online/reference/threshold_method.h"

namespace tare {
namespace {

constexpr double kTrackerStep = 0.1;
constexpr std::size_t kTrackerWindow = 300;

/// The state is the threshold.
class TrackerRule final : public ThresholdRule {
 public:
  explicit TrackerRule(double step) : step_(step) {}

  std::size_t state_size() const override { return 1; }
  std::size_t note_size() const override { return 1; }

  void start(double, std::span<double> state) const override { state[0] = 0.0; }

  void answer(const TrackPast&, std::span<const double> state,
              std::span<double> note) const override {
    note[0] = state[0];
  }

  void learn(const TrackPast& past, std::span<const double> note, double score,
             std::span<double> state) const override {
    const double step = adaptive_step(step_, past.window, score);
    state[0] = bounded(state[0] + step * ((score > note[0] ? 1.0 : 0.0) - past.alpha));
  }

  bool is_possible(std::uint64_t, std::span<const double>) const override { return true; }

 private:
  double step_;
};

constexpr auto kTrackerOptions = std::to_array<ParamInfo>({
    {"step", "0.1",
     "the threshold moves by this share of the range of recent scores; its authors try 1, 0.5, "
     "0.1, "
     "0.05 and 0 on elec2 and the climate data, and smaller ones with absolute scores",
     "1,0.5,0.1,0.05,0.01,0.005"},
    {"window", "300",
     "the range is of so many last scores; its authors use 300 on elec2, 500 on the climate data"},
    kScoresOption,
});

std::unique_ptr<ThresholdMethod> build_tracker(const OnlineSetup& setup) {
  check_options(tracker_method(), setup);
  return std::make_unique<ThresholdMethod>(
      setup, score_kind(setup.params), window_option(setup.params, kTrackerWindow),
      std::make_unique<TrackerRule>(setup.params.number("step", kTrackerStep, 0.0, 100.0)));
}

std::unique_ptr<OnlineMethod> make_tracker(const OnlineSetup& setup) {
  return build_tracker(setup);
}

std::unique_ptr<OnlineMethod> load_tracker(const OnlineSetup& setup, const TensorReader& in) {
  auto method = build_tracker(setup);
  method->load(in);
  return method;
}

}  // namespace

const OnlineMethodInfo& tracker_method() {
  static const OnlineMethodInfo kInfo = {
      .name = "tracker",
      .summary =
          "quantile tracking: a threshold on scores that rises after a miss and falls "
          "otherwise, by a share of the range of recent scores",
      .guarantee =
          "for the widest interval of an answer and every sequence, if each target is known "
          "before the next row: over T rows in which the range of the last `window` scores "
          "stays the same, the share of misses differs from alpha by at most (|threshold before "
          "them| + largest |score| + s) / (s T), where s is step times the range; nothing where "
          "the range changes; always finite; a negative threshold of absolute scores is "
          "answered by the prediction and counted as a miss",
      .citation = "Angelopoulos, Candes, Tibshirani 2023",
      .options = kTrackerOptions,
      .make = &make_tracker,
      .load = &load_tracker};
  return kInfo;
}

}  // namespace tare

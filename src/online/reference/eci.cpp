// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/eci.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "base/fail.h"
#include "online/reference/adaptive_step.h"
#include "online/reference/reference_options.h"
#include "online/reference/threshold_method.h"

namespace tare {
namespace {

constexpr double kEciStep = 0.1;
constexpr std::size_t kEciWindow = 300;
constexpr double kEciDecay = 0.95;  // of the weights of past rows in the variant `integral`

enum class EciVariant : std::uint8_t { kPlain, kCutoff, kIntegral };

struct EciOptions {
  double step = kEciStep;
  EciVariant variant = EciVariant::kPlain;
  bool keeps_feedback = false;
};

/// x s'(x) of the logistic function s: between -0.224 and 0.224, and near 0 far away.
double error_feedback(double x) {
  const double decay = std::exp(-std::fabs(x));
  return x * decay / ((1.0 + decay) * (1.0 + decay));
}

/// The state: the tracked part of the threshold; the present feedback, in units of scores; and, for
/// the variant `integral`, the discounted sums of the feedback and of its weights.
class EciRule final : public ThresholdRule {
 public:
  explicit EciRule(const EciOptions& options) : options_(options) {}

  std::size_t state_size() const override { return 4; }
  std::size_t note_size() const override { return 1; }

  void start(double, std::span<double> state) const override { std::ranges::fill(state, 0.0); }

  void answer(const TrackPast&, std::span<const double> state,
              std::span<double> note) const override {
    note[0] = state[0] + state[1];
  }

  void learn(const TrackPast& past, std::span<const double> note, double score,
             std::span<double> state) const override {
    const double step = adaptive_step(options_.step, past.window, score);
    const double excess = score - note[0];
    double feedback = error_feedback(excess);
    if (options_.variant == EciVariant::kCutoff &&
        std::fabs(excess) < past.window.range_with(score)) {
      feedback = 0.0;
    }
    if (options_.variant == EciVariant::kIntegral) {
      state[2] = kEciDecay * state[2] + feedback;
      state[3] = kEciDecay * state[3] + 1.0;
      feedback = state[2] / state[3];
    }
    state[0] = bounded(state[0] + step * ((excess > 0.0 ? 1.0 : 0.0) - past.alpha));
    if (options_.keeps_feedback) {
      state[0] = bounded(state[0] + step * feedback);
    } else {
      state[1] = step * feedback;
    }
  }

  bool is_possible(std::uint64_t, std::span<const double> state) const override {
    return state[0] == bounded(state[0]) && state[1] == bounded(state[1]) &&
           std::fabs(state[2]) <= state[3] && state[3] <= 1.0 / (1.0 - kEciDecay) + 1.0;
  }

 private:
  EciOptions options_;
};

constexpr auto kEciOptions = std::to_array<ParamInfo>({
    {"step", "0.1",
     "as for tracker; its authors try 1, 0.5, 0.1 and 0.05 on elec2 and the climate data",
     "1,0.5,0.1,0.05,0.01,0.005"},
    {"window", "300",
     "as for tracker; its authors use 300 on elec2, 500 on the climate data and 100 for cutoff"},
    {"variant", "eci",
     "eci; cutoff: no feedback while |score - threshold| is below the range of recent scores; "
     "integral: the average of past feedback, with weights 0.95^age",
     "eci,cutoff,integral"},
    {"feedback", "once",
     "once: the feedback of a row moves the next threshold only, as in its authors' code and "
     "figures; kept: it adds up, as in the paper's formula, which misses more than alpha"},
    kScoresOption,
});

EciOptions read_eci_options(const Params& params) {
  EciOptions options;
  options.step = params.number("step", kEciStep, 0.0, 100.0);
  const std::string variant = params.text("variant", "eci");
  if (variant == "cutoff") {
    options.variant = EciVariant::kCutoff;
  } else if (variant == "integral") {
    options.variant = EciVariant::kIntegral;
  } else if (variant != "eci") {
    fail_option("variant", variant, "must be eci, cutoff or integral");
  }
  const std::string feedback = params.text("feedback", "once");
  if (feedback != "once" && feedback != "kept") {
    fail_option("feedback", feedback, "must be once or kept");
  }
  options.keeps_feedback = feedback == "kept";
  return options;
}

std::unique_ptr<ThresholdMethod> build_eci(const OnlineSetup& setup) {
  check_options(eci_method(), setup);
  return std::make_unique<ThresholdMethod>(
      setup, score_kind(setup.params), window_option(setup.params, kEciWindow),
      std::make_unique<EciRule>(read_eci_options(setup.params)));
}

std::unique_ptr<OnlineMethod> make_eci(const OnlineSetup& setup) { return build_eci(setup); }

std::unique_ptr<OnlineMethod> load_eci(const OnlineSetup& setup, const TensorReader& in) {
  auto method = build_eci(setup);
  method->load(in);
  return method;
}

}  // namespace

const OnlineMethodInfo& eci_method() {
  static const OnlineMethodInfo kInfo = {
      .name = "eci",
      .summary =
          "error-quantified conformal inference: as tracker, with feedback on how far the "
          "score was from the threshold; the feedback is in units of the target",
      .guarantee =
          "with feedback=once, for the widest interval of an answer and every sequence, if each "
          "target is known before the next row: over T rows, from the second row on in which "
          "the range of the last `window` scores stays the same, the share of misses differs "
          "from alpha by at most (|threshold before them| + largest |score| + 1.5 s) / (s T), "
          "where s is step times the range; nothing where the range changes, or with "
          "feedback=kept; always finite; a negative threshold of absolute scores is answered by "
          "the prediction and counted as a miss",
      .citation = "Wu, Hu, Bao, Xia, Zou 2025",
      .options = kEciOptions,
      .make = &make_eci,
      .load = &load_eci};
  return kInfo;
}

}  // namespace tare

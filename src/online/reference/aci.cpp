// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/aci.h"

#include <array>
#include <memory>

#include "online/reference/reference_options.h"
#include "online/reference/threshold_method.h"

namespace tare {
namespace {

constexpr double kAciStep = 0.005;
constexpr std::size_t kAciWindow = 1000;

/// The state is the level alpha_t of the conformal quantile.
class AciRule final : public ThresholdRule {
 public:
  explicit AciRule(double step) : step_(step) {}

  std::size_t state_size() const override { return 1; }
  std::size_t note_size() const override { return 1; }

  void start(double alpha, std::span<double> state) const override { state[0] = alpha; }

  void answer(const TrackPast& past, std::span<const double> state,
              std::span<double> note) const override {
    note[0] = past.window.conformal_quantile(state[0]);
  }

  void learn(const TrackPast& past, std::span<const double> note, double score,
             std::span<double> state) const override {
    state[0] += step_ * (past.alpha - (score > note[0] ? 1.0 : 0.0));
  }

  bool is_possible(std::uint64_t, std::span<const double>) const override { return true; }

 private:
  double step_;
};

constexpr auto kAciOptions = std::to_array<ParamInfo>({
    {"step", "0.005",
     "gamma, the step of alpha_t after each row; its authors use 0.005, the conformal PID authors "
     "try 0.1, 0.05, 0.01, 0.005 and 0.0001",
     "0.1,0.05,0.01,0.005,0.0001"},
    {"window", "1000",
     "the conformal quantile is of so many last scores; the conformal PID authors use all"},
    kScoresOption,
});

std::unique_ptr<ThresholdMethod> build_aci(const OnlineSetup& setup) {
  check_options(aci_method(), setup);
  return std::make_unique<ThresholdMethod>(
      setup, score_kind(setup.params), window_option(setup.params, kAciWindow),
      std::make_unique<AciRule>(setup.params.number("step", kAciStep, 0.0, 1.0)));
}

std::unique_ptr<OnlineMethod> make_aci(const OnlineSetup& setup) { return build_aci(setup); }

std::unique_ptr<OnlineMethod> load_aci(const OnlineSetup& setup, const TensorReader& in) {
  auto method = build_aci(setup);
  method->load(in);
  return method;
}

}  // namespace

const OnlineMethodInfo& aci_method() {
  static const OnlineMethodInfo kInfo = {
      .name = "aci",
      .summary =
          "adaptive conformal inference: the conformal quantile of recent scores at a level "
          "that is moved after each row",
      .guarantee =
          "for the widest interval of an answer and every sequence, if each target is known "
          "before the next row: after T rows the share of misses differs from alpha by at most "
          "(max(alpha, 1 - alpha) + step) / (step T), where alpha is the share outside of it, "
          "or, with signed scores, beyond its level; intervals are infinite where alpha_t <= 0 "
          "or the window has too few scores, and empty, which is answered by the prediction and "
          "counted as a miss, where alpha_t >= 1",
      .citation = "Gibbs, Candes 2021",
      .options = kAciOptions,
      .make = &make_aci,
      .load = &load_aci};
  return kInfo;
}

}  // namespace tare

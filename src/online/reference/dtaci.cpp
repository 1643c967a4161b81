// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/dtaci.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "math/bounded.h"
#include "online/reference/reference_options.h"
#include "online/reference/threshold_method.h"

namespace tare {
namespace {

constexpr std::array kExpertSteps = {0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128};
constexpr std::size_t kExperts = kExpertSteps.size();
constexpr std::size_t kDtaciWindow = 1000;
constexpr std::size_t kDtaciInterval = 500;

/// The state: the weights of the experts, which sum to 1, and their levels alpha_t. The note: the
/// threshold, and the experts' levels and thresholds.
class DtaciRule final : public ThresholdRule {
 public:
  explicit DtaciRule(std::size_t interval) : interval_(static_cast<double>(interval)) {}

  std::size_t state_size() const override { return 2 * kExperts; }
  std::size_t note_size() const override { return 1 + 2 * kExperts; }

  void start(double alpha, std::span<double> state) const override {
    std::fill_n(state.begin(), kExperts, 1.0 / static_cast<double>(kExperts));
    std::fill_n(state.begin() + kExperts, kExperts, alpha);
  }

  void answer(const TrackPast& past, std::span<const double> state,
              std::span<double> note) const override {
    double mean = 0.0;
    for (std::size_t i = 0; i < kExperts; ++i) {
      const double level = state[kExperts + i];
      mean += state[i] * level;
      note[1 + i] = level;
      note[1 + kExperts + i] = past.window.conformal_quantile(level);
    }
    note[0] = past.window.conformal_quantile(mean);
  }

  void learn(const TrackPast& past, std::span<const double> note, double score,
             std::span<double> state) const override {
    const double alpha = past.alpha;
    const double rate = learning_rate(alpha);
    const double share = past.window.conformal_share(score);
    double total = 0.0;
    for (std::size_t i = 0; i < kExperts; ++i) {
      const double gap = share - note[1 + i];
      const double loss = alpha * gap - std::min(0.0, gap);
      state[i] *= std::exp(-rate * loss);
      total += state[i];
      const double miss = score > note[1 + kExperts + i] ? 1.0 : 0.0;
      state[kExperts + i] += kExpertSteps[i] * (alpha - miss);
    }
    const double mixed = 1.0 / (2.0 * interval_);
    for (std::size_t i = 0; i < kExperts; ++i) {
      // Where every weight has vanished, none is better than another.
      const double kept = total > 0.0 ? state[i] / total : 1.0 / static_cast<double>(kExperts);
      state[i] = (1.0 - mixed) * kept + mixed / static_cast<double>(kExperts);
    }
  }

  bool is_possible(std::uint64_t, std::span<const double> state) const override {
    constexpr double kRoundedSum = 1e-9;
    double total = 0.0;
    for (std::size_t i = 0; i < kExperts; ++i) {
      if (!(state[i] > 0.0)) return false;
      total += state[i];
    }
    return std::fabs(total - 1.0) <= kRoundedSum;
  }

 private:
  /// The paper's eta for intervals of this length and this number of experts. Bounded: for the
  /// smallest levels its denominator vanishes.
  double learning_rate(double alpha) const {
    const double rest = 1.0 - alpha;
    const double second_moment =
        rest * rest * alpha * alpha * alpha + alpha * alpha * rest * rest * rest;
    const double logarithm = std::log(static_cast<double>(kExperts) * interval_);
    return bounded(std::sqrt(3.0 / interval_) * std::sqrt((logarithm + 2.0) / second_moment));
  }

  double interval_;
};

constexpr auto kDtaciOptions = std::to_array<ParamInfo>({
    {"interval", "500",
     "rows over which its regret is to be small; sets eta and sigma; its authors use 500"},
    {"window", "1000", "conformal quantiles are of so many last scores"},
    kScoresOption,
});

std::unique_ptr<ThresholdMethod> build_dtaci(const OnlineSetup& setup) {
  check_options(dtaci_method(), setup);
  return std::make_unique<ThresholdMethod>(
      setup, score_kind(setup.params), window_option(setup.params, kDtaciWindow),
      std::make_unique<DtaciRule>(setup.params.count("interval", kDtaciInterval, 1, kMostScores)));
}

std::unique_ptr<OnlineMethod> make_dtaci(const OnlineSetup& setup) { return build_dtaci(setup); }

std::unique_ptr<OnlineMethod> load_dtaci(const OnlineSetup& setup, const TensorReader& in) {
  auto method = build_dtaci(setup);
  method->load(in);
  return method;
}

}  // namespace

const OnlineMethodInfo& dtaci_method() {
  static const OnlineMethodInfo kInfo = {
      .name = "dtaci",
      .summary =
          "as aci with the step sizes 0.001, 0.002, ..., 0.128 at once: the level is their "
          "average, weighed by recent loss (the deterministic form)",
      .guarantee =
          "for every sequence: regret in the pinball loss of the level over each stretch of "
          "`interval` rows, against the best level that changes little within it; its long-run "
          "coverage is proven only for eta and sigma that go to zero, which these do not; "
          "intervals may be infinite or empty as those of aci",
      .citation = "Gibbs, Candes 2022 (JMLR 2024)",
      .options = kDtaciOptions,
      .make = &make_dtaci,
      .load = &load_dtaci};
  return kInfo;
}

}  // namespace tare

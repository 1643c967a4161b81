// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/enbpi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "online/reference/error_window_method.h"
#include "online/reference/reference_options.h"
#include "online/reference/tracked_levels.h"

namespace tare {
namespace {

constexpr std::size_t kEnbpiWindow = 300;

/// The first of `held` consecutive errors that lie closest together; the lowest such place.
std::size_t narrowest_start(std::span<const double> errors, std::size_t held) {
  std::size_t best = 0;
  for (std::size_t i = 1; i + held <= errors.size(); ++i) {
    if (errors[i + held - 1] - errors[i] < errors[best + held - 1] - errors[best]) best = i;
  }
  return best;
}

class EnbpiMethod final : public ErrorWindowMethod {
 public:
  EnbpiMethod(const OnlineSetup& setup, std::size_t window) : ErrorWindowMethod(setup, window) {}

 private:
  void error_quantiles(std::span<const double> errors, std::span<double> out) const override {
    constexpr double kRounding = 1e-9;  // 0.9 * 10 is 9 in any rounding
    const std::size_t count = errors.size();
    for (std::size_t i = 0; i < levels().size(); ++i) {
      const Level& level = levels()[i];
      if (level.value() == 0.5) {
        out[i] = errors[level.rank(count) - 1];
        continue;
      }
      // Between the quantiles at beta and 1 - alpha + beta, beta a little above a multiple of 1/n.
      const double inside = 1.0 - outside_share(level);
      const double whole = std::floor(inside * static_cast<double>(count) + kRounding);
      const std::size_t held = std::min(count, static_cast<std::size_t>(whole) + 1);
      const std::size_t start = narrowest_start(errors, held);
      out[i] = errors[level.value() < 0.5 ? start : start + held - 1];
    }
  }
};

constexpr auto kEnbpiOptions = std::to_array<ParamInfo>({
    {"window", "300",
     "the interval is of so many last errors; its authors use the length of the training sample",
     "50,100,300,1000"},
});

std::unique_ptr<EnbpiMethod> build_enbpi(const OnlineSetup& setup) {
  check_options(enbpi_method(), setup);
  return std::make_unique<EnbpiMethod>(setup, window_option(setup.params, kEnbpiWindow));
}

std::unique_ptr<OnlineMethod> make_enbpi(const OnlineSetup& setup) { return build_enbpi(setup); }

std::unique_ptr<OnlineMethod> load_enbpi(const OnlineSetup& setup, const TensorReader& in) {
  auto method = build_enbpi(setup);
  method->load(in);
  return method;
}

}  // namespace

const OnlineMethodInfo& enbpi_method() {
  static const OnlineMethodInfo kInfo = {
      .name = "enbpi",
      .summary =
          "EnbPI without its ensemble, as predictions are given: the narrowest interval "
          "between the quantiles at beta and 1 - alpha + beta of the last errors",
      .guarantee =
          "nothing for a finite sample; in the limit of a long window its authors prove coverage "
          "for errors that are stationary and strongly mixing around predictions that converge",
      .citation = "Xu, Xie 2021",
      .options = kEnbpiOptions,
      .make = &make_enbpi,
      .load = &load_enbpi};
  return kInfo;
}

}  // namespace tare

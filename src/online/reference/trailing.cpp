// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/trailing.h"

#include <algorithm>
#include <array>
#include <memory>

#include "online/reference/error_window_method.h"
#include "online/reference/reference_options.h"

namespace tare {
namespace {

constexpr std::size_t kTrailingWindow = 300;

class TrailingMethod final : public ErrorWindowMethod {
 public:
  TrailingMethod(const OnlineSetup& setup, std::size_t window) : ErrorWindowMethod(setup, window) {}

 private:
  void error_quantiles(std::span<const double> errors, std::span<double> out) const override {
    const std::uint64_t count = errors.size();
    for (std::size_t i = 0; i < levels().size(); ++i) {
      // Ranks of n + 1, outwards, as for a row that is exchangeable with the n.
      const Level& level = levels()[i];
      const std::uint64_t rank =
          level.value() < 0.5 ? level.rank_below(count + 1) : level.rank(count + 1);
      out[i] = errors[std::clamp<std::uint64_t>(rank, 1, count) - 1];
    }
  }
};

constexpr auto kTrailingOptions = std::to_array<ParamInfo>({
    {"window", "300", "quantiles are of so many last errors; the conformal PID authors use 50",
     "50,100,300,1000"},
});

std::unique_ptr<TrailingMethod> build_trailing(const OnlineSetup& setup) {
  check_options(trailing_method(), setup);
  return std::make_unique<TrailingMethod>(setup, window_option(setup.params, kTrailingWindow));
}

std::unique_ptr<OnlineMethod> make_trailing(const OnlineSetup& setup) {
  return build_trailing(setup);
}

std::unique_ptr<OnlineMethod> load_trailing(const OnlineSetup& setup, const TensorReader& in) {
  auto method = build_trailing(setup);
  method->load(in);
  return method;
}

}  // namespace

const OnlineMethodInfo& trailing_method() {
  static const OnlineMethodInfo kInfo = {
      .name = "trailing",
      .summary = "quantiles of the last errors, without tracking",
      .guarantee =
          "if the errors of the window and of the row are exchangeable: a quantile above the "
          "median "
          "is at least the target with at least its probability, and one below the median likewise "
          "from the other side, as far as the window has 1 / (1 - level) - 1 errors; nothing after "
          "a shift",
      .citation = "Vovk, Gammerman, Shafer 2005",
      .options = kTrailingOptions,
      .make = &make_trailing,
      .load = &load_trailing};
  return kInfo;
}

}  // namespace tare

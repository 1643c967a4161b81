// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tare::nn {

struct AdamOptions {
  double learning_rate = 1e-3;
  double weight_decay =
      0.0;  // decoupled: values shrink by learning_rate * weight_decay at each step
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// Adam (Kingma & Ba 2015) with bias correction and decoupled weight decay (Loshchilov & Hutter
/// 2019).
class Adam {
 public:
  Adam(std::size_t parameters, const AdamOptions& options);

  /// One update; `rate_factor` multiplies the learning rate, for a schedule.
  void step(std::span<float> values, std::span<const float> gradient, double rate_factor = 1.0);

 private:
  AdamOptions options_;
  std::vector<float> first_;
  std::vector<float> second_;
  double power1_ = 1.0;  // beta1 to the number of steps
  double power2_ = 1.0;
};

}  // namespace tare::nn

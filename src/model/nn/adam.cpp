// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/adam.h"

#include <cassert>
#include <cmath>

#include "math/vector_targets.h"
#include "model/nn/kernels/kernels.h"

namespace tare::nn {
namespace {

template <class T>
[[gnu::always_inline]] inline void adam(const AdamStep<T>& step) {
  constexpr T kTiny = T(1e-30);
  const AdamStep<T> s = step;
  T* __restrict value = s.value;
  const T* __restrict gradient = s.gradient;
  T* __restrict first = s.first;
  T* __restrict second = s.second;
  for (std::size_t i = 0; i < s.count; ++i) {
    const T g = gradient[i];
    const T mean = s.beta1 * first[i] + (T(1) - s.beta1) * g;
    const T square = s.beta2 * second[i] + (T(1) - s.beta2) * g * g;
    // A unit that is switched off would leave these to decay into denormal numbers, which are slow.
    first[i] = std::abs(mean) < kTiny ? T(0) : mean;
    second[i] = square < kTiny ? T(0) : square;
    value[i] =
        value[i] * s.keep - s.rate * first[i] / (std::sqrt(second[i] * s.second_scale) + s.epsilon);
  }
}

}  // namespace

TARE_VECTOR_TARGETS void adam_step(const AdamStep<float>& s) { adam(s); }
void adam_step(const AdamStep<double>& s) { adam(s); }

Adam::Adam(std::size_t parameters, const AdamOptions& options)
    : options_(options), first_(parameters, 0.0F), second_(parameters, 0.0F) {}

void Adam::step(std::span<float> values, std::span<const float> gradient, double rate_factor) {
  assert(values.size() == first_.size() && gradient.size() == first_.size());
  power1_ *= options_.beta1;
  power2_ *= options_.beta2;
  const double rate = options_.learning_rate * rate_factor;
  AdamStep<float> step;
  step.value = values.data();
  step.gradient = gradient.data();
  step.first = first_.data();
  step.second = second_.data();
  step.count = values.size();
  step.rate = static_cast<float>(rate / (1.0 - power1_));
  step.second_scale = static_cast<float>(1.0 / (1.0 - power2_));
  step.keep = static_cast<float>(1.0 - rate * options_.weight_decay);
  step.beta1 = static_cast<float>(options_.beta1);
  step.beta2 = static_cast<float>(options_.beta2);
  step.epsilon = static_cast<float>(options_.epsilon);
  adam_step(step);
}

}  // namespace tare::nn

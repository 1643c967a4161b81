// SPDX-License-Identifier: BSD-3-Clause
#include "fused_peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused_peak.cpp"
#include <hwy/foreach_target.h>
// Must follow.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

double FusedOperations(std::size_t rounds) {
  const hn::CappedTag<float, 16> d;
  constexpr std::size_t kChains = 12;
  hn::VFromD<decltype(d)> sum[kChains];
  for (auto& one : sum) one = hn::Set(d, 0.5F);
  const auto factor = hn::Set(d, 0.999F);
  for (std::size_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (std::size_t c = 0; c < kChains; ++c) sum[c] = hn::MulAdd(sum[c], factor, factor);
  }
  float seen = 0.0F;
  for (const auto& one : sum) seen += hn::GetLane(one);
  // The sums are looked at, so that they must be computed; they tend to 999 and are never negative.
  return seen < 0.0F ? 0.0 : static_cast<double>(rounds * kChains * hn::Lanes(d));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tare
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tare {

namespace {
HWY_EXPORT(FusedOperations);
}  // namespace

double fused_operations(std::size_t rounds) {
  return HWY_DYNAMIC_DISPATCH(FusedOperations)(rounds);
}

}  // namespace tare
#endif

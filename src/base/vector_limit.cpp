// SPDX-License-Identifier: BSD-3-Clause
#include "base/vector_limit.h"

#include <hwy/targets.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/fail.h"

namespace tare {

void limit_vectors(std::string_view widest) {
  // The wider a target, the lower its bit; Highway never disables what all of the program needs.
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kTargets = {
      {{"sse2", HWY_SSSE3 << 1},
       {"ssse3", HWY_SSSE3},
       {"sse4", HWY_SSE4},
       {"avx2", HWY_AVX2},
       {"avx3", HWY_AVX3}}};
  for (const auto& [name, bit] : kTargets) {
    if (name != widest) continue;
    hwy::DisableTargets(bit - 1);
    return;
  }
  fail(ErrorCode::kInvalidArgument,
       "TARE_VECTOR_TARGETS is '{}', but must be sse2, ssse3, sse4, avx2 or avx3", widest);
}

bool has_wide_vectors() {
  // Asking the processor takes microseconds on a virtual machine.
  static const bool has = (hwy::SupportedTargets() & HWY_AVX3) != 0;
  return has;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tare {

/// How many of `all` random cases a test draws: all of them, but a fifth with the sanitizers, which
/// slow a program tenfold and look for what nearly every case would show.
constexpr std::uint64_t draws(std::uint64_t all) {
#ifdef __SANITIZE_ADDRESS__
  return (all + 4) / 5;
#else
  return all;
#endif
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>

namespace tare {

/// How many of `all` random cases a test draws: a fifth, which shows what nearly every case would
/// show, in `make test` and with the sanitizers; all of them where TARE_DRAWS is set, as `make
/// check` does for the tests of tare_all_draws (tests/CMakeLists.txt).
inline std::uint64_t draws(std::uint64_t all) {
  static const bool every = std::getenv("TARE_DRAWS") != nullptr;
  return every ? all : (all + 4) / 5;
}

}  // namespace tare

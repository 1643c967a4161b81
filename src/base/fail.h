// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <utility>

#include "tare/base/error.h"

namespace tare {

/// Throws Error with a formatted text. Kept out of the public headers so that users need no fmt.
template <class... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(code, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace tare

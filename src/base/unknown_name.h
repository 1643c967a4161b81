// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tare/base/error.h"

namespace tare {

/// "there is no kernel 'box' (known: naive, ...)", with the nearest name first where one is near.
/// Every table of names uses this message. `option`: where the name was given.
[[noreturn]] void fail_unknown_name(ErrorCode code, std::string_view what, std::string_view name,
                                    std::span<const std::string> known,
                                    std::string_view option = {});

}  // namespace tare

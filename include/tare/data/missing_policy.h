// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// What to do with missing cells.
enum class MissingPolicy : std::uint8_t {
  kError,   // refuse the table
  kDrop,    // leave out rows with missing cells
  kImpute,  // use the median or most frequent category of the fit
};

/// "error", "drop" or "impute". Throws kInvalidArgument.
MissingPolicy parse_missing_policy(std::string_view name);
std::string_view missing_policy_name(MissingPolicy policy);

}  // namespace tare

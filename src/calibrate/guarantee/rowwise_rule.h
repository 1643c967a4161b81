// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "calibrate/guarantee/guarantee_split.h"

namespace tare {

/// The default and the largest number of bumps of conditional:kernel.
inline constexpr std::size_t kUsualBumps = 10;
inline constexpr std::size_t kMostBumps = 30;

/// A guarantee whose ranks differ from row to row.
///
/// local[,fixed][,KERNEL], or conditional:LIST, where LIST has names of columns, "groups", and
/// "kernel" or "kernel:COUNT"; both may go on with ",share=SHARE" and ",strict". Throws
/// kInvalidArgument.
GuaranteeRule parse_rowwise(std::string_view text);

/// The number of bumps that "kernel" or "kernel:COUNT" asks for; 0 for another text.
std::size_t bumps_of(std::string_view condition);

}  // namespace tare

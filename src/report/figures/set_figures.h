// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "evaluate/set_comparison.h"
#include "report/html/page.h"

namespace tare {

/// The shortest 90 % sets of some rows, each part a line of its own, beside central intervals in
/// numbers.
Card sets_card(const SetComparison& sets, const std::string& target);

}  // namespace tare

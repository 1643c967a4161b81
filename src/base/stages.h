// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "tare/base/execution.h"

namespace tare {

/// `how` for part k of several that follow each other: its reports are shares of the whole. `how`
/// must outlive it.
Execution part_of(const Execution& how, std::size_t k, std::size_t parts);

/// `how` for work that is part of something else: nothing is reported and no diagnostics are made,
/// but it can be stopped.
Execution quietly(const Execution& how);

}  // namespace tare

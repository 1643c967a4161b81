// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tare {

/// Keeps the reason why a job ran on the processor, for take_device_problem, where none is kept.
void note_device_problem(std::string_view problem);

}  // namespace tare

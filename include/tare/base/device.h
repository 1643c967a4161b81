// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// Where kernel weights are computed. A GPU is used through a second library, libtare_cuda, where
/// it is installed; its quantiles are within 1e-5 of their level (docs/gpu.md).
enum class DeviceKind : std::uint8_t {
  kDefault,  // what set_default_device said, else auto
  kAuto,     // a GPU where there is one and the job is large enough to gain from it
  kCpu,
  kCuda  // a GPU wherever it can do the job; the processor, with a message, where there is none
};

struct Device {
  DeviceKind kind = DeviceKind::kDefault;
  int number = 0;  // of the GPU

  bool operator==(const Device&) const = default;
};

/// "auto", "cpu", "cuda" or "cuda:1". Throws kInvalidArgument.
Device parse_device(std::string_view name);
std::string device_name(const Device& device);

/// For all work of this process whose Execution names no device.
void set_default_device(const Device& device);
Device default_device();

/// Why the first job that asked for a GPU since the last call ran without one; empty if none did.
/// From any thread.
std::string take_device_problem();

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/device.h"

#include <charconv>
#include <mutex>
#include <utility>

#include "base/device_problem.h"
#include "base/fail.h"

namespace tare {
namespace {

constexpr int kMostDevices = 1024;

struct DeviceState {
  std::mutex guard;
  Device usual{.kind = DeviceKind::kAuto};
  std::string problem;
};

DeviceState& device_state() {
  static DeviceState state;
  return state;
}

}  // namespace

Device parse_device(std::string_view name) {
  if (name == "auto") return {.kind = DeviceKind::kAuto};
  if (name == "cpu") return {.kind = DeviceKind::kCpu};
  constexpr std::string_view kCuda = "cuda";
  if (name == kCuda) return {.kind = DeviceKind::kCuda};
  if (name.starts_with("cuda:")) {
    const std::string_view digits = name.substr(kCuda.size() + 1);
    int number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size() && number >= 0 &&
        number < kMostDevices) {
      return {.kind = DeviceKind::kCuda, .number = number};
    }
  }
  fail_option("device", std::string(name), "must be auto, cpu, cuda or cuda:N");
}

std::string device_name(const Device& device) {
  switch (device.kind) {
    case DeviceKind::kDefault:
      return device_name(default_device());
    case DeviceKind::kAuto:
      return "auto";
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCuda:
      return device.number == 0 ? "cuda" : fmt::format("cuda:{}", device.number);
  }
  return "?";
}

void set_default_device(const Device& device) {
  DeviceState& state = device_state();
  const std::lock_guard lock(state.guard);
  state.usual = device.kind == DeviceKind::kDefault ? Device{.kind = DeviceKind::kAuto} : device;
}

Device default_device() {
  DeviceState& state = device_state();
  const std::lock_guard lock(state.guard);
  return state.usual;
}

std::string take_device_problem() {
  DeviceState& state = device_state();
  const std::lock_guard lock(state.guard);
  return std::exchange(state.problem, {});
}

void note_device_problem(std::string_view problem) {
  DeviceState& state = device_state();
  const std::lock_guard lock(state.guard);
  if (state.problem.empty()) state.problem = problem;
}

}  // namespace tare

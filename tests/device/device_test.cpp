// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/device.h"

#include <gtest/gtest.h>

#include "expect_error.h"

namespace tare {
namespace {

TEST(Device, NamesAreReadAndWritten) {
  for (const char* name : {"auto", "cpu", "cuda", "cuda:3"}) {
    EXPECT_EQ(device_name(parse_device(name)), name);
  }
  EXPECT_EQ(parse_device("cuda:0"), parse_device("cuda"));
  EXPECT_EQ(parse_device("cuda:12").number, 12);
}

TEST(Device, OtherNamesAreRefused) {
  for (const char* name :
       {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "cuda:99999999999", "cpu:0"}) {
    expect_error(ErrorCode::kInvalidArgument, "auto, cpu, cuda or cuda:N",
                 [&] { parse_device(name); });
  }
}

TEST(Device, TheDefaultOfTheProcessIsAutoUntilItIsSet) {
  EXPECT_EQ(default_device().kind, DeviceKind::kAuto);
  set_default_device(parse_device("cuda:2"));
  EXPECT_EQ(device_name({}), "cuda:2");
  set_default_device({});
  EXPECT_EQ(device_name({}), "auto");
}

}  // namespace
}  // namespace tare

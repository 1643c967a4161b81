// SPDX-License-Identifier: BSD-3-Clause
#include "base/stages.h"

#include <gtest/gtest.h>

#include <string>

namespace tare {
namespace {

TEST(PartOf, ReportsSharesOfTheWhole) {
  double seen = -1.0;
  std::string name;
  Execution how;
  how.threads = 3;
  how.progress = [&](std::string_view stage, double share) {
    name = stage;
    seen = share;
  };
  const Execution part = part_of(how, 2, 4);
  EXPECT_EQ(part.threads, 3U);
  part.progress("work", 0.5);
  EXPECT_EQ(name, "work");
  EXPECT_EQ(seen, 0.625);
}

TEST(PartOf, IsSilentWhereNobodyListens) { EXPECT_FALSE(part_of({}, 0, 2).progress); }

}  // namespace
}  // namespace tare

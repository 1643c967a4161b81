// SPDX-License-Identifier: BSD-3-Clause
#include "base/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/parallel.h"

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

TEST(ParallelProgress, ReportsTheMeanShareFromAnyThread) {
  constexpr std::size_t kParts = 40;
  std::vector<double> seen;
  std::atomic<bool> stop{false};
  Execution how;
  how.threads = 4;
  how.stop = &stop;
  how.progress = [&](std::string_view stage, double share) {
    EXPECT_EQ(stage, "all");
    seen.push_back(share);
  };
  ParallelProgress parts(how, "all", kParts);
  parallel_for(how, kParts, [&](std::size_t k) {
    const Execution own = parts.of(k);
    EXPECT_EQ(own.threads, 1U);
    EXPECT_EQ(own.stop, &stop);
    own.progress("a part", 0.5);
    own.progress("a part", 1.0);
  });
  ASSERT_EQ(seen.size(), 2 * kParts);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(seen.back(), 1.0);
  const Execution nobody;
  EXPECT_FALSE(ParallelProgress(nobody, "all", 2).of(0).progress);
}

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tare {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const std::size_t threads : {0U, 1U, 2U, 8U}) {
    for (const std::size_t count : {0U, 1U, 5U, 1000U}) {
      std::vector<std::atomic<int>> visits(count);
      parallel_for({.threads = threads, .progress = {}}, count,
                   [&](std::size_t i) { ++visits[i]; });
      for (const auto& v : visits) EXPECT_EQ(v, 1);
    }
  }
}

TEST(ParallelFor, ThrowsWhatTheWorkThrew) {
  for (const std::size_t threads : {1U, 4U}) {
    EXPECT_THROW(parallel_for({.threads = threads, .progress = {}}, 100,
                              [](std::size_t i) {
                                if (i % 10 == 3) throw std::runtime_error("three");
                              }),
                 std::runtime_error);
  }
}

TEST(ParallelFor, EndsBeforeItsNextPartOnceToldToStop) {
  for (const std::size_t threads : {1U, 4U}) {
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> done{0};
    const Execution how{.threads = threads, .progress = {}, .stop = &stop};
    EXPECT_THROW(parallel_for(how, 1000,
                              [&](std::size_t) {
                                ++done;
                                stop = true;
                              }),
                 Stopped);
    EXPECT_LE(done, threads);  // a part each that had begun
  }
}

TEST(ParallelBlocks, CoverTheRowsWithoutOverlap) {
  for (const std::size_t rows : {0U, 1U, 63U, 64U, 65U, 1000U}) {
    std::vector<std::atomic<int>> visits(rows);
    parallel_blocks({.threads = 3, .progress = {}}, rows, 64,
                    [&](std::size_t first, std::size_t last) {
                      EXPECT_LE(last - first, 64U);
                      for (std::size_t i = first; i < last; ++i) ++visits[i];
                    });
    for (const auto& v : visits) EXPECT_EQ(v, 1);
  }
}

}  // namespace
}  // namespace tare

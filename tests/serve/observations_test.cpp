// SPDX-License-Identifier: BSD-3-Clause
#include "serve/monitor/observations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tare::serve {
namespace {

Observations::Options small(std::size_t remembered) {
  return {.level = 0.9, .window = 100, .remembered = remembered, .prefix = "ab12"};
}

Matrix intervals(std::size_t rows, double low, double high) {
  Matrix out(rows, 2);
  for (std::size_t i = 0; i < rows; ++i) {
    out(i, 0) = low;
    out(i, 1) = high;
  }
  return out;
}

TEST(Observations, CountsATargetInsideItsClosedInterval) {
  Observations seen(small(10));
  seen.start_model(1);
  const std::uint64_t first = seen.remember(intervals(4, -1.0, 1.0), 1);
  const std::vector<std::string> ids = {seen.id(first), seen.id(first + 1), seen.id(first + 2),
                                        seen.id(first + 3)};
  const std::vector<double> targets = {-1.0, 1.0, 1.0000001, -5.0};
  const auto outcome = seen.observe(ids, targets);
  EXPECT_EQ(outcome.counted, 4U);
  EXPECT_EQ(seen.coverage().inside(), 2U);
}

TEST(Observations, ARowIsObservedOnce) {
  Observations seen(small(10));
  seen.start_model(1);
  const std::uint64_t first = seen.remember(intervals(1, 0.0, 1.0), 1);
  const std::vector<std::string> ids = {seen.id(first), seen.id(first)};
  const auto outcome = seen.observe(ids, std::vector<double>{0.5, 0.5});
  EXPECT_EQ(outcome.counted, 1U);
  EXPECT_EQ(outcome.repeated, 1U);
  EXPECT_EQ(seen.coverage().total(), 1U);
}

TEST(Observations, IdsThatAreNotOursOrTooLongAgoAreUnknown) {
  Observations seen(small(3));
  seen.start_model(1);
  const std::uint64_t first = seen.remember(intervals(4, 0.0, 1.0), 1);
  const std::vector<std::string> ids = {seen.id(first),
                                        seen.id(first + 4),
                                        "",
                                        "ab12",
                                        "ab12-",
                                        "ab12--1",
                                        "cd34-2",
                                        "ab12-2x",
                                        "ab12 2",
                                        "ab122",
                                        "ab12-99999999999999999999"};
  const std::vector<double> targets(ids.size(), 0.5);
  const auto outcome = seen.observe(ids, targets);
  EXPECT_EQ(outcome.unknown, ids.size());
  EXPECT_EQ(
      seen.observe(std::vector<std::string>{seen.id(first + 1)}, std::vector<double>{0.5}).counted,
      1U);
}

TEST(Observations, WithoutMemoryNoIdIsKnown) {
  Observations seen(small(0));
  const std::uint64_t first = seen.remember(intervals(2, 0.0, 1.0), 0);
  EXPECT_EQ(
      seen.observe(std::vector<std::string>{seen.id(first)}, std::vector<double>{0.5}).unknown, 1U);
}

TEST(Observations, AnotherModelStartsAnew) {
  Observations seen(small(10));
  seen.start_model(1);
  const std::uint64_t first = seen.remember(intervals(2, 0.0, 1.0), 1);
  seen.observe(std::vector<std::string>{seen.id(first)}, std::vector<double>{0.5});
  seen.start_model(2);
  EXPECT_EQ(seen.coverage().total(), 0U);
  const auto late =
      seen.observe(std::vector<std::string>{seen.id(first + 1)}, std::vector<double>{0.5});
  EXPECT_EQ(late.earlier, 1U);
  EXPECT_EQ(seen.observe(intervals(1, 0.0, 1.0), std::vector<double>{0.5}, 1).earlier, 1U);
  EXPECT_EQ(seen.observe(intervals(1, 0.0, 1.0), std::vector<double>{0.5}, 2).counted, 1U);
  EXPECT_EQ(seen.coverage().total(), 1U);
}

}  // namespace
}  // namespace tare::serve

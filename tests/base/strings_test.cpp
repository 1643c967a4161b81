// SPDX-License-Identifier: BSD-3-Clause
#include "base/strings.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(Strings, NumbersAreWholeTexts) {
  EXPECT_EQ(parse_number(" 1.5 "), 1.5);
  EXPECT_EQ(parse_number("+2"), 2.0);
  EXPECT_EQ(parse_number("-3e2"), -300.0);
  for (const char* wrong : {"", "1,5", "1.5x", "0x10", "inf", "nan", "1e999", "--1", "1 2"}) {
    EXPECT_FALSE(parse_number(wrong).has_value()) << wrong;
  }
  EXPECT_EQ(parse_count("12"), 12U);
  for (const char* wrong : {"", "-1", "1.0", "1e3", "99999999999999999999"}) {
    EXPECT_FALSE(parse_count(wrong).has_value()) << wrong;
  }
}

TEST(Strings, NamesAreComparedWithoutCaseOrDash) {
  EXPECT_EQ(canonical_name(" NRC-RF "), "nrc_rf");
  EXPECT_EQ(canonical_name("pure kernel"), "pure_kernel");
}

TEST(Strings, TheClosestNamesComeFirst) {
  const std::vector<std::string> names = {"weight", "height", "mpg", "horsepower"};
  EXPECT_EQ(closest_names("wieght", names).front(), "weight");
  EXPECT_TRUE(closest_names("zzz", names).empty());
  const std::vector<std::string> endless = {std::string(50'000'000, 'a')};
  EXPECT_TRUE(closest_names("aaaa", endless).empty()) << "in no time and memory";
}

TEST(Strings, SplitKeepsEmptyParts) {
  EXPECT_EQ(split_text("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(split_text("", ','), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace tare

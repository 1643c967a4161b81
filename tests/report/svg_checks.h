// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

inline testing::AssertionResult fault(const std::string& what, std::string_view rest) {
  return testing::AssertionFailure() << what << " at: " << rest.substr(0, 60);
}

// Whether every tag is closed in order, attributes are quoted and hold no '<', and every '&' starts
// an entity that XML knows. Not a parser; enough to catch what a generator gets wrong.
inline testing::AssertionResult well_formed(std::string_view text) {
  std::vector<std::string> open;
  while (!text.empty()) {
    if (text.front() == '&') {
      bool known = false;
      for (const char* e : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
        known |= text.starts_with(e);
      if (!known) return fault("bad entity", text);
    }
    if (text.front() != '<') {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = text.find('>');
    if (end == std::string_view::npos) return fault("unfinished tag", text);
    std::string_view tag = text.substr(1, end - 1);
    const bool closes = tag.starts_with('/');
    const bool alone = tag.ends_with('/');
    tag = tag.substr(closes ? 1 : 0, tag.size() - (closes || alone ? 1 : 0));
    const std::string name(tag.substr(0, tag.find(' ')));
    if (name.empty() || tag.find('<') != std::string_view::npos) return fault("bad tag", text);
    // Every '=' outside quotes must be followed by a quoted value.
    bool quoted = false;
    for (std::size_t i = 0; i < tag.size(); ++i) {
      if (tag[i] == '"') quoted = !quoted;
      if (tag[i] == '=' && !quoted && (i + 1 == tag.size() || tag[i + 1] != '"')) {
        return fault("value without quotes", text);
      }
    }
    if (quoted) return fault("quote left open", text);
    if (closes) {
      if (open.empty() || open.back() != name) return fault("closed out of order", text);
      open.pop_back();
    } else if (!alone) {
      open.push_back(name);
    }
    text.remove_prefix(end + 1);
  }
  if (!open.empty()) return fault("left open", open.back());
  return testing::AssertionSuccess();
}

struct Spot {
  double x;
  double y;
};

// Every point of a path, and every circle's centre.
inline std::vector<Spot> spots(const std::string& svg) {
  std::vector<Spot> all;
  for (std::size_t i = svg.find("</style>"); i + 4 < svg.size(); ++i) {
    Spot spot{};
    const char* from = svg.c_str() + i;
    if (std::sscanf(from, "M%lf %lf", &spot.x, &spot.y) == 2 ||
        std::sscanf(from, "L%lf %lf", &spot.x, &spot.y) == 2 ||
        std::sscanf(from, "cx=\"%lf\" cy=\"%lf\"", &spot.x, &spot.y) == 2) {
      all.push_back(spot);
    }
  }
  return all;
}

inline void expect_sound(const std::string& svg, double width, double height) {
  EXPECT_TRUE(well_formed(svg));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("nan")));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("inf")));
  for (const Spot& spot : spots(svg)) {
    EXPECT_GE(spot.x, 0.0);
    EXPECT_LE(spot.x, width);
    EXPECT_GE(spot.y, 0.0);
    EXPECT_LE(spot.y, height);
  }
}

}  // namespace tare

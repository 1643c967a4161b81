// SPDX-License-Identifier: BSD-3-Clause
#include "io/column_finder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tare {
namespace {

TEST(ColumnFinder, FindsEveryColumnInAnyOrder) {
  Table table;
  for (const char* name : {"a", "b", "c", "d"}) table.columns.emplace_back().name = name;
  for (const std::vector<std::string>& order :
       {std::vector<std::string>{"a", "b", "c", "d"}, {"d", "c", "b", "a"}, {"b", "b", "x", "c"}}) {
    ColumnFinder finder(table);
    for (const std::string& name : order) EXPECT_EQ(finder.find(name), table.find(name)) << name;
  }
  const Table none;
  EXPECT_EQ(ColumnFinder(none).find("a"), nullptr);
}

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "tare/io/table.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <limits>

#include "expect_error.h"
#include "io/select_columns.h"

namespace tare {
namespace {

TEST(Table, ColumnsOfAProgramAreThoseOfAFile) {
  Table table;
  table.add_numbers("a", std::array{1.0, std::nan(""), 3.5});
  table.add_texts("b", std::array<std::string, 3>{"x", "", "x"});
  table.add_codes("c", std::array<std::int32_t, 3>{0, -1, 1}, {"p", "q"});
  const std::string path = testing::TempDir() + "table_test.csv";
  std::ofstream(path) << "a,b,c\n1,x,p\nNaN,,\n3.5,x,q\n";
  const Table read = read_csv(path);
  ASSERT_EQ(read.names(), table.names());
  for (std::size_t j = 0; j < 3; ++j) {
    const Column& one = table.columns[j];
    const Column& other = read.columns[j];
    EXPECT_EQ(one.kind, other.kind);
    EXPECT_EQ(one.missing, other.missing);
    EXPECT_EQ(one.first_missing, other.first_missing);
    EXPECT_EQ(one.codes, other.codes);
    EXPECT_EQ(one.vocabulary, other.vocabulary);
    for (std::size_t i = 0; i < one.numbers.size(); ++i) {
      EXPECT_TRUE(one.numbers[i] == other.numbers[i] || std::isnan(other.numbers[i]));
    }
  }
}

TEST(Table, RefusesColumnsThatDoNotFit) {
  Table table;
  table.add_numbers("a", std::array{1.0, 2.0});
  expect_error(ErrorCode::kShapeMismatch, "'b' has 1 rows",
               [&] { table.add_numbers("b", std::array{1.0}); });
  expect_error(ErrorCode::kInvalidArgument, "'a' already", [&] {
    table.add_numbers("a", std::array{1.0, 2.0});
  });
  expect_error(ErrorCode::kBadData, "infinite", [&] {
    table.add_numbers("b", std::array{1.0, std::numeric_limits<double>::infinity()});
  });
  expect_error(ErrorCode::kInvalidArgument, "code 2", [&] {
    table.add_codes("b", std::array<std::int32_t, 2>{0, 2}, {"p", "q"});
  });
  EXPECT_EQ(table.columns.size(), 1U);
}

TEST(SelectColumns, MakesWhatAReaderWouldHaveRead) {
  const std::string path = testing::TempDir() + "select_test.csv";
  std::ofstream(path) << "code,text,n,skip\n007,a,1.50,q\n8,NA,2,r\n";
  const std::vector<ColumnRequest> requests = {{ColumnKind::kText, true},
                                               {ColumnKind::kAuto, false},
                                               {ColumnKind::kNumber, false},
                                               {ColumnKind::kSkip, false}};
  CsvReader reader(path);
  reader.select(requests);
  const Table expected = read_all(reader);
  const Table whole = read_csv(path);
  EXPECT_TRUE(is_selected(expected, requests));
  EXPECT_FALSE(is_selected(whole, requests));
  const Table found = select_columns(whole, requests);
  EXPECT_TRUE(is_selected(found, requests));
  EXPECT_EQ(found.columns[0].vocabulary, expected.columns[0].vocabulary);  // "007" and not "7"
  EXPECT_EQ(found.columns[0].raw.bytes, expected.columns[0].raw.bytes);
  EXPECT_EQ(found.columns[1].codes, expected.columns[1].codes);
  EXPECT_EQ(found.columns[2].numbers, expected.columns[2].numbers);
  EXPECT_EQ(found.columns[3].kind, ColumnKind::kSkip);
  EXPECT_EQ(found.lines, expected.lines);
}

TEST(SelectColumns, NamesTheCellThatIsNoNumber) {
  Table table;
  table.source = "rows";
  table.add_texts("t", std::array<std::string, 2>{"NA", "blue"});
  const std::vector<ColumnRequest> numbers = {{ColumnKind::kNumber, false}};
  expect_error(ErrorCode::kBadData, "rows:2: column 't': 'blue' is not a number",
               [&] { select_columns(table, numbers); });
  table.source.clear();  // no file, so no line
  expect_error(ErrorCode::kBadData, "row 2: column 't': 'blue' is not a number",
               [&] { select_columns(table, numbers); });
  Table gaps;
  gaps.add_texts("t", std::array<std::string, 2>{"NA", ""});
  const Table found = select_columns(gaps, numbers);
  EXPECT_TRUE(std::isnan(found.columns[0].numbers[1]));
  EXPECT_EQ(found.columns[0].missing, 2U);
}

}  // namespace
}  // namespace tare

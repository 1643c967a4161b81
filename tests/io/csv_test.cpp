// SPDX-License-Identifier: BSD-3-Clause
#include "io/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/csv_limits.h"
#include "io/csv_window.h"
#include "io/files/byte_source.h"
#include "tare/base/error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

using testing::ElementsAre;

CsvReader reader_of(std::string text, std::size_t block = CsvReader::kBlockBytes) {
  return CsvReader(bytes_in_memory("cars.csv", std::move(text)), block);
}

Table table_of(std::string text) {
  CsvReader reader = reader_of(std::move(text));
  return read_all(reader);
}

Table table_of(std::string text, std::vector<ColumnRequest> requests) {
  CsvReader reader = reader_of(std::move(text));
  reader.select(std::move(requests));
  return read_all(reader);
}

std::string error_of(const std::function<void()>& action, ErrorCode code = ErrorCode::kBadData) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

std::string error_in(const std::string& text) {
  return error_of([&] { table_of(text); });
}

TEST(CsvReader, ReadsNumbersTextsAndMissingCells) {
  const Table table = table_of("hp,colour\n1.5,red\nNA,blue\n-2e3,red\n+.5,?\n");
  ASSERT_EQ(table.columns.size(), 2U);
  const Column& hp = *table.find("hp");
  EXPECT_EQ(hp.kind, ColumnKind::kNumber);
  EXPECT_EQ(hp.numbers[0], 1.5);
  EXPECT_TRUE(std::isnan(hp.numbers[1]));
  EXPECT_EQ(hp.numbers[2], -2000.0);
  EXPECT_EQ(hp.numbers[3], 0.5);
  EXPECT_EQ(hp.missing, 1U);
  EXPECT_EQ(hp.first_missing, 1U);
  EXPECT_EQ(hp.first_missing_text, "NA");
  const Column& colour = *table.find("colour");
  EXPECT_EQ(colour.kind, ColumnKind::kText);
  EXPECT_THAT(colour.codes, ElementsAre(0, 1, 0, -1));
  EXPECT_THAT(colour.vocabulary, ElementsAre("red", "blue"));
  EXPECT_EQ(colour.first_missing, 3U);
  EXPECT_EQ(table.find("weight"), nullptr);
}

TEST(CsvReader, TheDelimiterIsTheMostFrequentOneOutsideQuotesOfTheHeader) {
  EXPECT_EQ(reader_of("a,b\n").delimiter(), ',');
  EXPECT_EQ(reader_of("a\tb,c\td\n").delimiter(), '\t');
  EXPECT_EQ(reader_of("a;b\n").delimiter(), ';');
  EXPECT_EQ(reader_of("a|b\n").delimiter(), '|');
  EXPECT_EQ(reader_of("alone\n").delimiter(), ',');
  EXPECT_EQ(reader_of("\"a,,\"\",,\";b\n").delimiter(), ';');
  EXPECT_EQ(reader_of("5\",6\",7\",;\n").delimiter(), ',') << "a quote inside a cell opens nothing";
}

TEST(CsvReader, ByteOrderMarkBlanksAndLeadingBlankLinesAreNoPartOfTheHeader) {
  EXPECT_THAT(reader_of("\xef\xbb\xbf\"a\" , b\t\n1,2\n").header(), ElementsAre("a", "b"));
  EXPECT_THAT(reader_of("\r\n \na,b\n1,2\n").header(), ElementsAre("a", "b"));
}

TEST(CsvReader, AnEmptyNameIsNamedAfterItsPlace) {
  EXPECT_THAT(reader_of(",a,\n0,1,2\n").header(), ElementsAre("unnamed_0", "a", "unnamed_2"));
}

TEST(CsvReader, LinesCountQuotedBreaksAndCarriageReturns) {
  const Table table = table_of("a,b\r\n1,\"x\ny\r\nz\"\r\n2,w\r\n\"3\n\",\"\n\"\n4,v\n\n\n");
  EXPECT_THAT(table.lines, ElementsAre(2, 5, 6, 9));
  EXPECT_THAT(table.find("a")->numbers, ElementsAre(1, 2, 3, 4));
}

TEST(CsvReader, ALastLineWithoutABreakIsALine) {
  EXPECT_THAT(table_of("a,b\n1,2").find("b")->numbers, ElementsAre(2));
  EXPECT_THAT(table_of("a,b\n1,2\r").find("b")->numbers, ElementsAre(2));
  EXPECT_EQ(table_of("a,b\n1,").find("b")->missing, 1U);
}

TEST(CsvReader, ABlankLineInTheMiddleOfOneColumnIsAMissingCell) {
  const Table table = table_of("a\n1\n\n  \n4\n\n\n");
  EXPECT_THAT(table.lines, ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(table.columns[0].missing, 2U);
  EXPECT_EQ(table.columns[0].numbers[3], 4.0);
}

TEST(CsvReader, BlankLinesAtTheEndAreNoRowsOfALaterBatch) {
  CsvReader reader = reader_of("a\n1\n\n\n");
  Table batch;
  ASSERT_TRUE(reader.read(batch, 10));
  EXPECT_EQ(batch.rows(), 1U);
  EXPECT_FALSE(reader.read(batch, 10));
}

TEST(CsvReader, RawCellsAreAsWrittenWithoutQuotes) {
  const Table table = table_of("a,b\n 1 ,\"x \"\"y\"\"\"\n2, \"q,\nr\" \n",
                               {{ColumnKind::kNumber, true}, {ColumnKind::kSkip, true}});
  EXPECT_EQ(table.columns[0].raw[0], " 1 ");
  EXPECT_EQ(table.columns[0].raw[1], "2");
  EXPECT_THAT(table.columns[0].numbers, ElementsAre(1, 2));
  EXPECT_EQ(table.columns[1].raw[0], "x \"y\"");
  EXPECT_EQ(table.columns[1].raw[1], "q,\nr");
  EXPECT_EQ(table.columns[1].kind, ColumnKind::kSkip);
  EXPECT_TRUE(table.columns[1].codes.empty());
}

TEST(CsvReader, ATextColumnKeepsWhatLooksLikeNumbers) {
  const Table table =
      table_of("zip\n01234\n1234\n01234\ninf\nnull\n", {{ColumnKind::kText, false}});
  EXPECT_THAT(table.columns[0].vocabulary, ElementsAre("01234", "1234", "inf"));
  EXPECT_THAT(table.columns[0].codes, ElementsAre(0, 1, 0, 2, -1));
}

TEST(CsvReader, AnAutomaticColumnOfMissingCellsIsNumeric) {
  const Table table = table_of("a,b\n,1\nNA,2\n");
  EXPECT_EQ(table.columns[0].kind, ColumnKind::kNumber);
  EXPECT_EQ(table.columns[0].numbers.size(), 2U);
  EXPECT_EQ(table.columns[0].missing, 2U);
}

TEST(CsvReader, WhatACellIsDoesNotDependOnBatches) {
  CsvReader reader = reader_of("a,b\n1,x\n,\n2,y\n3,x\n");
  Table batch;
  ASSERT_TRUE(reader.read(batch, 1));
  ASSERT_TRUE(reader.read(batch, 1));
  EXPECT_EQ(batch.columns[0].kind, ColumnKind::kNumber);
  EXPECT_EQ(batch.columns[1].kind, ColumnKind::kText) << "decided by the batch before";
  EXPECT_THAT(batch.columns[1].codes, ElementsAre(-1));
  ASSERT_TRUE(reader.read(batch, 10));
  EXPECT_THAT(batch.lines, ElementsAre(4, 5));
  EXPECT_THAT(batch.columns[1].vocabulary, ElementsAre("y", "x")) << "of this batch";
  EXPECT_FALSE(reader.read(batch, 10));
  EXPECT_EQ(batch.rows(), 0U);

  CsvReader mixed = reader_of("a\nred\n2\n");
  ASSERT_TRUE(mixed.read(batch, 1));
  EXPECT_THAT(error_of([&] { mixed.read(batch, 1); }),
              testing::HasSubstr("cars.csv:2: column 'a'"));
}

TEST(CsvErrors, NameFileLineColumnValueAndRemedy) {
  const std::string remedy =
      " is not a number (correct it, or use categorical=hp if the column holds categories)";
  EXPECT_EQ(error_in("hp,w\n1,2\nabc,3\n"), "cars.csv:3: column 'hp': 'abc'" + remedy);
  EXPECT_EQ(error_in("hp,w\nabc,2\n\"de\nf\",2\n7,3\n"), "cars.csv:2: column 'hp': 'abc'" + remedy);
  EXPECT_EQ(error_of([] {
              table_of("hp\n1\nabc\n", {{ColumnKind::kNumber, false}});
            }),
            "cars.csv:3: column 'hp': 'abc' is not a number");
  for (const std::string word : {"inf", "-Infinity", "+INF", "1e999", "-1e999"}) {
    EXPECT_EQ(error_in("hp\n1\n" + word + "\n"),
              "cars.csv:3: column 'hp': '" + word +
                  "' is not finite (remove the row or correct the value)");
  }
  EXPECT_EQ(error_in("a,b,c\n1,2,3\n1,2\n"),
            "cars.csv:3: 2 cells where the header has 3 (is a delimiter or a quote missing?)");
  EXPECT_EQ(error_in("a,b\n1,2,\"\n\",3\n"),
            "cars.csv:2: 4 cells where the header has 2 (is a delimiter or a quote missing?)");
  EXPECT_EQ(error_in("a,b\n1,2\n\n3,4\n"),
            "cars.csv:3: a blank line where the header has 2 cells (remove it)");
  EXPECT_EQ(error_in("hp,w,hp\n"), "cars.csv:1: column 'hp' appears twice (rename one)");
  EXPECT_EQ(error_in(""), "cars.csv: the file is empty (a header row and data rows are expected)");
  EXPECT_EQ(error_in("\n \r\n"), error_in(""));
  EXPECT_EQ(error_in("a,b\n\n"), "cars.csv: the file has a header but no data rows");
  EXPECT_EQ(error_in("a,b\n1,2\n3,\"x\ny\n"), "cars.csv:3: a quote opens here and is never closed");
  EXPECT_EQ(error_in(std::string("a,b\n1,2\n3,\0\n", 12)),
            "cars.csv:3: a NUL byte (is it a text file, and in UTF-8?)");
  EXPECT_THAT(error_in(std::string("a,b\n1,\"x\n\n\0\"\n", 13)),
              testing::StartsWith("cars.csv:4: a NUL byte"));
}

TEST(CsvErrors, ARaggedRowIsReportedAsSuchWhateverItsCellsHold) {
  EXPECT_THAT(error_in("a,b,c\n1,2,3\n1 2,3\n"), testing::HasSubstr("cars.csv:3: 2 cells where"));
}

TEST(CsvErrors, ALongOrStrangeValueIsShownShortAndOnOneLine) {
  const std::string text =
      error_in("a\n1\n\"" + std::string(30, '\n') + std::string(500, 'x') + "\"\n");
  EXPECT_LT(text.size(), 250U);
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(CsvErrors, WhatIsNotADecimalNumberIsText) {
  for (const std::string word : {"0x10", "1_000", "1e", "1e+", "--1", "+-1", "++1", "-", ".",
                                 "1.2.3", "1 2", "infx", "-nan", "nan(1)", "1d5", "\xd9\xa1"}) {
    EXPECT_EQ(table_of("a,b\n" + word + ",1\n").columns[0].kind, ColumnKind::kText) << word;
  }
  EXPECT_EQ(table_of("a;b\n1,5;1\n").columns[0].kind, ColumnKind::kText);
}

/// A text that begins with `start` and goes on with one character for ever, as a small gzip file
/// can. It counts what is taken of it.
class Endless final : public ByteSource {
 public:
  Endless(std::string start, char more, std::size_t& taken)
      : start_(std::move(start)), more_(more), taken_(taken) {}
  const std::string& name() const noexcept override { return name_; }
  std::size_t read(char* to, std::size_t room) override {
    taken_ += room;
    std::memset(to, more_, room);
    std::memcpy(to, start_.data(), std::min(room, start_.size()));
    start_.clear();
    return room;
  }

 private:
  std::string name_ = "cars.csv";
  std::string start_;
  char more_;
  std::size_t& taken_;
};

std::string error_in_endless(const std::string& start, char more, std::size_t& taken) {
  return error_of([&] {
    CsvReader reader(std::make_unique<Endless>(start, more, taken));
    read_all(reader);
  });
}

TEST(CsvErrors, ALineWithoutAnEndDoesNotFillTheMemory) {
  std::size_t taken = 0;
  EXPECT_EQ(error_in_endless("", 'a', taken),
            "cars.csv:1: a line or quoted cell of more than 64 MiB (is a quote or a line break "
            "missing?)");
  EXPECT_LE(taken, kLongestHeader + CsvReader::kBlockBytes);
  taken = 0;
  EXPECT_EQ(error_in_endless("a\n1\n", '2', taken),
            "cars.csv:3: a line or quoted cell of more than 256 MiB (is a quote or a line break "
            "missing?)");
  EXPECT_LE(taken, kLongestLine + CsvReader::kBlockBytes);
}

TEST(CsvErrors, TooManyColumnsAreRefusedBeforeTheyTakeMemory) {
  EXPECT_EQ(error_in(std::string(kMostColumns, ',') + "\n1\n"),
            "cars.csv:1: the header has more than 200000 columns (remove columns, or is a line "
            "break missing?)");
  EXPECT_EQ(reader_of(std::string(kMostColumns - 1, ',') + "\n").header().size(), kMostColumns);
}

TEST(CsvErrors, TheFirstNameThatAppearsTwiceIsNamed) {
  EXPECT_THAT(error_in("z,b,a,b,z,a\n"), testing::HasSubstr("column 'b' appears twice"));
}

TEST(CsvReader, ABatchEndsWithTheRowThatReachesItsBytes) {
  CsvReader reader = reader_of("a,b\n1,xxxxxxxx\n2,x\n3,x\n4,xxxxxxxx\n");
  Table batch;
  std::vector<std::size_t> rows;
  while (reader.read(batch, 100, 8)) rows.push_back(batch.rows());
  EXPECT_THAT(rows, ElementsAre(1, 2, 1));
}

TEST(CsvErrors, AWrongNumberOfRequestsIsRefused) {
  CsvReader reader = reader_of("a,b\n1,2\n");
  error_of([&] { reader.select({{}}); }, ErrorCode::kShapeMismatch);
}

TEST(CsvReader, ThousandsOfColumnsAndLongLinesNeedNoLargerBlock) {
  std::string text;
  constexpr int kColumns = 5000;
  for (int j = 0; j < kColumns; ++j) text += fmt::format("{}c{}", j > 0 ? "," : "", j);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < kColumns; ++j) text += fmt::format("{}{}", j > 0 ? "," : "\n", i * j);
  }
  CsvReader reader = reader_of(text, 64);
  const Table table = read_all(reader);
  ASSERT_EQ(table.rows(), 3U);
  for (std::size_t j = 0; j < kColumns; ++j) {
    EXPECT_EQ(table.columns[j].numbers[2], 2.0 * static_cast<double>(j));
  }
}

TEST(IsMissingText, KnowsTheUsualSpellingsAndNothingElse) {
  for (const char* cell : {"", " ", "NA", "na", "NaN", "nan", "NULL", "null", "?", " ? "}) {
    EXPECT_TRUE(is_missing_text(cell)) << cell;
  }
  for (const char* cell : {"0", "none", "N/A", "nano", "??", "-", "nul"}) {
    EXPECT_FALSE(is_missing_text(cell)) << cell;
  }
}

TEST(AppendCsvNumber, ReadsBackAsTheSameDouble) {
  Rng rng(Seed{11});
  std::string text = "x,y\n";
  std::vector<double> values;
  while (values.size() < 20'000) {
    const double value = std::bit_cast<double>(rng.next());
    if (!std::isfinite(value)) continue;
    values.push_back(value);
    append_csv_number(text, value);
    text += ",1\n";
  }
  const Table table = table_of(text);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(table.columns[0].numbers[i]),
              std::bit_cast<std::uint64_t>(values[i]));
  }
}

TEST(AppendCsvNumber, IsShortAndPlain) {
  const auto written = [](double value) {
    std::string out;
    append_csv_number(out, value);
    return out;
  };
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(1.0), "1");
  EXPECT_EQ(written(-2.5), "-2.5");
  EXPECT_EQ(written(100000.0), "100000");
  EXPECT_EQ(written(1e22), "1e+22");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "");
}

TEST(AppendCsvCell, ReadsBackAsTheSameText) {
  Rng rng(Seed{12});
  constexpr std::string_view kCharacters = "ab1 ,;|\t\"\r\n";
  for (const char delimiter : {',', ';', '|', '\t'}) {
    std::string text = std::string("x") + delimiter + "y\n";
    std::vector<std::string> cells;
    for (int i = 0; i < 1000; ++i) {
      std::string cell;
      for (std::uint64_t k = rng.below(6); k > 0; --k)
        cell += kCharacters[rng.below(kCharacters.size())];
      append_csv_cell(text, cell, delimiter);
      text += delimiter;
      text += "1\n";
      cells.push_back(cell);
    }
    const Table table = table_of(text, {{ColumnKind::kSkip, true}, {ColumnKind::kNumber, false}});
    for (std::size_t i = 0; i < cells.size(); ++i) ASSERT_EQ(table.columns[0].raw[i], cells[i]);
  }
}

}  // namespace
}  // namespace tare

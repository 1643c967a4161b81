// SPDX-License-Identifier: BSD-3-Clause
// Reading ahead on several threads must be reading in order.
#include "io/csv_plain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "io/csv.h"
#include "io/files/byte_source.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// A file of numbers with now and then a cell that only the slow path understands. With `breaks`
/// the second column, which is then to be skipped, has cells that look like rows from inside.
std::string random_file(Rng& rng, std::size_t rows, double odd_share, bool crlf, bool breaks) {
  std::string text = "a,b,c\n";
  for (std::size_t i = 0; i < rows; ++i) {
    for (int c = 0; c < 3; ++c) {
      const double dice = rng.uniform();
      if (dice < 0.25 * odd_share) {
        text += "\"" + std::to_string(rng.below(100)) + "\"";
      } else if (dice < 0.5 * odd_share) {
        text += "NA";
      } else if (dice < 0.75 * odd_share) {
        text += " 7 ";
      } else if (dice < odd_share) {
        text += breaks && c == 1 ? "\"\n1,2,3\n4,5,6\n\"" : "\"8\"";
      } else {
        text += std::to_string(rng.normal() * 1000.0);
      }
      text += c < 2 ? "," : (crlf ? "\r\n" : "\n");
    }
  }
  return text;
}

/// In small batches, which never read ahead.
Table in_order(const std::string& text, std::vector<ColumnRequest> requests) {
  CsvReader reader(bytes_in_memory("f.csv", text));
  reader.select(std::move(requests));
  Table all;
  Table batch;
  while (reader.read(batch, 100)) {
    if (all.columns.empty()) {
      all = batch;
      continue;
    }
    all.lines.insert(all.lines.end(), batch.lines.begin(), batch.lines.end());
    for (std::size_t c = 0; c < batch.columns.size(); ++c) {
      auto& to = all.columns[c];
      to.numbers.insert(to.numbers.end(), batch.columns[c].numbers.begin(),
                        batch.columns[c].numbers.end());
      to.missing += batch.columns[c].missing;
    }
  }
  return all;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(
      a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST(CsvPlain, AWholeFileReadsAsItsBatchesDo) {
  Rng rng(Seed{1});
  const std::vector<ColumnRequest> numbers(3, {.kind = ColumnKind::kNumber});
  std::vector<ColumnRequest> skipping = numbers;
  skipping[1].kind = ColumnKind::kSkip;
  for (int trial = 0; trial < 12; ++trial) {
    const double odd = trial % 3 == 0 ? 0.0 : (trial % 3 == 1 ? 0.0005 : 0.02);
    const bool skip = trial % 4 >= 2;
    const std::string text = random_file(rng, 12'000, odd, trial % 2 == 1, skip);
    const auto& requests = skip ? skipping : numbers;
    const Table expected = in_order(text, requests);
    for (const std::size_t threads : {1U, 2U, 5U}) {
      CsvReader reader(bytes_in_memory("f.csv", text));
      reader.use_threads(threads);
      reader.select(requests);
      const Table actual = read_all(reader);
      ASSERT_EQ(actual.lines, expected.lines) << "trial " << trial;
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_TRUE(same(actual.columns[c].numbers, expected.columns[c].numbers))
            << "trial " << trial;
        EXPECT_EQ(actual.columns[c].missing, expected.columns[c].missing);
      }
    }
  }
}

TEST(CsvPlain, BlankLinesAtTheEndAreNoRowsOfASkippedColumn) {
  for (const char* end : {" \n\r\n\n", "\r\r\r\n", " \r \r\n"}) {
    std::string text = "a\n";
    for (int i = 0; i < 3001; ++i) text += i % 3 == 1 ? "\n" : "7\n";
    text += end;
    const std::vector<ColumnRequest> skipped = {{ColumnKind::kSkip, false, ""}};
    CsvReader reader(bytes_in_memory("f.csv", text));
    reader.select(skipped);
    const Table table = read_all(reader);
    EXPECT_EQ(table.lines.size(), 3001U);
    EXPECT_EQ(table.lines, in_order(text, skipped).lines);
  }
}

TEST(CsvPlain, AnErrorFarDownTheFileNamesItsLine) {
  Rng rng(Seed{2});
  std::string text = random_file(rng, 30'000, 0.0, false, false);
  text += "1,2\n";
  for (int i = 0; i < 5'000; ++i) text += "1,2,3\n";
  CsvReader reader(bytes_in_memory("f.csv", text));
  expect_error(ErrorCode::kBadData, "f.csv:30002: 2 cells", [&] { read_all(reader); });
}

TEST(CsvPlain, StopsAtTheFirstRowThatIsNotPlainWhateverTheThreads) {
  Rng rng(Seed{3});
  const std::vector<std::uint8_t> wanted(3, 1);
  std::vector<PlainRows> pieces;
  for (int trial = 0; trial < 20; ++trial) {
    std::string text =
        random_file(rng, 8'000, trial % 2 == 0 ? 0.0 : 0.0002, false, true).substr(6);
    PlainRows one;
    one.columns.resize(3);
    read_plain_rows(text.data(), text.data() + text.size(), ',', wanted, 1, pieces, one);
    for (const std::size_t threads : {2U, 3U, 8U}) {
      PlainRows many;
      many.columns.resize(3);
      read_plain_rows(text.data(), text.data() + text.size(), ',', wanted, threads, pieces, many);
      EXPECT_EQ(many.end, one.end);
      EXPECT_EQ(many.rows, one.rows);
      EXPECT_EQ(many.columns, one.columns);
    }
  }
}

}  // namespace
}  // namespace tare

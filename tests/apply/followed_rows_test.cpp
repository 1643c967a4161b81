// SPDX-License-Identifier: BSD-3-Clause
#include "apply/follow.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <random>

#include "expect_error.h"
#include "io/csv.h"
#include "io/files/byte_source.h"

namespace tare {
namespace {

using testing::ElementsAre;

constexpr double kNoTarget = std::numeric_limits<double>::quiet_NaN();

/// As tare::read_csv: every column with its cells as written.
Table read_text(const std::string& text) {
  CsvReader reader(bytes_in_memory("t.csv", text), CsvReader::kBlockBytes);
  std::vector<ColumnRequest> requests(reader.header().size());
  for (ColumnRequest& request : requests) {
    request.kind = ColumnKind::kAuto;
    request.raw = true;
  }
  reader.select(requests);
  Table table;
  reader.read(table, 1'000);
  return table;
}

void expect_same(const Table& one, const Table& other) {
  EXPECT_EQ(one.source, other.source);
  EXPECT_EQ(one.lines, other.lines);
  EXPECT_EQ(one.first_row, other.first_row);
  ASSERT_EQ(one.columns.size(), other.columns.size());
  for (std::size_t j = 0; j < one.columns.size(); ++j) {
    const Column& a = one.columns[j];
    const Column& b = other.columns[j];
    SCOPED_TRACE(a.name);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kind, b.kind);
    ASSERT_EQ(a.numbers.size(), b.numbers.size());
    for (std::size_t i = 0; i < a.numbers.size(); ++i) {
      EXPECT_TRUE(a.numbers[i] == b.numbers[i] ||
                  (std::isnan(a.numbers[i]) && std::isnan(b.numbers[i])));
    }
    EXPECT_EQ(a.codes, b.codes);
    EXPECT_EQ(a.vocabulary, b.vocabulary);
    EXPECT_EQ(a.raw.bytes, b.raw.bytes);
    EXPECT_EQ(a.raw.ends, b.raw.ends);
    EXPECT_EQ(a.missing, b.missing);
    if (a.missing > 0) {
      EXPECT_EQ(a.first_missing, b.first_missing);
      EXPECT_EQ(a.first_missing_text, b.first_missing_text);
    }
  }
}

/// Lines with numbers, texts, repeated and new categories, and missing cells of several spellings.
std::vector<std::string> drawn_lines(std::size_t count, unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) {
    const auto pick = [&](unsigned of) { return draw() % of; };
    const std::string number =
        i > 0 && pick(5) == 0 ? (pick(2) == 0 ? "NA" : "") : std::to_string(pick(1000)) + ".5";
    const std::string text =
        i > 0 && pick(5) == 0
            ? ""
            : std::string(1, static_cast<char>('a' + pick(static_cast<unsigned>(4 + i / 3))));
    lines.push_back(number + "," + text + "," + std::to_string(pick(7)));
  }
  return lines;
}

TEST(FirstRows, AreThoseOfAFileThatEndsThere) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::vector<std::string> lines = drawn_lines(30, seed);
    std::string text = "x,c,y\n";
    for (const std::string& line : lines) text += line + "\n";
    const Table whole = read_text(text);
    for (const std::size_t count : {1U, 2U, 7U, 29U, 30U, 99U}) {
      std::string start = "x,c,y\n";
      for (std::size_t i = 0; i < std::min(count, lines.size()); ++i) start += lines[i] + "\n";
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << count << " rows");
      expect_same(first_rows(whole, count), read_text(start));
    }
  }
}

TEST(FirstRows, DoNotChangeTheTable) {
  const Table table = read_text("x,c\n1,a\n2,b\n,a\n");
  const Table before = table;
  const Table first = first_rows(table, 1);
  EXPECT_THAT(first.columns[1].vocabulary, ElementsAre("a"));
  EXPECT_EQ(first.columns[0].missing, 0U);
  expect_same(table, before);
}

TEST(TargetsOf, AreNumbersOrNothing) {
  const Table table = read_text("x,y,t,e\n1,5,a,\n2,,b,\n3,7,c,\n");
  const std::vector<std::size_t> rows = {0, 1, 2};
  const std::vector<double> targets = targets_of(table, "y", rows);
  EXPECT_EQ(targets[0], 5.0);
  EXPECT_TRUE(std::isnan(targets[1]));
  EXPECT_EQ(targets_of(table, "y", std::vector<std::size_t>{2}), std::vector<double>{7.0});
  for (const double target : targets_of(table, "e", rows)) EXPECT_TRUE(std::isnan(target));
  expect_error(ErrorCode::kBadData, "must be a number", [&] { targets_of(table, "t", rows); });
  expect_error(ErrorCode::kNotFound, "'z'", [&] { targets_of(table, "z", rows); });
}

struct Stream {
  explicit Stream(std::vector<double> y) : targets(std::move(y)), given(targets.size(), 1) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      given(i, 0) = std::sin(static_cast<double>(i));
    }
  }
  Rows rows() const { return {.x = x, .given = given, .group = {}}; }

  std::vector<double> targets;
  Matrix x{targets.size(), 0};
  Matrix given;
};

OnlineModel model_with(std::size_t delay) {
  StreamOptions options;
  options.levels = {Level(0.1), Level(0.9)};
  options.delay = delay;
  options.params.set("period", "3");
  return OnlineModel(0, true, options);
}

TEST(FollowedRows, AnswersWithTheTargetsBeforeTheDelayAndLearnsAllInTheEnd) {
  std::vector<double> y;
  for (std::size_t i = 0; i < 90; ++i) y.push_back(std::cos(static_cast<double>(i * i)));
  for (const std::size_t missing : {20U, 21U, 50U, 88U, 89U}) y[missing] = kNoTarget;
  const Stream stream(y);
  for (const std::size_t delay : {0U, 1U, 6U}) {
    // By hand: what is known before row i is answered, and the time of the row.
    OnlineModel by_hand = model_with(delay);
    std::vector<std::vector<double>> expected;
    std::deque<PendingRow> rows;
    std::size_t learned = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (; learned + delay < i; ++learned) {
        if (std::isnan(y[learned])) {
          by_hand.pass();
        } else {
          by_hand.learn(rows.front(), {}, y[learned]);
        }
        rows.pop_front();
      }
      rows.push_back(by_hand.answer(stream.given(i, 0), {}, rows.size()));
      EXPECT_EQ(rows.back().time, i);
      expected.push_back(rows.back().answer.quantiles);
    }
    OnlineModel model = model_with(delay);
    std::vector<std::vector<double>> answered;
    std::vector<std::size_t> order;
    Follower follower;
    follower.answered = [&](std::size_t i, const PendingRow& row) {
      EXPECT_EQ(i, answered.size());
      EXPECT_EQ(row.time, i) << "a row without a target is a step, also at the end";
      answered.push_back(row.answer.quantiles);
    };
    follower.learned = [&](std::size_t i) { order.push_back(i); };
    EXPECT_EQ(follow(model, stream.rows(), y, follower, {}), 85U);
    EXPECT_EQ(answered, expected) << "delay " << delay;
    EXPECT_EQ(order.size(), 85U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_EQ(model.stream().time(), 88U) << "rows at the end without a target are left alone";
  }
}

TEST(FollowedRows, NothingToLearnLeavesTheModelAsItWas) {
  const Stream stream(std::vector<double>(5, kNoTarget));
  OnlineModel model = model_with(0);
  EXPECT_EQ(follow(model, stream.rows(), stream.targets, {}, {}), 0U);
  EXPECT_EQ(model.stream().time(), 0U);
  const Stream empty(std::vector<double>{});
  EXPECT_EQ(follow(model, empty.rows(), empty.targets, {}, {}), 0U);
}

}  // namespace
}  // namespace tare

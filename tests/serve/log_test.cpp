// SPDX-License-Identifier: BSD-3-Clause
#include "serve/monitor/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "io/temp_folder.h"

namespace tare::serve {
namespace {

TEST(LogLine, IsAnObjectWhateverIsInIt) {
  LogLine line("info", "test");
  line.text("text", "a\"b\\c\n\xFF\x01").number("number", 0.25).count("count", 7);
  const auto json = nlohmann::json::parse(line.finish());
  EXPECT_EQ(json["event"], "test");
  EXPECT_EQ(json["number"], 0.25);
  EXPECT_EQ(json["count"], 7);
  EXPECT_TRUE(json["text"].get<std::string>().starts_with("a\"b\\c\n"));
}

TEST(LogLine, HasNothingThatATerminalObeys) {
  LogLine line("info", "test");
  // Escape, the one-character form of "escape [" in UTF-8 and as a byte, delete, a change of the
  // direction of writing.
  line.text("target",
            "/\x1b[2J \xc2\x9b"
            "31m \x9b"
            "31m \x7f \xe2\x80\xae");
  for (const char c : line.finish()) {
    EXPECT_TRUE((c >= ' ' && c < '\x7f') || c == '\n') << static_cast<int>(c);
  }
  EXPECT_TRUE(
      nlohmann::json::parse(line.finish())["target"].get<std::string>().starts_with("/\x1b"));
}

TEST(Log, FlushWaitsForTheLinesBefore) {
  const TempFolder folder;
  const std::string path = folder / "log";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  Log log(file);
  for (std::uint64_t i = 0; i < 100; ++i) log.write(LogLine("info", "test").count("i", i));
  log.flush(std::chrono::seconds(20));
  EXPECT_EQ(split_text(read_bytes(path), '\n').size(), 101U);
  ::close(file);
}

TEST(Log, WritesEveryLineInOrderBeforeItEnds) {
  const TempFolder folder;
  const std::string path = folder / "log";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  {
    Log log(file);
    for (std::uint64_t i = 0; i < 2'000; ++i) log.write(LogLine("info", "test").count("i", i));
  }
  ::close(file);
  const auto lines = split_text(read_bytes(path), '\n');
  ASSERT_EQ(lines.size(), 2'001U);
  for (std::size_t i = 0; i < 2'000; ++i) EXPECT_EQ(nlohmann::json::parse(lines[i])["i"], i);
}

TEST(Log, NobodyWhoReadsHoldsUpNothing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto start = std::chrono::steady_clock::now();
  {
    Log log(ends[1]);
    const std::string long_text(1'000, 'x');
    for (int i = 0; i < 5'000; ++i) log.write(LogLine("info", "test").text("text", long_text));
    EXPECT_GT(log.dropped(), 1'000U) << "five megabytes do not fit into one";
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace tare::serve

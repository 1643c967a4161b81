// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/journal_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "expect_error.h"
#include "io/temp_folder.h"

namespace tare {
namespace {

using Records = std::vector<std::string>;

struct JournalContent {
  std::string header;
  Records records;
  JournalEnd end;
};

JournalContent content_of(const std::string& path, std::uint64_t from = 0) {
  JournalContent content;
  content.end = read_journal(
      path, [&](std::string_view text) { content.header = text; },
      [&](std::string_view record) { content.records.emplace_back(record); }, from);
  return content;
}

class Journal : public testing::Test {
 protected:
  /// A journal with these records; its size after each of them, the header's first.
  std::vector<std::uint64_t> write(const Records& records,
                                   JournalSync sync = JournalSync::kSystem) const {
    JournalFile file(path_, sync);
    file.start("the header");
    std::vector<std::uint64_t> sizes = {file.size()};
    for (const std::string& record : records) {
      file.append(record);
      sizes.push_back(file.size());
    }
    return sizes;
  }

  TempFolder folder_;
  std::string path_ = folder_ / "j";
  Records some_ = {"one", "", std::string("two\0x", 5), std::string(150, 'q'), "last"};
};

TEST_F(Journal, ReadsWhatWasWritten) {
  for (const JournalSync sync : {JournalSync::kSystem, JournalSync::kAlways}) {
    const auto sizes = write(some_, sync);
    const JournalContent content = content_of(path_);
    EXPECT_EQ(content.header, "the header");
    EXPECT_EQ(content.records, some_);
    EXPECT_EQ(content.end.whole, sizes.back());
    EXPECT_EQ(content.end.torn, 0U);
    EXPECT_EQ(std::filesystem::file_size(path_), sizes.back());
  }
}

TEST_F(Journal, GoesOnWhereAnEarlierReaderEnded) {
  const auto sizes = write(some_);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const JournalContent rest = content_of(path_, sizes[i]);
    EXPECT_EQ(rest.records, Records(some_.begin() + static_cast<std::ptrdiff_t>(i), some_.end()));
    EXPECT_EQ(rest.end.whole, sizes.back());
  }
}

TEST_F(Journal, RecordsLongerThanABlockOfTheReader) {
  const Records long_ones = {std::string((std::size_t{3} << 20) + 7, 'x'), "short",
                             std::string(std::size_t{1} << 20, 'y')};
  write(long_ones);
  EXPECT_EQ(content_of(path_).records, long_ones);
}

/// Wherever a writer is stopped, the whole records before that are read, and the next writer goes
/// on after them.
TEST_F(Journal, IsCutAtEveryByte) {
  const auto sizes = write(some_);
  const std::string whole = read_bytes(path_);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    write_bytes(path_, whole.substr(0, cut));
    const auto after = std::upper_bound(sizes.begin(), sizes.end(), cut);
    const auto kept = static_cast<std::size_t>(after - sizes.begin());  // the header is one
    JournalContent content = content_of(path_);
    ASSERT_EQ(content.end.whole, kept == 0 ? 0 : sizes[kept - 1]) << cut;
    ASSERT_EQ(content.end.torn, cut - content.end.whole) << cut;
    ASSERT_EQ(content.records.size(), kept == 0 ? 0 : kept - 1) << cut;
    if (kept == 0) continue;
    JournalFile file(path_, JournalSync::kSystem);
    file.go_on(content.end.whole);
    file.append("new");
    Records expected(some_.begin(), some_.begin() + static_cast<std::ptrdiff_t>(kept - 1));
    expected.emplace_back("new");
    content = content_of(path_);
    ASSERT_EQ(content.records, expected) << cut;
    ASSERT_EQ(content.end.torn, 0U) << cut;
  }
}

/// A changed byte is damage, or, in the last record, cuts it off: never another record.
TEST_F(Journal, EveryChangedByteIsNoticed) {
  some_[3] = "shorter";
  const auto sizes = write(some_);
  const std::string whole = read_bytes(path_);
  const std::uint64_t last = sizes[sizes.size() - 2];
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned bit : {0x01U, 0x80U, 0xFFU}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ bit);
      write_bytes(path_, changed);
      try {
        const JournalContent content = content_of(path_);
        ASSERT_GE(at, last) << "a change before the last record is an error";
        ASSERT_EQ(content.records, Records(some_.begin(), some_.end() - 1)) << at;
        ASSERT_EQ(content.end.torn, whole.size() - last) << at;
      } catch (const Error& error) {
        ++refused;
        ASSERT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
        ASSERT_TRUE(error.code() == ErrorCode::kCorruptFile ||
                    error.code() == ErrorCode::kUnsupported)
            << error.what();
      }
    }
  }
  EXPECT_GE(refused, 3 * last);
}

/// A power cut may leave the length of a file without its bytes.
TEST_F(Journal, ZerosAtTheEndAreCutOff) {
  const auto sizes = write(some_);
  write_bytes(path_, read_bytes(path_) + std::string(5000, '\0'));
  JournalContent content = content_of(path_);
  EXPECT_EQ(content.records, some_);
  EXPECT_EQ(content.end.whole, sizes.back());
  EXPECT_EQ(content.end.torn, 5000U);
  write_bytes(path_, read_bytes(path_) + "x");
  expect_error(ErrorCode::kCorruptFile, "damaged at byte", [&] { content_of(path_); });
}

TEST_F(Journal, OtherFilesAreRefused) {
  write_bytes(path_, "a,b,y\n1,2,3\n");
  expect_error(ErrorCode::kCorruptFile, "is not a journal", [&] { content_of(path_); });
  expect_error(ErrorCode::kNotFound, "no such file", [&] { content_of(path_ + "x"); });
  expect_error(ErrorCode::kNotFound, "folder does not exist",
               [&] { JournalFile(folder_ / "no/j", JournalSync::kSystem); });
  expect_error(ErrorCode::kIo, "not a regular file",
               [&] { JournalFile("/dev/null", JournalSync::kSystem); });
  EXPECT_EQ(read_bytes(path_), "a,b,y\n1,2,3\n");
}

TEST_F(Journal, HasOneWriter) {
  auto first = std::make_unique<JournalFile>(path_, JournalSync::kSystem);
  expect_error(ErrorCode::kIo, "another process writes to this journal",
               [&] { JournalFile(path_, JournalSync::kSystem); });
  first.reset();
  EXPECT_NO_THROW(JournalFile(path_, JournalSync::kSystem));
}

/// A file that may not grow takes a part of the record, as a full disk does.
TEST_F(Journal, ARecordWithoutRoomIsNotThere) {
  JournalFile file(path_, JournalSync::kSystem);
  file.start("h");
  file.append("before");
  const std::uint64_t size = file.size();
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = size + 20, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string problem;
  try {
    file.append("a record that needs more than twenty bytes");
  } catch (const Error& error) {
    problem = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(problem.find("cannot be written"), std::string::npos) << problem;
  EXPECT_EQ(file.size(), size);
  EXPECT_EQ(std::filesystem::file_size(path_), size) << "the part is cut off";
  file.append("after");
  EXPECT_EQ(content_of(path_).records, (Records{"before", "after"}));
}

TEST_F(Journal, ARemovedFileTakesNoRecord) {
  JournalFile file(path_, JournalSync::kSystem);
  file.start("h");
  std::filesystem::remove(path_);
  expect_error(ErrorCode::kIo, "was removed", [&] { file.append("lost"); });
}

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "io/temp_folder.h"

namespace tare {
namespace {

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TempFolder folder;
  const std::string path = folder / "out";
  AtomicFile file(path, Overwrite::kRefuse);
  file.write("hello ");
  file.write("world");
  EXPECT_FALSE(std::filesystem::exists(path));
  file.commit();
  EXPECT_EQ(read_bytes(path), "hello world");
}

TEST(AtomicFile, LeavesNothingBehindWhenItIsGivenUp) {
  const TempFolder folder;
  {
    AtomicFile file(folder / "out", Overwrite::kRefuse);
    file.write("half");
  }
  EXPECT_EQ(folder.files(), 0U);
}

TEST(AtomicFile, KeepsTheOldFileUntilTheNewOneIsWhole) {
  const TempFolder folder;
  const std::string path = folder / "out";
  write_bytes(path, "old");
  {
    AtomicFile file(path, Overwrite::kAllow);
    file.write("half");
  }
  EXPECT_EQ(read_bytes(path), "old");
  AtomicFile file(path, Overwrite::kAllow);
  file.write("new");
  file.commit();
  EXPECT_EQ(read_bytes(path), "new");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, RefusesToReplaceWithoutLeave) {
  const TempFolder folder;
  const std::string path = folder / "out";
  write_bytes(path, "old");
  expect_error(ErrorCode::kInvalidArgument, "use force to replace it",
               [&] { AtomicFile(path, Overwrite::kRefuse); });
  EXPECT_EQ(read_bytes(path), "old");
}

TEST(AtomicFile, RefusesToReplaceAFileThatAppearedMeanwhile) {
  const TempFolder folder;
  const std::string path = folder / "out";
  AtomicFile file(path, Overwrite::kRefuse);
  file.write("mine");
  write_bytes(path, "theirs");
  expect_error(ErrorCode::kInvalidArgument, "exists already", [&] { file.commit(); });
  EXPECT_EQ(read_bytes(path), "theirs");
}

TEST(AtomicFile, AFullDiskIsAnError) {
  AtomicFile file("/dev/full", Overwrite::kRefuse);
  expect_error(ErrorCode::kIo, "No space left", [&] { file.write(std::string(100, 'x')); });
}

TEST(AtomicFile, NamesWhatIsWrongWithThePath) {
  const TempFolder folder;
  expect_error(ErrorCode::kNotFound, "does not exist",
               [&] { AtomicFile(folder / "no/such", Overwrite::kRefuse); });
  expect_error(ErrorCode::kInvalidArgument, "is a folder",
               [&] { AtomicFile(folder / "", Overwrite::kAllow); });
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

TEST(AtomicFile, KeepsThePermissionsOfTheFileThatItReplaces) {
  const TempFolder folder;
  const std::string path = folder / "out";
  for (const unsigned mode : {0600U, 0640U, 0666U, 0444U}) {
    write_bytes(path, "old");
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    AtomicFile file(path, Overwrite::kAllow);
    file.write("new");
    file.commit();
    EXPECT_EQ(mode_of(path), mode);
    EXPECT_EQ(read_bytes(path), "new");
    std::filesystem::remove(path);
  }
}

TEST(AtomicFile, WritesTheFileBehindASymbolicLinkAndKeepsTheLink) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "inner");
  write_bytes(folder / "inner/file", "old");
  std::filesystem::create_symlink("inner/file", folder / "first");
  std::filesystem::create_symlink(folder / "first", folder / "second");
  AtomicFile file(folder / "second", Overwrite::kAllow);
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "second"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "inner/file"));
  EXPECT_EQ(read_bytes(folder / "inner/file"), "new");

  std::filesystem::create_symlink("inner/not_yet", folder / "loose");
  AtomicFile loose(folder / "loose", Overwrite::kRefuse);
  loose.write("made");
  loose.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "loose"));
  EXPECT_EQ(read_bytes(folder / "inner/not_yet"), "made");

  std::filesystem::create_symlink("round", folder / "round");
  expect_error(ErrorCode::kIo, "symbolic links",
               [&] { AtomicFile(folder / "round", Overwrite::kAllow); });
}

TEST(AtomicFile, TwoWritersOfOneNameDoNotDisturbEachOther) {
  const TempFolder folder;
  const std::string path = folder / "out";
  write_bytes(path, "old");
  AtomicFile first(path, Overwrite::kAllow);
  AtomicFile second(path, Overwrite::kAllow);
  first.write("one");
  second.write("two");
  second.commit();
  EXPECT_EQ(read_bytes(path), "two");
  first.commit();
  EXPECT_EQ(read_bytes(path), "one");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, ManyThreadsLeaveOneWholeFile) {
  const TempFolder folder;
  const std::string path = folder / "out";
  write_bytes(path, "old");
  {
    std::vector<std::jthread> writers;
    for (char letter = 'a'; letter < 'i'; ++letter) {
      writers.emplace_back([&path, letter] {
        for (int k = 0; k < 10; ++k) {
          AtomicFile file(path, Overwrite::kAllow);
          file.write(std::string(10'000, letter));
          file.commit();
        }
      });
    }
  }
  const std::string left = read_bytes(path);
  EXPECT_EQ(left, std::string(10'000, left.front()));
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, ANameThatIsTooLongIsRefusedBeforeTheWork) {
  const TempFolder folder;
  expect_error(ErrorCode::kIo, "too long",
               [&] { AtomicFile(folder / std::string(300, 'x'), Overwrite::kRefuse); });
  const std::string longest = folder / std::string(255, 'x');
  write_bytes(longest, "old");
  AtomicFile file(longest, Overwrite::kAllow);
  file.write("new");
  file.commit();
  EXPECT_EQ(read_bytes(longest), "new");
}

}  // namespace
}  // namespace tare

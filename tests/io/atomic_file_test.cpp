// SPDX-License-Identifier: BSD-3-Clause
#include "io/atomic_file.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tare

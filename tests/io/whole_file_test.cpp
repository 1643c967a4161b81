// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "expect_error.h"
#include "io/safetensors.h"
#include "io/temp_folder.h"
#include "tare/base/error.h"

namespace tare {
namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(WholeFile, GivesEveryByte) {
  const TempFolder folder;
  for (const std::size_t size : {0UL, 1UL, 65'535UL, 65'536UL, 300'000UL}) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31);
    write_bytes(folder / "file", text);
    EXPECT_EQ(text_of(read_whole_file(folder / "file")), text);
    EXPECT_EQ(text_of(read_whole_file(folder / "file", [](auto) { return true; })), text);
  }
}

TEST(WholeFile, AFileThatIsNotWorthReadingIsNotReadToItsEnd) {
  const TempFolder folder;
  write_bytes(folder / "file", "a,b,c,d\n1");
  std::filesystem::resize_file(folder / "file", std::size_t{1} << 40);  // a hole, not a disk
  std::size_t seen = 0;
  const auto bytes = read_whole_file(folder / "file", [&](std::span<const std::byte> start) {
    seen = start.size();
    return false;
  });
  EXPECT_EQ(bytes.size(), seen);
  EXPECT_LT(seen, std::size_t{1} << 20);
  expect_error(ErrorCode::kIo, "more than the memory of this machine",
               [&] { read_whole_file(folder / "file"); });
  expect_error(ErrorCode::kCorruptFile, "is not a tare model file",
               [&] { read_safetensors(folder / "file"); });
}

TEST(WholeFile, WhatIsNoRegularFileIsRefusedAtOnce) {
  const TempFolder folder;
  expect_error(ErrorCode::kNotFound, "no such file", [&] { read_whole_file(folder / "no"); });
  expect_error(ErrorCode::kBadData, "a directory", [&] { read_whole_file(folder / ""); });
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error(ErrorCode::kIo, "is not a regular file", [&] { read_whole_file(folder / "pipe"); });
  expect_error(ErrorCode::kIo, "is not a regular file", [&] { read_whole_file("/dev/zero"); });
}

TEST(WholeFile, AStoreStaysWhenItsFileIsWrittenOver) {
  const TempFolder folder;
  const std::string path = folder / "model";
  TensorStore store;
  const std::vector<double> values(10'000, 7.5);
  TensorWriter(store).tensor("numbers", values);
  write_safetensors(path, store, Overwrite::kRefuse);
  const TensorStore read = read_safetensors(path);
  write_bytes(path, std::string(std::filesystem::file_size(path), '\0'));
  EXPECT_EQ(TensorReader(read).values<double>("numbers", {10'000}), values);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(TensorReader(read).values<double>("numbers", {10'000}), values);
}

TEST(TextFile, IsReadUpToItsLimit) {
  const TempFolder folder;
  const std::string text(100'000, 'x');
  write_bytes(folder / "text", text);
  EXPECT_EQ(read_text_file(folder / "text"), text);
  expect_error(ErrorCode::kBadData, "/dev/zero: has more than 16 MiB",
               [] { read_text_file("/dev/zero"); });
  expect_error(ErrorCode::kNotFound, "no such file", [&] { read_text_file(folder / "no"); });
}

}  // namespace
}  // namespace tare

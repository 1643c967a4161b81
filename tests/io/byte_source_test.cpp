// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/byte_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/csv.h"
#include "tare/base/error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

using testing::HasSubstr;

class ByteSourceTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(path_); }

  const std::string& file_with(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    return path_;
  }

  std::string path_ = testing::TempDir() + "tare_bytes_" + std::to_string(::getpid());
};

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string read_to_end(ByteSource& source, std::size_t room) {
  std::string out;
  std::string piece(room, '\0');
  while (const std::size_t count = source.read(piece.data(), room)) out.append(piece, 0, count);
  return out;
}

std::string sample(std::size_t size) {
  Rng rng(Seed{3});
  std::string text;
  while (text.size() < size) text += std::to_string(rng.below(1000)) + ",\n";
  return text;
}

std::string error_of(const std::string& path, ErrorCode code) {
  try {
    read_to_end(*open_bytes(path), 4096);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST_F(ByteSourceTest, PlainAndGzipGiveTheSameBytesInAnyPieces) {
  const std::string text = sample(300'000);
  const std::string packed = gzip(text);
  for (const std::size_t room : {std::size_t{1}, std::size_t{777}, std::size_t{1} << 20}) {
    EXPECT_EQ(read_to_end(*open_bytes(file_with(text)), room), text);
    EXPECT_EQ(read_to_end(*open_bytes(file_with(packed)), room), text);
  }
  for (const std::string shortest : {"", "x", "\x1f"}) {
    EXPECT_EQ(read_to_end(*open_bytes(file_with(shortest)), 10), shortest);
  }
}

TEST_F(ByteSourceTest, GzipMembersFollowEachOtherAndZerosMayPadTheEnd) {
  const std::string packed = gzip("a,b\n") + gzip("") + gzip("1,2\n") + std::string(600, '\0');
  EXPECT_EQ(read_to_end(*open_bytes(file_with(packed)), 100), "a,b\n1,2\n");
}

TEST_F(ByteSourceTest, GzipCutShortAnywhereIsACorruptFile) {
  const std::string packed = gzip(sample(500));
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_THAT(error_of(file_with(packed.substr(0, size)), ErrorCode::kCorruptFile),
                HasSubstr(path_ + ": the gzip data"))
        << size;
  }
}

TEST_F(ByteSourceTest, GzipWithAFlippedBitNeverGivesOtherBytes) {
  const std::string text = sample(500);
  const std::string packed = gzip(text);
  for (std::size_t i = 2; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    try {
      // Bytes of the header that nobody checks, such as its time, may change.
      EXPECT_EQ(read_to_end(*open_bytes(file_with(damaged)), 4096), text) << i;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorruptFile);
    }
  }
  EXPECT_THAT(error_of(file_with(packed + "junk"), ErrorCode::kCorruptFile), HasSubstr("damaged"));
}

TEST_F(ByteSourceTest, WhatCannotBeOpenedSaysWhy) {
  EXPECT_EQ(error_of("/no/such/cars.csv", ErrorCode::kNotFound), "/no/such/cars.csv: no such file");
  EXPECT_EQ(error_of(testing::TempDir(), ErrorCode::kBadData),
            testing::TempDir() + ": a directory, not a file");
}

TEST_F(ByteSourceTest, AFileThatMayNotBeReadSaysSo) {
  ::chmod(file_with("a\n1\n").c_str(), 0);
  if (::geteuid() != 0) {
    EXPECT_THAT(error_of(path_, ErrorCode::kIo), HasSubstr("Permission denied"));
  }
  // Even root cannot read where nothing is mapped.
  EXPECT_THAT(error_of("/proc/self/mem", ErrorCode::kIo), HasSubstr("Input/output error"));
}

TEST_F(ByteSourceTest, TheCsvReaderReadsCompressedFilesAndNamesTheDamagedOne) {
  const std::string packed = gzip("a,b\n1,x\n2,y\n");
  CsvReader reader(file_with(packed));
  EXPECT_EQ(reader.source(), path_);
  EXPECT_THAT(read_all(reader).columns[0].numbers, testing::ElementsAre(1, 2));
  file_with(packed.substr(0, packed.size() - 3));
  try {
    CsvReader cut(path_);
    read_all(cut);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorruptFile);
  }
}

TEST_F(ByteSourceTest, ADashIsStandardInput) {
  const int saved = ::dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(file_with(gzip("a,b\n1,2\n")).c_str(), "rb", stdin), nullptr);
  {
    CsvReader reader("-");
    EXPECT_EQ(reader.source(), "<stdin>");
    EXPECT_EQ(read_all(reader).rows(), 1U);
  }
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

}  // namespace
}  // namespace tare

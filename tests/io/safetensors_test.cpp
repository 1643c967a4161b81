// SPDX-License-Identifier: BSD-3-Clause
#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "expect_error.h"
#include "io/temp_folder.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

TensorStore example() {
  TensorStore store;
  const TensorWriter out(store);
  out.value("name", "a \"quoted\" name");
  out.value("count", 7);
  out.tensor("bytes", std::vector<std::uint8_t>{1, 2, 3});
  const TensorWriter part = out.part("part").part("0");
  part.tensor("numbers", std::span<const double>(std::vector<double>{1.5, -2.5, 0.0, 1e300}),
              {2, 2});
  part.tensor("floats", std::vector<float>{0.5F});
  part.tensor("empty", std::vector<std::int64_t>{});
  return store;
}

std::string file_of(const TempFolder& folder) {
  const std::string path = folder / "model";
  write_safetensors(path, example(), Overwrite::kAllow);
  return path;
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  const TempFolder folder;
  const TensorStore store = read_safetensors(file_of(folder));
  const TensorReader in(store);
  EXPECT_EQ(in.get<std::string>("name"), "a \"quoted\" name");
  EXPECT_EQ(in.count("count", 10), 7U);
  const TensorReader part = in.part("part").part("0");
  EXPECT_EQ(part.values<double>("numbers", {2, 2}), (std::vector<double>{1.5, -2.5, 0.0, 1e300}));
  EXPECT_EQ(part.values<float>("floats", {1}), std::vector<float>{0.5F});
  EXPECT_TRUE(part.values<std::int64_t>("empty", {0}).empty());
  EXPECT_EQ(in.values<std::uint8_t>("bytes", {3}), (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST(Safetensors, TensorsFillThePayloadWithoutAGapAndAreAligned) {
  // Other readers of the format insist on the first, and a mapped double on the second.
  const TempFolder folder;
  const std::string bytes = read_bytes(file_of(folder));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const Json header = Json::parse(bytes.substr(8, length));
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    spans.emplace_back(entry["data_offsets"][0].get<std::size_t>(),
                       entry["data_offsets"][1].get<std::size_t>());
  }
  std::sort(spans.begin(), spans.end());
  std::size_t end = 0;
  for (const auto& [first, last] : spans) {
    EXPECT_EQ(first, end);
    end = last;
  }
  EXPECT_EQ(end, bytes.size() - 8 - length);
  for (const auto& [key, value] : header["__metadata__"].items())
    EXPECT_TRUE(value.is_string()) << key;
}

TEST(Safetensors, EveryFlippedByteIsNoticed) {
  const TempFolder folder;
  const std::string path = file_of(folder);
  const std::string good = read_bytes(path);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int bit : {0, 5}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      write_bytes(path, bad);
      EXPECT_THROW(read_safetensors(path), Error) << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(Safetensors, EveryTruncationIsNoticed) {
  const TempFolder folder;
  const std::string path = file_of(folder);
  const std::string good = read_bytes(path);
  for (std::size_t length = 0; length < good.size(); ++length) {
    write_bytes(path, good.substr(0, length));
    expect_error(ErrorCode::kCorruptFile, path, [&] { read_safetensors(path); });
  }
  write_bytes(path, good + "x");
  EXPECT_THROW(read_safetensors(path), Error);
}

TEST(Safetensors, ANewerFormatIsNamed) {
  const TempFolder folder;
  const std::string path = file_of(folder);
  std::string bytes = read_bytes(path);
  const std::string mark = "\"format_version\":\"1\"";
  const std::size_t place = bytes.find(mark);
  ASSERT_NE(place, std::string::npos);
  bytes[place + mark.size() - 2] = '9';
  write_bytes(path, bytes);
  expect_error(ErrorCode::kCorruptFile, "format version 9", [&] { read_safetensors(path); });
}

TEST(Safetensors, WhatIsNotAModelFileIsSaidToBeNone) {
  const TempFolder folder;
  const std::string path = folder / "other";
  for (const std::string& bytes :
       {std::string("a,b\n1,2\n3,4\n"), std::string(100, '\0'),
        std::string("\x02\0\0\0\0\0\0\0{}", 10), std::string("\x02\0\0\0\0\0\0\0[]", 10),
        std::string(100, '\xff')}) {
    write_bytes(path, bytes);
    expect_error(ErrorCode::kCorruptFile, "not a tare model file", [&] { read_safetensors(path); });
  }
  expect_error(ErrorCode::kNotFound, "no such file", [&] { read_safetensors(folder / "absent"); });
  expect_error(ErrorCode::kBadData, "a directory", [&] { read_safetensors(folder / "."); });
}

TEST(Safetensors, AHandMadeFileWithARightChecksumIsStillChecked) {
  const TempFolder folder;
  const std::string path = folder / "made";
  TensorStore store = example();
  store.values["count"] = -1;
  write_safetensors(path, store, Overwrite::kAllow);
  const TensorStore read = read_safetensors(path);
  const TensorReader in(read);
  expect_error(ErrorCode::kCorruptFile, "count", [&] { in.count("count", 10); });
  expect_error(ErrorCode::kCorruptFile, "lacks", [&] { in.get<int>("absent"); });
  expect_error(ErrorCode::kCorruptFile, "wrong type", [&] { in.get<int>("name"); });
  expect_error(ErrorCode::kCorruptFile, "is F64 [2,2]",
               [&] { in.part("part").part("0").values<double>("numbers", {4}); });
  expect_error(ErrorCode::kCorruptFile, "is U8", [&] { in.values<double>("bytes", {3}); });
}

}  // namespace
}  // namespace tare

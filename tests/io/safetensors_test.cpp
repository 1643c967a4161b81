// SPDX-License-Identifier: BSD-3-Clause
#include "io/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

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
  expect_error(ErrorCode::kCorruptFile, "lacks", [&] { in.get<double>("absent"); });
  expect_error(ErrorCode::kCorruptFile, "wrong type", [&] { in.get<double>("name"); });
  expect_error(ErrorCode::kCorruptFile, "is F64 [2,2]",
               [&] { in.part("part").part("0").values<double>("numbers", {4}); });
  expect_error(ErrorCode::kCorruptFile, "is U8", [&] { in.values<double>("bytes", {3}); });
}

/// A file of a header's text and a payload, with the checksum that fits.
std::vector<std::byte> made_file(std::string header, std::size_t payload) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  file += header + std::string(payload, '\0');
  const auto bytes = std::as_bytes(std::span(file));
  return with_right_checksum({bytes.begin(), bytes.end()});
}

TensorStore read_made(const std::vector<std::byte>& bytes) {
  return read_safetensors(bytes, nullptr, "made");
}

const std::string kMade =
    R"({"__metadata__":{"checksum":"00000000","format":"tare","format_version":"1")";

TEST(Safetensors, AChecksumCanBeMadeRight) {
  std::vector<std::byte> bytes = safetensors_bytes(example());
  EXPECT_EQ(with_right_checksum(bytes), bytes);
  bytes.back() ^= std::byte{1};
  EXPECT_THROW(read_made(bytes), Error);
  EXPECT_NO_THROW(read_made(with_right_checksum(bytes)));
  EXPECT_EQ(with_right_checksum({std::byte{1}}), std::vector<std::byte>{std::byte{1}});
}

TEST(Safetensors, TensorsThatLieOverEachOtherOrLeaveAGapAreRefused) {
  const auto file = [](std::string_view a, std::string_view b, std::size_t payload) {
    std::string text = kMade + "}";
    for (const auto& [name, place] : {std::pair("a", a), std::pair("b", b)}) {
      text += fmt::format(R"(,"{}":{{"dtype":"U8","shape":[8],"data_offsets":[{}]}})", name, place);
    }
    return made_file(text + "}", payload);
  };
  EXPECT_EQ(read_made(file("0,8", "8,16", 16)).tensors.size(), 2U);
  EXPECT_EQ(read_made(file("8,16", "0,8", 16)).tensors.size(), 2U);
  for (const auto& [first, second, bytes] :
       {std::tuple("0,8", "0,8", 8U), std::tuple("0,8", "4,12", 12U),
        std::tuple("0,8", "9,17", 17U), std::tuple("1,9", "9,17", 17U),
        std::tuple("0,8", "8,16", 17U)}) {
    expect_error(ErrorCode::kCorruptFile, "do not fill its",
                 [&, a = first, b = second, payload = bytes] { read_made(file(a, b, payload)); });
  }
}

TEST(Safetensors, AHeaderOfAnotherFormIsRefused) {
  const std::string tensor = R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]})";
  EXPECT_NO_THROW(read_made(made_file(kMade + "}," + tensor + "}", 8)));
  for (const std::string& rest : {
           "}," + tensor + "," + tensor + "}",                           // a name twice
           R"(,"format":"tare"},)" + tensor + "}",                       // a key twice
           R"(,"n":1},)" + tensor + "}",                                 // not a text
           "}," + tensor + R"(,"__metadata__":{}})",                     // twice
           std::string(R"(},"a":{"dtype":"U8","shape":[8]}})"),          // no place
           std::string(R"(},"a":{"shape":[8],"data_offsets":[0,8]}})"),  // no type
           std::string(R"(},"a":{"dtype":"U9","shape":[8],"data_offsets":[0,8]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8],"more":[]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[8],"shape":[8],"data_offsets":[0,8]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[[8]],"data_offsets":[0,8]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[8.0],"data_offsets":[0,8]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[-8],"data_offsets":[0,8]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,8],"data_offsets":[0,8]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":8,"data_offsets":[0,8]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8,8]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[8],"data_offsets":[8,0]}})"),
           std::string(
               R"(},"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})"),
           std::string(R"(},"a":{"dtype":"U8","shape":[0,4294967296],"data_offsets":[0,0]}})"),
           std::string(R"(},"a":3})"),
           std::string(R"(},"a":[]})"),
           std::string(R"(},"a":null})"),
       }) {
    expect_error(ErrorCode::kCorruptFile, "made", [&] { read_made(made_file(kMade + rest, 8)); });
  }
  expect_error(ErrorCode::kCorruptFile, "states no version", [] {
    read_made(made_file(R"({"__metadata__":{"checksum":"00000000","format":"tare"}})", 0));
  });
}

TEST(Safetensors, AValueMustBeJson) {
  const std::string deep(1'000, '[');
  for (const std::string& value : {std::string("["), std::string(""), std::string("nul"), deep}) {
    expect_error(ErrorCode::kCorruptFile, "is not JSON",
                 [&] { read_made(made_file(kMade + R"(,"tare.x":")" + value + "\"}}", 0)); });
  }
}

TEST(Safetensors, AHeaderHasALongestLength) {
  // Sparse: a file of a header's length of 3 GB takes no disk, and must take no memory either.
  const TempFolder folder;
  const std::string path = folder / "sparse";
  const std::uint64_t length = std::uint64_t{3} << 30;
  write_bytes(path, std::string(reinterpret_cast<const char*>(&length), sizeof(length)));
  std::filesystem::resize_file(path, length + 8);
  expect_error(ErrorCode::kCorruptFile, "at most 67108864 are read",
               [&] { read_safetensors(path); });
  TensorStore store;
  store.values["long"] = std::string(kMostHeaderBytes, 'x');
  expect_error(ErrorCode::kBadData, "at most 67108864", [&] { safetensors_bytes(store); });
}

TEST(TensorReader, NumbersAreAsTheyMust) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto holds = [](Must must, std::vector<double> values) {
    TensorStore store;
    TensorWriter(store).tensor("t", values);
    try {
      return TensorReader(store).list<double>("t", must) == values;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorruptFile);
      return false;
    }
  };
  for (const Must must :
       {Must::kBeFinite, Must::kBePositive, Must::kNotBeNegative, Must::kAscend, Must::kRise}) {
    EXPECT_TRUE(holds(must, {}));
    EXPECT_TRUE(holds(must, {1.0, 2.0}));
    // In the middle, where a comparison with a neighbour alone would not notice it.
    EXPECT_FALSE(holds(must, {1.0, kNan, 2.0}));
    EXPECT_FALSE(holds(must, {1.0, kInf}));
    EXPECT_FALSE(holds(must, {-kInf, 1.0}));
  }
  EXPECT_TRUE(holds(Must::kBeFinite, {3.0, -1.0}));
  EXPECT_FALSE(holds(Must::kBePositive, {1.0, 0.0}));
  EXPECT_TRUE(holds(Must::kNotBeNegative, {1.0, 0.0}));
  EXPECT_FALSE(holds(Must::kNotBeNegative, {-1.0}));
  EXPECT_TRUE(holds(Must::kAscend, {-1.0, -1.0}));
  EXPECT_FALSE(holds(Must::kAscend, {2.0, 1.0}));
  EXPECT_FALSE(holds(Must::kRise, {1.0, 1.0}));
}

TEST(TensorReader, CountsAreWholeAndWithinTheirLimit) {
  TensorStore store;
  const TensorReader in(store);
  store.values["n"] = Json::parse("[0,3,7]");
  EXPECT_EQ(in.counts("n", 7), (std::vector<std::size_t>{0, 3, 7}));
  for (const char* text :
       {"[8]", "[-1]", "[1.0]", "[1e300]", "[null]", "[[1]]", "3", "{}", "null"}) {
    store.values["n"] = Json::parse(text);
    expect_error(ErrorCode::kCorruptFile, "'n'", [&] { in.counts("n", 7); });
  }
  for (const char* text :
       {"8", "-1", "1.0", "1e300", "18446744073709551616", "null", "\"1\"", "[1]"}) {
    store.values["n"] = Json::parse(text);
    expect_error(ErrorCode::kCorruptFile, "'n'", [&] { in.count("n", 7); });
  }
  TensorWriter(store).tensor<double>("t", std::vector<double>(4), {2, 2});
  expect_error(ErrorCode::kCorruptFile, "not a list", [&] { in.list<double>("t"); });
}

}  // namespace
}  // namespace tare

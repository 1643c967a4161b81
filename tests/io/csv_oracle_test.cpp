// SPDX-License-Identifier: BSD-3-Clause
// The reader against a slow one that looks at one character after the other (csv_oracle.h), on
// random files and on damaged copies of them. Blocks of a few bytes make nearly every line and cell
// cross a block.
#include "csv_oracle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "draws.h"
#include "io/files/byte_source.h"
#include "tare/base/error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// Gives the bytes in pieces of random size, as a pipe does.
class DripSource final : public ByteSource {
 public:
  DripSource(std::string bytes, Seed seed, std::size_t largest)
      : bytes_(std::move(bytes)), rng_(seed), largest_(largest) {}
  const std::string& name() const noexcept override { return name_; }
  std::size_t read(char* to, std::size_t room) override {
    const std::size_t most = std::min({room, bytes_.size() - given_, 1 + rng_.below(largest_)});
    std::memcpy(to, bytes_.data() + given_, most);
    given_ += most;
    return most;
  }

 private:
  std::string name_ = "cars.csv";
  std::string bytes_;
  std::size_t given_ = 0;
  Rng rng_;
  std::size_t largest_;
};

struct Setting {
  std::vector<ColumnRequest> requests;
  std::size_t batch_rows = 1;
  std::size_t block = 1;
  std::size_t drip = 1;
};

template <class T, std::size_t N>
const T& any_of(Rng& rng, const std::array<T, N>& values) {
  return values[rng.below(N)];
}

Setting random_setting(Rng& rng) {
  constexpr std::array kKinds = {ColumnKind::kAuto, ColumnKind::kAuto,   ColumnKind::kAuto,
                                 ColumnKind::kText, ColumnKind::kNumber, ColumnKind::kSkip};
  Setting setting;
  for (std::uint64_t i = 1 + rng.below(4); i > 0; --i) {
    setting.requests.push_back({any_of(rng, kKinds), rng.below(3) == 0});
  }
  setting.batch_rows = rng.below(2) == 0 ? 1'000'000 : 1 + rng.below(5);
  setting.block = 1 + rng.below(rng.below(2) == 0 ? 8 : 100);
  setting.drip = 1 + rng.below(rng.below(2) == 0 ? 4 : 1000);
  return setting;
}

std::string random_number(Rng& rng) {
  constexpr std::array<std::string_view, 10> kOdd = {
      "+1.5", ".5", "-7.", "1e5", "-2.5E-3", "00", "-0", "1e+2", "1e-400", "123456789012345678901"};
  switch (rng.below(5)) {
    case 0:
      return std::to_string(rng.below(100));
    case 1:
      return fmt::format("{}", rng.normal());
    case 2:
      return fmt::format("{:.25f}", rng.normal());
    case 3:
      return fmt::format("{}", std::pow(10.0, 600 * rng.uniform() - 300));
    default:
      return std::string(any_of(rng, kOdd));
  }
}

std::string random_text(Rng& rng, char delimiter) {
  constexpr std::array<std::string_view, 10> kOdd = {"0x1F", "1_0",  "1e",  "abc",      "5\" pipe",
                                                     "-",    "naan", "+-3", "\xc3\xa9", "info"};
  if (rng.below(2) == 0) return std::string(any_of(rng, kOdd));
  const std::string letters = std::string("ab \"\n\r,;\t|") + delimiter;
  std::string text = "t";
  for (std::uint64_t k = rng.below(30); k > 0; --k) text += letters[rng.below(letters.size())];
  return text;
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// One cell as a file may spell it. `taste` 0 makes numbers, 1 texts, 2 anything.
std::string random_cell(Rng& rng, std::uint64_t taste, char delimiter) {
  constexpr std::array<std::string_view, 7> kMissing = {"", "NA", "nan", "NaN", "null", "?", " "};
  constexpr std::array<std::string_view, 4> kInfinite = {"inf", "-Infinity", "1e999", "+inf"};
  std::string cell;
  if (rng.below(8) == 0) {
    cell = any_of(rng, kMissing);
  } else if (rng.below(400) == 0) {
    cell = any_of(rng, kInfinite);
  } else if (taste == 0 || (taste == 2 && rng.below(2) == 0)) {
    cell = random_number(rng);
  } else {
    cell = random_text(rng, delimiter);
  }
  const bool needs_quotes =
      cell.find_first_of(std::string("\"\n\r") + delimiter) != std::string::npos;
  if (needs_quotes || rng.below(6) == 0) cell = in_quotes(cell);
  if (rng.below(300) == 0) cell += "tail\"";
  if (rng.below(6) == 0) cell.insert(0, 1 + rng.below(3), ' ');
  if (rng.below(6) == 0) cell.append(1 + rng.below(3), ' ');
  return cell;
}

std::string random_file(Rng& rng) {
  constexpr std::array kDelimiters = {',', '\t', ';', '|'};
  const char delimiter = any_of(rng, kDelimiters);
  const std::size_t columns = 1 + rng.below(5);
  const std::string_view end = rng.below(2) == 0 ? "\n" : "\r\n";
  std::string text = rng.below(4) == 0 ? "\xef\xbb\xbf" : "";
  for (std::size_t c = 0; c < columns; ++c) {
    std::string name = rng.below(20) == 0 ? "" : fmt::format("c{}", rng.below(40) == 0 ? 0 : c);
    if (rng.below(5) == 0) name = in_quotes(name + (rng.below(2) == 0 ? ",\n" : ""));
    if (c > 0) text += delimiter;
    text += name;
  }
  text += end;
  std::array<std::uint64_t, 5> tastes{};
  for (std::uint64_t& taste : tastes) taste = rng.below(10) == 0 ? 2 : rng.below(2);
  for (std::uint64_t row = rng.below(12); row > 0; --row) {
    const std::size_t cells = rng.below(100) == 0 ? 1 + rng.below(6) : columns;
    for (std::size_t c = 0; c < cells; ++c) {
      if (c > 0) text += delimiter;
      text += random_cell(rng, tastes[c % 5], delimiter);
    }
    text += rng.below(10) == 0 ? std::string_view("\n") : end;
    if (rng.below(100) == 0) text += "\n";
  }
  if (rng.below(3) == 0) text += "\n \r\n";
  if (rng.below(3) == 0) text.resize(text.find_last_not_of("\r\n") + 1);
  return text;
}

std::string damaged(std::string text, Rng& rng) {
  constexpr std::string_view kSpecial = ",;\t|\"\"\n\r .e+-0NA";
  for (std::uint64_t k = 1 + rng.below(6); k > 0; --k) {
    const std::size_t place = rng.below(text.size() + 1);
    const std::size_t length = std::min(text.size() - place, rng.below(8));
    const char byte = rng.below(4) == 0 ? static_cast<char>(rng.below(256))
                                        : kSpecial[rng.below(kSpecial.size())];
    switch (rng.below(4)) {
      case 0:
        text.insert(place, 1, byte);
        break;
      case 1:
        text.erase(place, length);
        break;
      case 2:
        text.insert(rng.below(text.size() + 1), text.substr(place, length));
        break;
      default:
        if (place < text.size()) text[place] = byte;
    }
  }
  return text;
}

std::string actual_reading(const std::string& text, const Setting& setting, Seed seed) {
  std::string out;
  try {
    CsvReader reader(std::make_unique<DripSource>(text, seed, setting.drip), setting.block);
    out += oracle::describe_header(reader.header(), reader.delimiter());
    std::vector<ColumnRequest> requests;
    for (std::size_t c = 0; c < reader.header().size(); ++c) {
      requests.push_back(setting.requests[c % setting.requests.size()]);
    }
    reader.select(requests);
    Table batch;
    for (bool more = true; more;) {
      more = reader.read(batch, setting.batch_rows);
      out += oracle::describe(batch, setting.requests);
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData) << error.what();
    out += oracle::describe_error(error.what());
  }
  return out;
}

/// One random file, read and compared. Returns whether it was read without an error.
bool compare(Seed seed, bool damage) {
  Rng rng(seed);
  std::string text = random_file(rng);
  if (damage) text = damaged(text, rng);
  const Setting setting = random_setting(rng);
  const std::string actual = actual_reading(text, setting, seed);
  if (text.find('\0') != std::string::npos) {
    EXPECT_NE(actual.find("error"), std::string::npos) << "seed " << seed.value;
    return false;
  }
  EXPECT_EQ(actual, oracle::expected_reading(text, setting.requests, setting.batch_rows))
      << "seed " << seed.value << ", block " << setting.block << ", file:\n"
      << text;
  return actual.find("error") == std::string::npos;
}

TEST(CsvOracle, RandomFilesReadTheSameInBlocksOfAnySize) {
  std::uint64_t readable = 0;
  for (std::uint64_t seed = 0; seed < draws(20'000) && !HasFailure(); ++seed) {
    readable += compare(Seed{seed}, false) ? 1U : 0U;
  }
  EXPECT_GT(readable, draws(8'000)) << "most random files should be valid, or little is tested";
  EXPECT_LT(readable, draws(19'000)) << "some should not be";
}

TEST(CsvOracle, DamagedFilesReadTheSameOrFailTheSame) {
  for (std::uint64_t seed = 100'000; seed < 100'000 + draws(40'000) && !HasFailure(); ++seed) {
    compare(Seed{seed}, true);
  }
}

TEST(CsvOracle, RandomBytesAreReadOrRefused) {
  for (std::uint64_t seed = 200'000; seed < 200'000 + draws(5'000) && !HasFailure(); ++seed) {
    Rng rng(Seed{seed});
    std::string text;
    for (std::uint64_t k = rng.below(200); k > 0; --k) text += static_cast<char>(rng.below(256));
    actual_reading(text, random_setting(rng), Seed{seed});
  }
}

}  // namespace
}  // namespace tare

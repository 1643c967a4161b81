// SPDX-License-Identifier: BSD-3-Clause
// Delimited text in blocks and pieces of any size, against the slow reader of the tests, which
// looks at one character after the other.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input.h"
#include "io/csv.h"
#include "io/csv_oracle.h"
#include "io/files/byte_source.h"
#include "tare/base/error.h"

namespace tare::fuzz {
namespace {

/// Gives the bytes in pieces, as a pipe does.
class PieceSource final : public ByteSource {
 public:
  PieceSource(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  const std::string& name() const noexcept override { return name_; }
  std::size_t read(char* to, std::size_t room) override {
    const std::size_t count = std::min({room, bytes_.size() - given_, piece_});
    if (count > 0) std::memcpy(to, bytes_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  std::string name_ = "cars.csv";
  std::string bytes_;
  std::size_t given_ = 0;
  std::size_t piece_;
};

struct Setting {
  std::vector<ColumnRequest> requests;
  std::size_t batch_rows = 1;
  std::size_t block = 1;
  std::size_t piece = 1;
  std::size_t threads = 1;
};

constexpr std::size_t kAllRows = static_cast<std::size_t>(-1);

Setting setting_from(Input& input) {
  constexpr ColumnKind kKinds[] = {ColumnKind::kAuto, ColumnKind::kText, ColumnKind::kNumber,
                                   ColumnKind::kSkip};
  Setting setting;
  const std::size_t columns = 1 + input.choose(4);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t choice = input.choose(8);
    setting.requests.push_back({kKinds[choice % 4], choice >= 4});
  }
  const std::size_t batch = input.choose(8);
  setting.batch_rows = batch == 0 ? kAllRows : batch;
  setting.block = 1 + input.choose(256);
  setting.piece = 1 + input.choose(256);
  setting.threads = 1 + input.choose(2);
  return setting;
}

/// Enough copies of the rows that the reader takes its fast path, which begins after 1,024 of them.
std::string with_many_rows(std::string_view text) {
  constexpr std::size_t kRows = 1'200;
  constexpr std::size_t kMostBytes = 200'000;
  const std::size_t header = text.find('\n');
  if (header == std::string_view::npos) return std::string(text);
  const std::string_view rows = text.substr(header + 1);
  const auto breaks = static_cast<std::size_t>(std::ranges::count(rows, '\n'));
  if (breaks == 0 || rows.size() * kRows / breaks > kMostBytes) return std::string(text);
  std::string all(text.substr(0, header + 1));
  for (std::size_t have = 0; have < kRows; have += breaks) all += rows;
  return all;
}

std::string reading(const std::string& text, const Setting& setting) {
  std::string out;
  try {
    CsvReader reader(std::make_unique<PieceSource>(text, setting.piece), setting.block);
    out += oracle::describe_header(reader.header(), reader.delimiter());
    std::vector<ColumnRequest> requests;
    for (std::size_t c = 0; c < reader.header().size(); ++c) {
      requests.push_back(setting.requests[c % setting.requests.size()]);
    }
    reader.select(requests);
    reader.use_threads(setting.threads);
    Table batch;
    for (bool more = true; more;) {
      more = reader.read(batch, setting.batch_rows);
      out += oracle::describe(batch, setting.requests);
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadData, "a text is bad data or good", error.what());
    out += oracle::describe_error(error.what());
  }
  return out;
}

/// An error's kind is found by words of its message, which may quote a cell that has such words,
/// too.
std::string without_kind(std::string account) {
  const std::size_t error = account.rfind("\nerror ");
  if (error != std::string::npos) account.resize(account.find_last_of(' '));
  return account;
}

bool has_words_of_a_message(std::string_view text) {
  constexpr std::string_view kWords[] = {"empty", "twice", "header", "closed", "finite", "number"};
  return std::ranges::any_of(
      kWords, [&](std::string_view words) { return text.find(words) != std::string_view::npos; });
}

}  // namespace
}  // namespace tare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  fuzz::Input input(data, size);
  fuzz::Setting setting = fuzz::setting_from(input);
  const bool many = input.choose(8) == 7;
  const std::string text = many ? fuzz::with_many_rows(input.text()) : std::string(input.text());
  if (many) setting.block *= 64;
  std::string actual = fuzz::reading(text, setting);
  if (text.find('\0') != std::string::npos) {
    fuzz::require(actual.find("error") != std::string::npos, "a NUL byte is refused");
    return 0;
  }
  std::string expected = oracle::expected_reading(text, setting.requests, setting.batch_rows);
  if (fuzz::has_words_of_a_message(text)) {
    actual = fuzz::without_kind(std::move(actual));
    expected = fuzz::without_kind(std::move(expected));
  }
  fuzz::require(actual == expected, "the reader and the slow reader agree",
                "read:\n" + actual + "\nexpected:\n" + expected);
  return 0;
}

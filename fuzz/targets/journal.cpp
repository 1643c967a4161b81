// SPDX-License-Identifier: BSD-3-Clause
// A journal: as bytes, as records that the program itself has written and then damaged, and as rows
// that a model learns again. What was written comes back, in whole records and in their order, or
// the file is refused; a model that learns a journal answers as the one that wrote it.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "apply/model_journal.h"
#include "calibrate/online/online_model.h"
#include "input.h"
#include "io/files/journal_file.h"
#include "memory_file.h"
#include "online/journal/journal_row.h"
#include "small_models.h"
#include "tare/base/error.h"

namespace tare::fuzz {
namespace {

struct Content {
  std::vector<std::string> records;
  JournalEnd end;
  bool refused = false;
};

Content content_of(const MemoryFile& file) {
  Content content;
  try {
    content.end = read_journal(
        file.path(), [](std::string_view) {},
        [&](std::string_view record) { content.records.emplace_back(record); });
    require(content.end.whole + content.end.torn == file.size(),
            "every byte is in a whole record or after the last one");
    const JournalEnd again = read_journal(
        file.path(), [](std::string_view) {},
        [](std::string_view) { require(false, "nothing comes after the last whole record"); },
        content.end.whole);
    require(content.end.whole == 0 || again.whole == content.end.whole, "it ends in one place");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kCorruptFile || error.code() == ErrorCode::kUnsupported,
            "a journal is read or refused", error.what());
    content.refused = true;
  }
  return content;
}

/// The text in records: lengths are choices, at most 31 bytes each.
std::vector<std::string> records_of(Input& input) {
  std::vector<std::size_t> lengths(input.choose(8));
  for (std::size_t& length : lengths) length = input.choose(32);
  std::vector<std::string> records;
  std::string_view text = input.text();
  for (const std::size_t length : lengths) {
    records.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length, text.size()));
  }
  return records;
}

void written_and_damaged(Input& input) {
  const std::size_t damage = input.choose(4);
  const std::size_t place = input.choose(256) * 256 + input.choose(256);
  const auto bits = static_cast<unsigned char>(input.choose(256));
  const std::vector<std::string> records = records_of(input);
  MemoryFile file;
  std::vector<std::uint64_t> ends;
  {
    JournalFile journal(file.path(), JournalSync::kSystem);
    journal.start("header");
    for (const std::string& record : records) {
      journal.append(record);
      ends.push_back(journal.size());
    }
  }
  const std::uint64_t size = file.size();
  if (damage == 1) file.flip(place % size, bits);
  if (damage == 2) file.cut(place % size);
  const Content found = content_of(file);
  require(found.records.size() <= records.size(), "no record is invented");
  for (std::size_t i = 0; i < found.records.size(); ++i) {
    require(found.records[i] == records[i], "a record is the one that was written");
  }
  if (damage == 2) {  // as a killed writer leaves it: all whole records, and never an error
    std::size_t whole = 0;
    while (whole < ends.size() && ends[whole] <= place % size) ++whole;
    require(!found.refused && found.records.size() == whole, "whole records survive a cut");
  }
  if (damage != 1 && damage != 2) {
    require(!found.refused && found.records == records && found.end.torn == 0, "all come back");
  }
}

/// A number of the text: eight bytes of it, or fewer and zeros.
double take_number(std::string_view& text) {
  std::uint64_t bits = 0;
  const std::size_t count = std::min(text.size(), sizeof bits);
  std::memcpy(&bits, text.data(), count);
  text.remove_prefix(count);
  return std::bit_cast<double>(bits);
}

std::shared_ptr<OnlineModel> copy_of(const FittedModel& model, FittedModel& owner) {
  owner = model;
  const std::shared_ptr<OnlineModel> copy = teachable(model, {});
  owner.model = copy;
  return copy;
}

/// Rows by this program, learned as they are written; a journal with a wrong row is refused there.
void learned_again(Input& input) {
  static const FittedModel start = small_online_model();
  const std::size_t wrong = input.choose(8);  // the row that is not as it should be; most have none
  const std::size_t how = input.choose(4);
  std::string_view text = input.text();
  FittedModel written;
  const std::shared_ptr<OnlineModel> writer = copy_of(start, written);
  MemoryFile file;
  std::size_t rows = 0;
  {
    JournalFile journal(file.path(), JournalSync::kSystem);
    journal.start(journal_header(written, "version"));
    for (; !text.empty() && rows < 8; ++rows) {
      JournalRow row{.sequence = writer->stream().time()};
      row.prediction = take_number(text);
      row.target = take_number(text);
      row.x.resize(writer->features());
      for (double& x : row.x) x = take_number(text);
      std::string bytes;
      try {
        const PendingRow answered = writer->answer(row.prediction, row.x);
        row.answer = answered.answer.quantiles[journal_level(writer->stream())];
        if (rows == wrong && how == 0) ++row.sequence;
        append_journal_row(bytes, row);
        if (rows == wrong && how == 1) bytes.pop_back();
        if (rows == wrong && how == 2) bytes[32] = '\x7f';  // the length of the id
        writer->learn(answered, row.x, row.target);
      } catch (const Error&) {  // not a number that can be learned
        break;
      }
      journal.append(bytes);
    }
  }
  FittedModel read;
  const std::shared_ptr<OnlineModel> reader = copy_of(start, read);
  JournalReplay replay(file.path(), read, "version");
  try {
    replay.read();
  } catch (const Error& error) {
    require(rows > wrong && how < 3, "rows that were learned are learned again", error.what());
    return;
  }
  require(rows <= wrong || how == 3, "a wrong row is refused");
  require(replay.replayed() == rows, "each row is learned once");
  const std::vector<double> x(reader->features(), 0.5);
  require(reader->answer(1.0, x).answer.quantiles == writer->answer(1.0, x).answer.quantiles,
          "the model answers as the one that wrote the journal");
}

/// A header that this program did not write, in front of a row.
void foreign_header(Input& input) {
  static const FittedModel start = small_online_model();
  FittedModel read;
  copy_of(start, read);
  MemoryFile file;
  {
    JournalFile journal(file.path(), JournalSync::kSystem);
    journal.start(input.text());
    journal.append("a row");
  }
  try {
    JournalReplay(file.path(), read, "version").read();
    require(false, "a row of five bytes is refused");
  } catch (const Error&) {  // in words
  }
}

}  // namespace
}  // namespace tare::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare::fuzz;
  Input input(data, size);
  switch (input.choose(4)) {
    case 1:
      written_and_damaged(input);
      break;
    case 2:
      learned_again(input);
      break;
    case 3:
      foreign_header(input);
      break;
    default:
      content_of(MemoryFile(input.text()));
  }
  return 0;
}

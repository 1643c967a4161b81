// SPDX-License-Identifier: BSD-3-Clause
#include "io/csv_columns.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <system_error>

#include "base/strings.h"

namespace tare {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

enum class Meaning : std::uint8_t { kMissing, kNumber, kInfinite, kText };

struct Reading {
  Meaning meaning = Meaning::kText;
  double value = 0.0;
};

Reading read_cell(std::string_view text) {
  text = trim(text);
  if (is_missing_text(text)) return {Meaning::kMissing};
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return {};
  }
  const char* end = text.data() + text.size();
  double value = 0.0;
  const auto [stop, error] = fast_float::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || std::isnan(value)) return {};
  return {std::isinf(value) ? Meaning::kInfinite : Meaning::kNumber, value};
}

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

}  // namespace

bool is_missing_text(std::string_view cell) {
  const std::string_view text = trim(cell);
  if (text.size() > 4) return false;
  constexpr std::array<std::string_view, 5> kSpellings = {"", "na", "nan", "null", "?"};
  return std::any_of(kSpellings.begin(), kSpellings.end(), [text](std::string_view spelling) {
    return equal_ignoring_case(text, spelling);
  });
}

void TextCodes::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  taken_ = 0;
}

void TextCodes::grow() {
  std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.code < 0) continue;
    std::size_t i = slot.hash & (slots_.size() - 1);
    while (slots_[i].code >= 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }
}

std::int32_t TextCodes::code(std::string_view text, std::vector<std::string>& vocabulary) {
  if (2 * taken_ >= slots_.size()) grow();
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
  std::size_t i = hash & (slots_.size() - 1);
  for (; slots_[i].code >= 0; i = (i + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[i];
    if (slot.hash == hash && vocabulary[static_cast<std::size_t>(slot.code)] == text) {
      return slot.code;
    }
  }
  slots_[i] = {hash, static_cast<std::int32_t>(vocabulary.size())};
  ++taken_;
  vocabulary.emplace_back(text);
  return slots_[i].code;
}

ColumnBuilder::ColumnBuilder(ColumnRequest request)
    : mode_(Mode::kSkip), automatic_(request.kind == ColumnKind::kAuto), raw_(request.raw) {
  switch (request.kind) {
    case ColumnKind::kSkip:
      mode_ = Mode::kSkip;
      break;
    case ColumnKind::kAuto:
      mode_ = Mode::kUndecided;
      break;
    case ColumnKind::kNumber:
      mode_ = Mode::kNumbers;
      break;
    case ColumnKind::kText:
      mode_ = Mode::kTexts;
      texts_ = std::make_unique<Texts>();
      break;
  }
}

void ColumnBuilder::start(Column& out) {
  out_ = &out;
  out.numbers.clear();
  out.codes.clear();
  out.vocabulary.clear();
  out.raw.bytes.clear();
  out.raw.ends.clear();
  out.missing = 0;
  out.first_missing = 0;
  out.first_missing_text.clear();
  rows_ = 0;
  if (texts_) texts_->codes.clear();
}

void ColumnBuilder::finish() {
  if (mode_ == Mode::kUndecided) {
    mode_ = Mode::kNumbers;
    out_->numbers.assign(rows_, kNaN);
  }
  switch (mode_) {
    case Mode::kSkip:
      out_->kind = ColumnKind::kSkip;
      break;
    case Mode::kTexts:
      out_->kind = ColumnKind::kText;
      break;
    case Mode::kUndecided:
    case Mode::kNumbers:
      out_->kind = ColumnKind::kNumber;
      break;
  }
  out_ = nullptr;
}

CellFault ColumnBuilder::add(std::string_view text, std::uint64_t line) {
  if (mode_ != Mode::kSkip) {
    const CellFault fault = add_value(text, line);
    if (fault != CellFault::kNone) return fault;
  }
  if (raw_) {
    out_->raw.bytes += text;
    out_->raw.ends.push_back(out_->raw.bytes.size());
  }
  return CellFault::kNone;
}

CellFault ColumnBuilder::add_value(std::string_view text, std::uint64_t line) {
  if (mode_ == Mode::kTexts && !automatic_) {
    is_missing_text(text) ? add_missing(text) : add_text(text);
    return CellFault::kNone;
  }
  const Reading reading = read_cell(text);
  switch (reading.meaning) {
    case Meaning::kMissing:
      add_missing(text);
      return CellFault::kNone;
    case Meaning::kInfinite:
      return CellFault::kInfinite;
    case Meaning::kNumber:
      if (mode_ == Mode::kTexts) return CellFault::kMixed;
      if (mode_ == Mode::kUndecided) {
        mode_ = Mode::kNumbers;
        out_->numbers.assign(rows_, kNaN);
      }
      out_->numbers.push_back(reading.value);
      return CellFault::kNone;
    case Meaning::kText:
      break;
  }
  if (mode_ == Mode::kNumbers) return CellFault::kText;
  if (mode_ == Mode::kUndecided) {
    mode_ = Mode::kTexts;
    texts_ = std::make_unique<Texts>(Texts{{}, std::string(text), line});
    out_->codes.assign(rows_, -1);
  }
  add_text(text);
  return CellFault::kNone;
}

void ColumnBuilder::add_missing(std::string_view text) {
  const std::size_t row = mode_ == Mode::kTexts     ? out_->codes.size()
                          : mode_ == Mode::kNumbers ? out_->numbers.size()
                                                    : rows_++;
  if (mode_ == Mode::kTexts) out_->codes.push_back(-1);
  if (mode_ == Mode::kNumbers) out_->numbers.push_back(kNaN);
  if (out_->missing++ > 0) return;
  out_->first_missing = row;
  out_->first_missing_text = trim(text);
}

void ColumnBuilder::add_text(std::string_view text) {
  out_->codes.push_back(texts_->codes.code(text, out_->vocabulary));
}

}  // namespace tare

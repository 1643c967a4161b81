// SPDX-License-Identifier: BSD-3-Clause
#include "io/csv_scan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/fail.h"

namespace tare {
namespace {

constexpr std::string_view kDelimiters = ",\t;|";

constexpr std::uint64_t kEachByte = 0x0101010101010101ULL;

/// Not zero where some byte of the word is zero.
constexpr std::uint64_t zero_bytes(std::uint64_t word) {
  return (word - kEachByte) & ~word & (kEachByte << 7);
}

/// The first delimiter or line feed from p on. One exists, see CsvWindow.
const char* find_cell_end(const char* p, char delimiter) {
  const std::uint64_t delimiters = kEachByte * static_cast<unsigned char>(delimiter);
  const std::uint64_t feeds = kEachByte * static_cast<unsigned char>('\n');
  static_assert(sizeof(std::uint64_t) <= CsvWindow::kSlack);
  for (;; p += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, sizeof word);
    if ((zero_bytes(word ^ delimiters) | zero_bytes(word ^ feeds)) != 0) break;
  }
  while (*p != delimiter && *p != '\n') ++p;
  return p;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool all_blank(std::string_view text) { return std::all_of(text.begin(), text.end(), is_blank); }

}  // namespace

void CsvScanner::find_delimiter() {
  std::array<std::size_t, kDelimiters.size()> counts{};
  enum { kStart, kPlain, kQuoted, kClosed } place = kStart;  // in a cell, whatever the delimiter
  for (std::size_t i = 0;; ++i) {
    // An open quote at the end is reported by next(), which knows where cells begin.
    if (window_->at() + i == window_->limit() && !window_->more()) break;
    const char c = window_->at()[i];
    if (place == kQuoted) {
      if (c == '"') place = kClosed;
      continue;
    }
    if (c == '\n') break;
    const std::size_t which = kDelimiters.find(c);
    if (which != std::string_view::npos) {
      ++counts[which];
      place = kStart;
    } else if (c == '"' && place != kPlain) {
      place = kQuoted;  // behind a closing quote this is the second half of a doubled one
    } else if (c != ' ' || place == kClosed) {
      place = kPlain;
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  delimiter_ = kDelimiters[static_cast<std::size_t>(most - counts.begin())];
}

CsvCell CsvScanner::next() {
  const char* start = window_->at();
  const char* p = start;
  while (is_blank(*p) && *p != delimiter_) ++p;
  if (*p == '"') return next_quoted(p);

  const char* end = find_cell_end(p, delimiter_);
  const bool crlf = *end == '\n' && end > start && end[-1] == '\r';
  return finish({start, static_cast<std::size_t>(end - start) - (crlf ? 1 : 0)}, end, 0);
}

CsvCell CsvScanner::next_quoted(const char* quote) {
  scratch_.clear();
  const char* piece = quote + 1;
  const char* close = nullptr;
  for (const char* p = piece;; p = close + 2) {
    const auto left = static_cast<std::size_t>(window_->limit() - p);
    close = static_cast<const char*>(std::memchr(p, '"', left));
    if (close == nullptr) {
      if (!window_->more()) {
        fail(ErrorCode::kBadData, {.source = window_->name(), .line = window_->line()},
             "a quote opens here and is never closed");
      }
      return next();
    }
    if (close[1] != '"') break;
    scratch_.append(piece, close + 1);
    piece = close + 2;
  }

  const std::string_view inside(piece, static_cast<std::size_t>(close - piece));
  const char* end = find_cell_end(close + 1, delimiter_);
  const bool crlf = *end == '\n' && end[-1] == '\r';
  const std::string_view tail(close + 1,
                              static_cast<std::size_t>(end - close) - 1 - (crlf ? 1 : 0));
  const auto breaks = static_cast<std::uint64_t>(std::count(quote, close, '\n'));
  if (scratch_.empty() && all_blank(tail)) return finish(inside, end, breaks);
  scratch_ += inside;
  if (!all_blank(tail)) scratch_ += tail;
  return finish(scratch_, end, breaks);
}

CsvCell CsvScanner::finish(std::string_view text, const char* end, std::uint64_t breaks) {
  const bool last = *end == '\n';
  window_->move_to(end + 1, breaks + (last ? 1 : 0));
  return {text, last};
}

std::uint64_t CsvScanner::skip_blank_lines() {
  std::uint64_t lines = 0;
  while (window_->has_more()) {
    const char* p = window_->at();
    while (*p == ' ' || *p == '\r') ++p;
    if (*p != '\n') break;
    window_->move_to(p + 1, 1);
    ++lines;
  }
  return lines;
}

}  // namespace tare

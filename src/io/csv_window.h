// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/csv_limits.h"
#include "io/files/byte_source.h"

namespace tare {

/// The part of a delimited text that is in memory, and the reader's position in it.
///
/// The window always ends just after a line break (one is added if the last line has none), so a
/// search for the end of a line from any position before limit() succeeds without counting bytes.
/// Only a quoted cell that contains line breaks can reach the limit, and then calls more(). Up to
/// kSlack bytes after the limit may be read, but have no meaning.
class CsvWindow {
 public:
  static constexpr std::size_t kSlack = 16;

  CsvWindow(std::unique_ptr<ByteSource> source, std::size_t block_bytes);

  /// Lines and quoted cells that are fetched from now on may have this many bytes.
  void limit_lines(std::size_t bytes) noexcept { longest_line_ = bytes; }

  const std::string& name() const noexcept { return source_->name(); }
  const char* at() const noexcept { return at_; }
  const char* limit() const noexcept { return limit_; }
  std::uint64_t line() const noexcept { return line_; }  // of at(), from 1

  /// Moves forward, over `breaks` line breaks.
  void move_to(const char* position, std::uint64_t breaks) noexcept {
    at_ = position;
    line_ += breaks;
  }

  /// Reads on, keeping all from at() onwards; pointers into the window become invalid. False when
  /// nothing is left. Throws kBadData at a NUL byte or a line without an end, and what the source
  /// throws.
  bool more();

  /// True while something is left at at().
  bool has_more() { return at_ != limit_ || more(); }

  std::uint64_t offset() const noexcept;  // of at(), in bytes from the start of the text
  std::uint64_t size_hint() const noexcept { return source_->size_hint(); }

 private:
  std::size_t fetch();
  void close_last_line();

  std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;
  std::size_t longest_line_ = kLongestLine;
  std::size_t filled_ = 0;     // bytes of the text in `bytes_`
  std::uint64_t dropped_ = 0;  // bytes of the text before `bytes_`
  const char* at_;
  const char* limit_;
  std::uint64_t line_ = 1;
  bool nul_ = false;    // the next byte of the text is a NUL
  bool ended_ = false;  // the source has no more
};

}  // namespace tare

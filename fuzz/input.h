// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tare::fuzz {

/// Ends the program with a message, which libFuzzer reports and saves as a find.
inline void require(bool holds, std::string_view what, std::string_view more = {}) {
  if (holds) return;
  std::fprintf(stderr, "\nviolated: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(more.size()), more.data());
  std::abort();
}

/// The bytes of one run: a text, and behind it the choices of the settings. The choices are taken
/// from the end, so that a seed is the text itself and a mutation at its front keeps them.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : bytes_(reinterpret_cast<const char*>(data), size) {}

  /// A number below `count`; 0 where no bytes are left.
  std::size_t choose(std::size_t count) { return next() % count; }
  bool flag() { return (next() & 1U) != 0; }

  /// Everything that was not taken as a choice.
  std::string_view text() const { return bytes_; }

  /// The part of the text up to the next line break, which is dropped.
  std::string_view line() {
    const std::size_t end = bytes_.find('\n');
    const std::string_view found = bytes_.substr(0, end);
    bytes_.remove_prefix(end == std::string_view::npos ? bytes_.size() : end + 1);
    return found;
  }

 private:
  std::size_t next() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(bytes_.back());
    bytes_.remove_suffix(1);
    return byte;
  }

  std::string_view bytes_;
};

}  // namespace tare::fuzz

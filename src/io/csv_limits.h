// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tare {

// What a delimited text may make a reader hold. A few kilobytes of gzip can unpack to any length,
// so the size of a file bounds nothing.

/// Columns of a header. Each takes a few hundred bytes before its first cell is read.
inline constexpr std::size_t kMostColumns = 200'000;

/// Bytes of the header line: more than 300 for each of the most columns.
inline constexpr std::size_t kLongestHeader = std::size_t{1} << 26;  // 64 MiB

/// Bytes of any other line, and of a quoted cell with the line breaks in it.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 28;  // 256 MiB

}  // namespace tare

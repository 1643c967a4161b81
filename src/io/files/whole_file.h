// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tare {

/// Whether a file that starts like this is worth reading to its end.
using WorthReading = std::function<bool(std::span<const std::byte> start)>;

/// A regular file's bytes as they are now. They are a copy: a map of a file that is written over in
/// place would change, or end the process. Where `worth_reading` says no to the first bytes, only
/// these are returned.
///
/// Throws kNotFound; kBadData for a directory; kIo for what is not a regular file (at once, without
/// waiting for a pipe's writer), what is larger than the machine's memory, and what cannot be read.
std::vector<std::byte> read_whole_file(const std::string& path,
                                       const WorthReading& worth_reading = {});

/// Bytes of a text that is read as one: a configuration or a plan.
inline constexpr std::size_t kLongestText = std::size_t{1} << 24;  // 16 MiB

/// A text, from a file or a pipe. Throws what open_bytes throws, and kBadData for more than
/// kLongestText.
std::string read_text_file(const std::string& path);

}  // namespace tare

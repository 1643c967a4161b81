// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tare::serve {

/// A file's bytes as they are now. A model file is otherwise mapped, and a map of a file that is
/// written over in place would change, or end the process. Throws kNotFound, kBadData for a
/// directory, kIo.
std::vector<std::byte> read_whole_file(const std::string& path);

}  // namespace tare::serve

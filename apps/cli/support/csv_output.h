// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tare::cli {

/// Throws kInvalidArgument where a file's name asks for a format that this program does not write:
/// a file of CSV under such a name would only be noticed by its reader.
void check_csv_output(const std::string& path);

}  // namespace tare::cli

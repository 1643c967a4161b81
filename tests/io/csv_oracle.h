// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/csv.h"

namespace tare::oracle {

/// What reading `text` in batches must give, spelled out line by line: header and delimiter, then
/// every batch with every value, then the error if there is one, as "error LINE KIND". Written for
/// clearness, one character at a time over the whole text, and shares no code with the reader.
/// `text` holds no NUL.
std::string expected_reading(const std::string& text, const std::vector<ColumnRequest>& requests,
                             std::size_t batch_rows);

/// The same account of what the reader gave.
std::string describe(const Table& batch, const std::vector<ColumnRequest>& requests);
std::string describe_header(const std::vector<std::string>& header, char delimiter);
std::string describe_error(const std::string& message);

}  // namespace tare::oracle

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "io/csv.h"

namespace tare {

/// The columns of a file to copy through to the answer: those named, or every one where the only
/// name is 'all' and no column is called so. Throws kNotFound for a column that is not there,
/// kInvalidArgument for one that is named twice (option "keep").
std::vector<std::string> kept_columns(const std::string& source,
                                      const std::vector<std::string>& header,
                                      const std::vector<std::string>& named);

/// Asks for the cells of these columns as they stand in the file.
void keep_raw(const std::vector<std::string>& header, const std::vector<std::string>& kept,
              std::vector<ColumnRequest>& requests);

}  // namespace tare

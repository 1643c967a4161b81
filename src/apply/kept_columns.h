// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "io/csv.h"

namespace tare {

/// The columns of a file to copy to the answer: the named columns, or all columns if the only name
/// is 'all' and no column has that name. Throws kNotFound for a column that does not exist,
/// kInvalidArgument for a repeated name (option "keep").
std::vector<std::string> kept_columns(const std::string& source,
                                      const std::vector<std::string>& header,
                                      const std::vector<std::string>& named);

/// Requests the cells of these columns as written in the file.
void keep_raw(const std::vector<std::string>& header, const std::vector<std::string>& kept,
              std::vector<ColumnRequest>& requests);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>

#include "serve/http/time_limit.h"

namespace tare::serve {

/// What the rows of one body may be.
struct RowLimits {
  std::size_t rows;
  std::size_t columns = std::numeric_limits<std::size_t>::max();  // of the header, or of one row
  TimeLimit time = TimeLimit();                                   // for reading them
};

}  // namespace tare::serve

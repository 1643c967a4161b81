// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace tare {

// Numbers as a person reads them in a report.

/// Four significant digits: 0.04361, 20.14, 1235; "infinite" for an infinity.
std::string number_text(double value);
/// A share as "89.3 %".
std::string percent_text(double share);
/// "89.3 % (87.1 to 91.2 %)".
std::string percent_text(double share, double low, double high);
/// A count with its thousands apart: "100,000".
std::string count_text(std::size_t count);
/// "1 row", "20,000 rows".
std::string rows_text(std::size_t count);

}  // namespace tare

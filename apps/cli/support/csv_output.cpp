// SPDX-License-Identifier: BSD-3-Clause
#include "support/csv_output.h"

#include <array>
#include <string_view>

#include "base/fail.h"

namespace tare::cli {

void check_csv_output(const std::string& path) {
  constexpr std::array<std::string_view, 4> kOthers = {".parquet", ".feather", ".arrow", ".arrows"};
  for (const std::string_view ending : kOthers) {
    if (!path.ends_with(ending)) continue;
    fail(ErrorCode::kInvalidArgument,
         {.remedies = {advice("name a .csv file"),
                       advice("use the command 'tare' of the Python package, which writes it with "
                              "pyarrow")}},
         "{}: this program writes CSV, not {}", path, ending);
  }
}

}  // namespace tare::cli

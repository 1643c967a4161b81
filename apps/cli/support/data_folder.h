// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>

namespace tare::cli {

/// The folder of the experiments' datasets: the given one, else $TARE_DATA, else ./data.
inline std::string data_folder(const std::string& told) {
  if (!told.empty()) return told;
  const char* set = std::getenv("TARE_DATA");
  return set != nullptr && *set != '\0' ? set : "data";
}

}  // namespace tare::cli

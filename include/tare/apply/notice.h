// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// A notice for the user of a fit or of answers, as data. Examples: rows were left out, a category
/// is new, answers depend on few rows.
struct Notice {
  std::string code;      // a stable name, for example "dropped_rows"
  std::size_t rows = 0;  // number of rows or cells concerned; 0: it concerns the model
  std::string text;      // a sentence without the file name
};

/// [{"code": "fallback", "rows": 3, "text": "..."}], without blanks.
void append_notices_json(std::string& out, const std::vector<Notice>& notices);

}  // namespace tare

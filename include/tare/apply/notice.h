// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// Something that the user of a fit or of answers should know, as data: rows that were left out,
/// categories that are new, answers that rest on few rows.
struct Notice {
  std::string code;      // a name that stays, such as "dropped_rows"
  std::size_t rows = 0;  // rows or cells that it is about; 0 for one about the model
  std::string text;      // a sentence without the name of a file
};

/// [{"code": "fallback", "rows": 3, "text": "..."}], without blanks.
void append_notices_json(std::string& out, const std::vector<Notice>& notices);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/table.h"
#include "serve/model/predict_rows.h"

namespace tare::serve {

enum class BodyFormat : std::uint8_t { kJson, kNdjson, kCsv };

/// From a Content-Type, whose parameters do not matter. Throws Problem 415 with what there is.
BodyFormat parse_body_format(std::string_view content_type);
std::string_view content_type_of(BodyFormat format);

/// {"model": ..., "rows": [{...}], "ids": [...], "warnings": [{"code", "rows", "text"}]}
std::string answer_json(const RowAnswers& answers, const std::string& version,
                        const std::vector<std::string>& ids);
/// "fallback=3, outside=2" for a header: formats that have no place for warnings. Empty: none.
std::string warnings_header(const std::vector<Notice>& warnings);
/// An object on each line.
std::string answer_ndjson(const RowAnswers& answers);
/// The columns to keep, as they were sent, and the answers. Throws Problem 400 where a name would
/// be there twice.
std::string answer_csv(const RowAnswers& answers, const Table& table,
                       const std::vector<std::string>& keep);

}  // namespace tare::serve

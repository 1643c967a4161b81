// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tare/apply/predictor.h"
#include "tare/io/table.h"

namespace tare::serve {

enum class BodyFormat : std::uint8_t { kJson, kNdjson, kCsv };

/// From a Content-Type, whose parameters do not matter. Throws Refusal 415 with what there is.
BodyFormat parse_body_format(std::string_view content_type);
std::string_view content_type_of(BodyFormat format);

/// {"model": ..., "rows": [{...}], "ids": [...], "warnings": [{"code", "rows", "text"}]}
std::string answer_json(const Predictor& predictor, const Answers& answers,
                        const std::string& version, const std::vector<std::string>& ids);
/// "fallback=3, outside=2" for a header: formats that have no place for warnings. Empty: none.
std::string warnings_header(const std::vector<Notice>& warnings);
/// An object on each line.
std::string answer_ndjson(const Predictor& predictor, const Answers& answers);
/// The columns to keep, as they were sent, and the answers.
std::string answer_csv(const Predictor& predictor, const Answers& answers, const Table& table);

}  // namespace tare::serve

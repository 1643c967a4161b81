// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tare/apply/predictor.h"
#include "tare/io/table.h"

namespace tare::serve {

enum class BodyFormat : std::uint8_t { kJson, kNdjson, kCsv };

/// The format of a Content-Type; its parameters are ignored. Throws Refusal 415 with the supported
/// types.
BodyFormat parse_body_format(std::string_view content_type);
std::string_view content_type_of(BodyFormat format);

/// {"model": ..., "rows": [{...}], "ids": [...], "warnings": [{"code", "rows", "text"}]}
std::string answer_json(const Predictor& predictor, const Answers& answers,
                        const std::vector<Notice>& warnings, const std::string& version,
                        const std::vector<std::string>& ids);
/// "fallback=3, outside=2" as a header, for formats that cannot contain warnings. Empty: none.
std::string warnings_header(const std::vector<Notice>& warnings);
/// One JSON object per line.
std::string answer_ndjson(const Predictor& predictor, const Answers& answers);
/// The kept columns, as they were sent, and the answers.
std::string answer_csv(const Predictor& predictor, const Answers& answers, const Table& table);

}  // namespace tare::serve

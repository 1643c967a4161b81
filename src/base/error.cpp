// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/error.h"

#include <fmt/format.h>

#include <utility>

namespace tare {
namespace {

std::string neutral_option(std::string_view option, std::string_view value) {
  return value.empty() ? std::string(option) : fmt::format("{}={}", option, value);
}

std::string place_text(const ErrorDetails& details, const Wording& wording) {
  // Rows that do not come from a file have no lines.
  const bool in_file = wording.lines && !details.source.empty();
  const bool with_line = details.line > 0 && (in_file || !details.row);
  std::string text = details.source;
  if (with_line) text += fmt::format("{}{}", text.empty() ? "line " : ":", details.line);
  if (!text.empty()) text += ": ";
  if (!with_line && details.row) text += fmt::format("row {}: ", *details.row + wording.first_row);
  return text;
}

/// "use a=1, b, or give more rows". A word that leads to several options in a row is said once.
std::string remedy_text(const std::vector<Remedy>& remedies, OptionSpelling spelling) {
  std::vector<std::string> parts;
  std::string_view lead;
  for (const Remedy& remedy : remedies) {
    if (remedy.option.empty()) {
      parts.push_back(remedy.text);
      lead = {};
      continue;
    }
    std::string part = spelling(remedy.option, remedy.value);
    if (part.empty()) continue;
    if (!remedy.text.empty() && remedy.text != lead) part = remedy.text + " " + part;
    if (!remedy.purpose.empty()) part += " " + remedy.purpose;
    parts.push_back(std::move(part));
    lead = remedy.text;
  }
  std::string text;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (k > 0) text += k + 1 == parts.size() ? ", or " : ", ";
    text += parts[k];
  }
  return text;
}

std::string full_text(const ErrorDetails& details, const std::string& problem,
                      const Wording& wording) {
  std::string text = place_text(details, wording);
  if (!details.named_in_problem) {
    if (!details.column.empty()) text += fmt::format("column '{}': ", details.column);
    if (!details.option.empty()) {
      const std::string option = wording.option(details.option, "");
      text += (option.empty() ? details.option : option) + " ";
    }
  }
  text += problem;
  const std::string remedies = remedy_text(details.remedies, wording.option);
  if (!remedies.empty()) text += fmt::format(" ({})", remedies);
  return text;
}

}  // namespace

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kShapeMismatch:
      return "shape_mismatch";
    case ErrorCode::kBadData:
      return "bad_data";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kCorruptFile:
      return "corrupt_file";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kIo:
      return "io";
  }
  return "?";
}

Error::Error(ErrorCode code, ErrorDetails details, std::string problem)
    : std::runtime_error(full_text(details, problem, {neutral_option})),
      code_(code),
      body_(std::make_shared<const Body>(Body{std::move(details), std::move(problem)})) {}

Error Error::in_source(const std::string& source) const {
  ErrorDetails details = body_->details;
  details.source = details.source.empty() ? source : source + ": " + details.source;
  return {code_, std::move(details), body_->problem};
}

std::string error_text(const Error& error, const Wording& wording) {
  return full_text(error.details(), error.problem(), wording);
}

}  // namespace tare

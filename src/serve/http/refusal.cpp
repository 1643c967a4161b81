// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/refusal.h"

#include "io/json_text.h"

namespace tare::serve {
namespace {

/// A client can change the parameters of its request, but not the options of the fit.
std::string option_in_request(std::string_view option, std::string_view value) {
  const bool is_parameter =
      option == "levels" || option == "interval" || option == "keep" || option == "cost";
  std::string text = value.empty() ? std::string(option) : fmt::format("{}={}", option, value);
  if (is_parameter) return text;
  if (option == "missing" && value == "impute") {
    return "a model that was fitted with missing=impute, which fills it in";
  }
  return "";  // no option that would help this request
}

unsigned status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return 400;
    case ErrorCode::kShapeMismatch:
    case ErrorCode::kBadData:
    case ErrorCode::kNotFound:
      return 422;
    case ErrorCode::kCorruptFile:
    case ErrorCode::kUnsupported:
    case ErrorCode::kIo:
      break;
  }
  return 500;
}

/// RFC 6901.
std::string pointer_to(const RefusedCell& cell) {
  std::string out = fmt::format("/rows/{}/", *cell.row);
  for (const char c : cell.column) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Refusal refusal_of(const Error& error, RowNames names) {
  ErrorDetails details = error.details();
  const bool by_row = names == RowNames::kRows && details.row;
  if (by_row) details.source.clear();  // there is one body
  RefusedCell cell{details.row, details.column};
  const Error worded(error.code(), std::move(details), error.problem());
  return {status_of(error.code()), error_text(worded, {option_in_request, !by_row}),
          std::move(cell)};
}

std::string_view status_title(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

std::string problem_json(unsigned status, std::string_view detail, std::string_view request_id,
                         const RefusalMembers& members) {
  const RefusedCell& cell = members.cell;
  std::string out = "{\"type\":\"about:blank\",\"title\":";
  append_json_text(out, status_title(status));
  out += fmt::format(",\"status\":{},\"detail\":", status);
  append_json_text(out, detail);
  out += ",\"request_id\":";
  append_json_text(out, request_id);
  if (cell.row) out += fmt::format(",\"row\":{}", *cell.row + 1);
  if (!cell.column.empty()) {
    out += ",\"column\":";
    append_json_text(out, cell.column);
  }
  if (members.in_json && cell.row && !cell.column.empty()) {
    out += ",\"pointer\":";
    append_json_text(out, pointer_to(cell));
  }
  out += "}\n";
  return out;
}

}  // namespace tare::serve

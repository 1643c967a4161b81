// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/problem.h"

#include "io/json_text.h"

namespace tare::serve {

Problem problem_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
      return {400, error.what()};
    case ErrorCode::kShapeMismatch:
    case ErrorCode::kBadData:
    case ErrorCode::kNotFound:
      return {422, error.what()};
    case ErrorCode::kCorruptFile:
    case ErrorCode::kUnsupported:
    case ErrorCode::kIo:
      break;
  }
  return {500, error.what()};
}

std::string_view status_title(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
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
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

std::string problem_json(unsigned status, std::string_view detail, std::string_view request_id) {
  std::string out = "{\"type\":\"about:blank\",\"title\":";
  append_json_text(out, status_title(status));
  out += fmt::format(",\"status\":{},\"detail\":", status);
  append_json_text(out, detail);
  out += ",\"request_id\":";
  append_json_text(out, request_id);
  out += "}\n";
  return out;
}

}  // namespace tare::serve

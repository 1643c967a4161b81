// SPDX-License-Identifier: BSD-3-Clause
#include "serve/http/http_parts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <ctime>

namespace tare::serve {

namespace http = boost::beast::http;

bool is_usable_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

std::pair<unsigned, std::string> read_problem(boost::system::error_code error, const Limits& limits,
                                              std::size_t body_limit) {
  if (error == http::error::body_limit) {
    return {413, fmt::format("the body is larger than {} bytes (send the rows in several requests)",
                             body_limit)};
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return {431, fmt::format("the request's header is larger than {} bytes", limits.header_bytes)};
  }
  if (error == boost::system::errc::not_enough_memory) {
    return {429, "too many large requests at once (try again in a moment)"};
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) return {0, ""};
  if (error.category() == make_error_code(http::error::bad_method).category()) {
    return {400, fmt::format("this is not an HTTP request: {}", error.message())};
  }
  return {0, ""};
}

std::string http_date() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr)));
}

}  // namespace tare::serve

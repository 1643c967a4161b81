// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/beast/core/string_type.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/system/error_code.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "serve/http/limits.h"
#include "serve/http/message.h"
#include "tare/base/version.h"

namespace tare::serve {

/// Whether a client's request id is safe for logs and headers: plain characters only, at most 64.
bool is_usable_id(std::string_view id);

/// Status and detail for an error of Beast's parser; status 0 if the client has disconnected.
/// `body_limit` is that of this request.
std::pair<unsigned, std::string> read_problem(boost::system::error_code error, const Limits& limits,
                                              std::size_t body_limit);

/// The current time in HTTP format.
std::string http_date();

inline std::string_view plain(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// The head of an answer. Response is Beast's, with any body.
template <class Response>
void set_fields(Response& response, const Reply& reply, const std::string& request_id, bool close) {
  response.set(boost::beast::http::field::server, "tare/" + std::string(kVersion));
  response.set(boost::beast::http::field::date, http_date());
  response.set(boost::beast::http::field::content_type, reply.content_type);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  // An answer is data, also where a browser is made to show it as a page.
  response.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  response.set("Cache-Control", "no-store");
  if (!request_id.empty()) response.set("X-Request-Id", request_id);
  for (const auto& [name, value] : reply.headers) response.set(name, value);
  response.keep_alive(!close);
}

}  // namespace tare::serve

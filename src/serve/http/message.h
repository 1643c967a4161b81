// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/http/refusal.h"
#include "serve/http/time_limit.h"

namespace tare::serve {

/// A request without sockets, so that a test can construct it.
struct Request {
  std::string method;
  std::string target;
  std::string content_type;
  std::string authorization;
  std::string id;  // of the request, for logs and answers
  std::string body;
  TimeLimit time = TimeLimit();  // for the work on it
};

struct Reply {
  unsigned status = 200;
  std::string_view content_type = "application/json";  // of a table: no reply needs memory for it
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::size_t rows = 0;   // that were predicted or observed
  std::size_t route = 0;  // in routes(), or kNoPath
  std::string problem;    // of a refusal: its detail, for the log
};

/// A refusal as a reply, with the headers of its status.
Reply problem_reply(unsigned status, const std::string& detail, const std::string& request_id,
                    const RefusalMembers& members = {});

}  // namespace tare::serve

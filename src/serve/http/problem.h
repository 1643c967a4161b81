// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "tare/base/error.h"

namespace tare::serve {

/// Why a request is refused: what becomes the answer's status and its problem details (RFC 9457).
/// The detail names the row, the column, the value and the remedy.
class Problem : public std::exception {
 public:
  Problem(unsigned status, std::string detail) : status_(status), detail_(std::move(detail)) {}

  unsigned status() const noexcept { return status_; }
  const std::string& detail() const noexcept { return detail_; }
  const char* what() const noexcept override { return detail_.c_str(); }

 private:
  unsigned status_;
  std::string detail_;
};

template <class... Args>
[[noreturn]] void refuse(unsigned status, fmt::format_string<Args...> text, Args&&... args) {
  throw Problem(status, fmt::format(text, std::forward<Args>(args)...));
}

/// An error of the library that a request's rows have caused, as a problem: 422, or 500 where the
/// rows are not to blame.
Problem problem_of(const Error& error);

/// "Too Many Requests" for 429, and so on for every status the service gives.
std::string_view status_title(unsigned status);

/// The body of a refusal.
std::string problem_json(unsigned status, std::string_view detail, std::string_view request_id);

}  // namespace tare::serve

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tare/base/error.h"

namespace tare::serve {

/// The cell that a problem is about, as far as it is known.
struct RefusedCell {
  std::optional<std::uint64_t> row = {};  // of the request, from 0
  std::string column = {};
};

/// Why a request is refused: what becomes the answer's status and its problem details (RFC 9457).
/// The detail names the row, the column, the value and the remedy.
class Refusal : public std::exception {
 public:
  Refusal(unsigned status, std::string detail, RefusedCell cell = {})
      : status_(status), detail_(std::move(detail)), cell_(std::move(cell)) {}

  unsigned status() const noexcept { return status_; }
  const std::string& detail() const noexcept { return detail_; }
  const RefusedCell& cell() const noexcept { return cell_; }
  const char* what() const noexcept override { return detail_.c_str(); }

 private:
  unsigned status_;
  std::string detail_;
  RefusedCell cell_;
};

template <class... Args>
[[noreturn]] void refuse(unsigned status, fmt::format_string<Args...> text, Args&&... args) {
  throw Refusal(status, fmt::format(text, std::forward<Args>(args)...));
}

/// A cell is wrong: 422, and "row 3: " before the text.
template <class... Args>
[[noreturn]] void refuse_cell(RefusedCell cell, fmt::format_string<Args...> text, Args&&... args) {
  std::string detail = fmt::format("row {}: ", *cell.row + 1);
  detail += fmt::format(text, std::forward<Args>(args)...);
  throw Refusal(422, std::move(detail), std::move(cell));
}

/// How the cell of a row is named.
enum class RowNames : std::uint8_t {
  kRows,   // "row 2", as where the body is JSON
  kLines,  // "body:3", as in a CSV file
};

/// An error of the library that a request's rows have caused, as a problem: 422, or 500 where the
/// rows are not to blame. An option is worded as a parameter of the request or, since a client
/// cannot set it, as a property of another model.
Refusal refusal_of(const Error& error, RowNames names = RowNames::kRows);

/// "Too Many Requests" for 429, and so on for every status the service gives.
std::string_view status_title(unsigned status);

/// What else the body of a refusal says about the cell.
struct RefusalMembers {
  RefusedCell cell = {};
  bool in_json = false;  // the rows are those of a JSON body, so that a JSON pointer leads there
};

/// The body of a refusal: RFC 9457 with `request_id` and, where they are known, `row` (from 1),
/// `column` and `pointer`.
std::string problem_json(unsigned status, std::string_view detail, std::string_view request_id,
                         const RefusalMembers& members = {});

}  // namespace tare::serve

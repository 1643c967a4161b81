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

/// The cell that caused a refusal, as far as it is known.
struct RefusedCell {
  std::optional<std::uint64_t> row = {};  // of the request, from 0
  std::string column = {};
};

/// The reason why a request is refused. It becomes the status and the problem details (RFC 9457) of
/// the reply. The detail names the row, the column, the value and the remedy.
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

/// Refuses a cell: 422, with "row 3: " before the text.
template <class... Args>
[[noreturn]] void refuse_cell(RefusedCell cell, fmt::format_string<Args...> text, Args&&... args) {
  std::string detail = fmt::format("row {}: ", *cell.row + 1);
  detail += fmt::format(text, std::forward<Args>(args)...);
  throw Refusal(422, std::move(detail), std::move(cell));
}

/// How messages name a row.
enum class RowNames : std::uint8_t {
  kRows,   // "row 2", for a JSON body
  kLines,  // "body:3", for a CSV body
};

/// Converts an error of the library to a refusal: 422 if the rows of the request caused it, else
/// 500. An option becomes a parameter of the request or, if a client cannot set it, a property of a
/// different model.
Refusal refusal_of(const Error& error, RowNames names = RowNames::kRows);

/// The title of every status that the service uses: "Too Many Requests" for 429.
std::string_view status_title(unsigned status);

/// Further members of the body of a refusal.
struct RefusalMembers {
  RefusedCell cell = {};
  bool in_json = false;  // the body is JSON, so a JSON pointer can name the cell
};

/// The body of a refusal: RFC 9457 with `request_id` and, if known, `row` (from 1), `column` and
/// `pointer`.
std::string problem_json(unsigned status, std::string_view detail, std::string_view request_id,
                         const RefusalMembers& members = {});

}  // namespace tare::serve

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tare/base/error.h"

namespace tare {

/// Throws Error with a formatted text. Kept out of the public headers so that users need no fmt.
template <class... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(code, fmt::format(text, std::forward<Args>(args)...));
}

/// The same with details. The text is the problem alone: place, option and remedies are data.
template <class... Args>
[[noreturn]] void fail(ErrorCode code, ErrorDetails details, fmt::format_string<Args...> text,
                       Args&&... args) {
  throw Error(code, std::move(details), fmt::format(text, std::forward<Args>(args)...));
}

/// An option's value is refused: "missing is error, drop or impute, got 'skip'".
[[noreturn]] inline void fail_option(std::string_view option, std::string_view value,
                                     std::string_view rule, std::vector<Remedy> remedies = {}) {
  ErrorDetails details;
  details.option = option;
  details.value = value;
  details.remedies = std::move(remedies);
  fail(ErrorCode::kInvalidArgument, std::move(details), "{}, got '{}'", rule, value);
}

/// The remedy "use option=value".
inline Remedy use(std::string option, std::string value, std::string purpose = {}) {
  return {"use", std::move(option), std::move(value), std::move(purpose)};
}

/// A remedy without an option.
inline Remedy advice(std::string text) { return {std::move(text), {}, {}, {}}; }

}  // namespace tare

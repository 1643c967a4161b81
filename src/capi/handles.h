// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/guarded.h"
#include "tare/apply/predictor.h"

struct tare_table {
  tare::Table table;
};

struct tare_model {
  tare::FittedModel fitted;
  std::vector<tare::Notice> notices = {};  // of the fit
};

struct tare_answers {
  std::vector<std::string> names;
  tare::Answers answers;
  std::vector<tare::Notice> notices;
  std::optional<tare::Predictor> predictor;  // of tare_predict: it knows the columns to keep
};

namespace tare::capi {

/// Memory that tare_free frees, with a zero byte behind the text.
char* copy_text(std::string_view text);

/// The number of threads that a text asks for. Throws kInvalidArgument.
std::size_t read_threads(std::string_view text);

/// Calls `set(name, value)` for each text "name=value", and returns the number of threads: the
/// option that every long call has. Throws kInvalidArgument for another form.
template <class Set>
std::size_t set_options(const char* const* options, std::size_t count, Set&& set) {
  std::size_t threads = 0;
  if (count > 0) needed(options, "options");
  for (std::size_t k = 0; k < count; ++k) {
    const std::string_view text(&needed(options[k], "an option"));
    const std::size_t mark = text.find('=');
    if (mark == std::string_view::npos || mark == 0) {
      fail(ErrorCode::kInvalidArgument, "an option must be 'name=value', got '{}'", text);
    }
    const std::string_view name = text.substr(0, mark);
    const std::string_view value = text.substr(mark + 1);
    if (name == "threads") {
      threads = read_threads(value);
    } else {
      set(name, value);
    }
  }
  return threads;
}

}  // namespace tare::capi

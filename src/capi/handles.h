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

/// Calls `set(name, value)` for each text "name=value". Throws kInvalidArgument for another form.
template <class Set>
void set_options(const char* const* options, std::size_t count, Set&& set) {
  if (count > 0) needed(options, "options");
  for (std::size_t k = 0; k < count; ++k) {
    const std::string_view text(&needed(options[k], "an option"));
    const std::size_t mark = text.find('=');
    if (mark == std::string_view::npos || mark == 0) {
      fail(ErrorCode::kInvalidArgument, "an option must be 'name=value', got '{}'", text);
    }
    set(text.substr(0, mark), text.substr(mark + 1));
  }
}

}  // namespace tare::capi

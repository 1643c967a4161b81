// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <limits>

#include "base/fail.h"
#include "base/strings.h"
#include "data/schema.h"
#include "tare/apply/fit.h"

namespace tare {
namespace {

struct TextField {
  std::string_view name;
  std::string FitOptions::*field;
};

struct ListField {
  std::string_view name;
  std::vector<std::string> FitOptions::*field;
};

constexpr std::array<TextField, 8> kTexts = {{{"target", &FitOptions::target},
                                              {"method", &FitOptions::method},
                                              {"prediction", &FitOptions::prediction},
                                              {"prediction_sd", &FitOptions::prediction_sd},
                                              {"weight", &FitOptions::weight},
                                              {"group", &FitOptions::group},
                                              {"split", &FitOptions::split},
                                              {"shift_to", &FitOptions::shift_to_file}}};

constexpr std::array<ListField, 5> kLists = {
    {{"prediction_quantiles", &FitOptions::prediction_quantiles},
     {"features", &FitOptions::features},
     {"drop", &FitOptions::drop},
     {"categorical", &FitOptions::categorical},
     {"calibrate_on", &FitOptions::calibrate_on}}};

std::size_t read_count(std::string_view name, std::string_view text, std::size_t least,
                       std::size_t most) {
  const auto count = parse_count(text);
  if (count && *count >= least && *count <= most) return *count;
  fail_option(name, text, fmt::format("must be a whole number from {} to {}", least, most));
}

}  // namespace

void FitOptions::set(std::string_view name, std::string_view text) {
  const std::string wanted = canonical_name(name);
  for (const TextField& known : kTexts) {
    if (known.name != wanted) continue;
    this->*known.field = text;
    return;
  }
  for (const ListField& known : kLists) {
    if (known.name != wanted) continue;
    this->*known.field = split_names(text);
    if (wanted == "prediction_quantiles" && prediction_quantiles.empty()) {
      fail_option(wanted, text, "names no column");
    }
    return;
  }
  if (wanted == "missing") {
    missing = parse_missing_policy(text);
  } else if (wanted == "window") {
    window = read_count(wanted, text, 1, kMaxWindow);
  } else if (wanted == "seed") {
    seed = Seed{read_count(wanted, text, 0, std::numeric_limits<std::size_t>::max())};
  } else {
    params.set(wanted, std::string(text));
  }
}

}  // namespace tare

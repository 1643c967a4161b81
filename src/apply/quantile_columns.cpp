// SPDX-License-Identifier: BSD-3-Clause
#include "apply/quantile_columns.h"

#include <algorithm>
#include <optional>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {
namespace {

[[noreturn]] void refuse_columns(const std::string& source, const std::string& column,
                                 const std::string& problem) {
  fail(ErrorCode::kInvalidArgument,
       {.source = source,
        .column = column,
        .option = "prediction_quantiles",
        .remedies = {{"name the levels:", "prediction_quantiles", "'a=0.05,b=0.5,c=0.95'", ""}},
        .named_in_problem = true},
       "{}", problem);
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the text matches a pattern in which * matches any text and ? one character.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last one, which may yet take more
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// The numbers inside (0, 1) that are written with a point in a name.
std::vector<double> levels_in(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789.";
  std::vector<double> levels;
  std::size_t first = name.find_first_of(kDigits);
  while (first != std::string_view::npos) {
    const std::size_t last = std::min(name.find_first_not_of(kDigits, first), name.size());
    const std::string_view run = name.substr(first, last - first);
    const auto value = parse_number(run);
    if (run.find('.') != std::string_view::npos && value && *value > 0.0 && *value < 1.0) {
      levels.push_back(*value);
    }
    first = name.find_first_of(kDigits, last);
  }
  return levels;
}

double level_in_name(const std::string& source, const std::string& name) {
  const std::string lower = canonical_name(name);
  if (lower.find("lower") != std::string::npos || lower.find("upper") != std::string::npos) {
    refuse_columns(
        source, name,
        fmt::format("the number in '{}' may be the confidence of an interval, not a level", name));
  }
  const std::vector<double> levels = levels_in(name);
  if (levels.size() != 1) {
    refuse_columns(source, name,
                   fmt::format("the name of column '{}' contains {} decimal numbers between 0 and "
                               "1, so its level is not clear",
                               name, levels.size()));
  }
  return levels.front();
}

/// NAME=LEVEL, unless a column has exactly that name.
std::optional<QuantileColumn> with_level(const std::string& item) {
  const std::size_t mark = item.rfind('=');
  if (mark == std::string::npos) return std::nullopt;
  const auto level = parse_number(trim(std::string_view(item).substr(mark + 1)));
  if (!level || !(*level > 0.0 && *level < 1.0)) {
    fail_option("prediction_quantiles", item, "must have levels strictly between 0 and 1");
  }
  return QuantileColumn{std::string(trim(std::string_view(item).substr(0, mark))), *level};
}

void check_columns(const std::vector<QuantileColumn>& columns, const std::string& source) {
  for (std::size_t j = 1; j < columns.size(); ++j) {
    if (columns[j - 1].level == columns[j].level) {
      refuse_columns(source, columns[j].name,
                     fmt::format("columns '{}' and '{}' both have level {}", columns[j - 1].name,
                                 columns[j].name, columns[j].level));
    }
  }
  if (columns.size() < 2) {
    fail(ErrorCode::kInvalidArgument,
         {.source = source,
          .column = columns.front().name,
          .option = "prediction_quantiles",
          .remedies = {advice("give two or more"), use("prediction", columns.front().name)},
          .named_in_problem = true},
         "'{}' is the only column of quantiles; one column does not determine a spread",
         columns.front().name);
  }
}

}  // namespace

std::vector<QuantileColumn> find_quantile_columns(const std::vector<std::string>& items,
                                                  const std::string& source,
                                                  const std::vector<std::string>& header,
                                                  const std::vector<std::string>& taken) {
  std::vector<QuantileColumn> columns;
  for (const std::string& item : items) {
    const std::size_t before = columns.size();
    if (has_name(header, item)) {
      columns.push_back({item, level_in_name(source, item)});
    } else if (const auto column = with_level(item)) {
      columns.push_back(*column);
    } else {
      for (const std::string& name : header) {
        if (fits(item, name) && !has_name(taken, name))
          columns.push_back({name, level_in_name(source, name)});
      }
    }
    if (columns.size() == before) {
      fail(ErrorCode::kNotFound,
           {.source = source,
            .option = "prediction_quantiles",
            .value = item,
            .remedies = {advice("it has: " + join(header, ", "))},
            .named_in_problem = true},
           "no column matches '{}'", item);
    }
  }
  std::sort(columns.begin(), columns.end(),
            [](const auto& one, const auto& other) { return one.level < other.level; });
  check_columns(columns, source);
  return columns;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
// Converts the columns of a table to numbers: the part of Schema that processes every row.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"
#include "data/schema.h"
#include "io/column_finder.h"
#include "io/table_place.h"

namespace tare {
namespace {

/// `why` is the reason why the value cannot be imputed; empty: it can.
[[noreturn]] void fail_missing(const Table& table, const Column& column, std::string_view why,
                               std::vector<Remedy> remedies) {
  ErrorDetails details = cell_details(table, column.name, column.first_missing);
  details.value = column.first_missing_text;
  details.remedies = std::move(remedies);
  fail(ErrorCode::kBadData, std::move(details), "'{}' is a missing value, {} of {} rows read{}{}",
       column.first_missing_text, column.missing, table.rows(), why.empty() ? "" : "; ", why);
}

const Column& needed(const Table& table, ColumnFinder& columns, const std::string& name) {
  const Column* column = columns.find(name);
  if (column == nullptr)
    fail(ErrorCode::kNotFound, no_column(table.source, name), "has no column '{}'", name);
  return *column;
}

/// Columns that cannot be imputed: a made-up target, prediction or weight would be a made-up
/// answer.
void check_not_imputable(const Table& table, const Column& column, MissingPolicy missing,
                         std::string_view what) {
  if (column.missing == 0 || missing == MissingPolicy::kDrop) return;
  fail_missing(table, column, fmt::format("a {} is not imputed", what), {use("missing", "drop")});
}

[[noreturn]] void fail_number(const Table& table, const Column& column, std::size_t row,
                              fmt::format_string<const double&> problem, std::string remedy) {
  ErrorDetails details = cell_details(table, column.name, row);
  details.value = fmt::to_string(column.numbers[row]);
  details.remedies = {advice(std::move(remedy))};
  fail(ErrorCode::kBadData, std::move(details), problem, column.numbers[row]);
}

void check_finite_weight(const Table& table, const Column& column) {
  for (std::size_t i = 0; i < column.numbers.size(); ++i) {
    if (column.numbers[i] < 0.0) {
      fail_number(table, column, i, "the weight {} is negative", "weights must be 0 or more");
    }
  }
}

void check_deviation(const Table& table, const Column& column) {
  for (std::size_t i = 0; i < column.numbers.size(); ++i) {
    if (column.numbers[i] <= 0.0) {
      fail_number(table, column, i, "the standard deviation {} is not above 0",
                  "correct it or remove the row");
    }
  }
}

/// Numbers of several columns side by side.
Matrix gather_columns(const std::vector<const Column*>& columns,
                      const std::vector<std::size_t>& rows) {
  Matrix out(rows.size(), columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) out(i, j) = columns[j]->numbers[rows[i]];
  }
  return out;
}

bool is_missing(const Column& column, std::size_t row) {
  return column.kind == ColumnKind::kText ? column.codes[row] < 0 : std::isnan(column.numbers[row]);
}

/// Fills the columns of one input, starting at `first`.
void encode_input(const InputColumn& input, const Column& column, std::size_t first, Encoded& out) {
  if (!input.categorical) {
    for (std::size_t i = 0; i < out.rows.size(); ++i) {
      const double value = column.numbers[out.rows[i]];
      out.x(i, first) = std::isnan(value) ? input.typical : value;
      if (std::isnan(value)) ++out.imputed;
    }
    return;
  }
  // The batch has its own vocabulary; translate each of its texts once.
  constexpr std::size_t kUnseen = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place(column.vocabulary.size(), kUnseen);
  for (std::size_t k = 0; k < column.vocabulary.size(); ++k) {
    const auto found =
        std::lower_bound(input.vocabulary.begin(), input.vocabulary.end(), column.vocabulary[k]);
    if (found != input.vocabulary.end() && *found == column.vocabulary[k]) {
      place[k] = static_cast<std::size_t>(found - input.vocabulary.begin());
    }
  }
  for (std::size_t i = 0; i < out.rows.size(); ++i) {
    const std::int32_t code = column.codes[out.rows[i]];
    std::size_t category = kUnseen;
    if (code >= 0) {
      category = place[static_cast<std::size_t>(code)];
      if (category == kUnseen) ++out.unseen;
    } else {
      category = static_cast<std::size_t>(input.typical);
      ++out.imputed;
    }
    if (category < input.vocabulary.size()) out.x(i, first + category) = 1.0;
  }
}

std::vector<double> gather(const Column& column, const std::vector<std::size_t>& rows) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::size_t i : rows) values.push_back(column.numbers[i]);
  return values;
}

}  // namespace

Encoded Schema::encode(const Table& table, Need need, MissingPolicy missing) const {
  const bool with_target = need == Need::kFeaturesAndTarget;
  ColumnFinder finder(table);
  std::vector<const Column*> columns;
  for (const InputColumn& input : inputs_) {
    const Column& column = needed(table, finder, input.name);
    if (column.missing > 0 && missing == MissingPolicy::kError) {
      fail_missing(table, column, "", {use("missing", "drop"), use("missing", "impute")});
    }
    if (column.missing > 0 && column.missing == table.rows() && !input.categorical &&
        missing == MissingPolicy::kImpute && with_target) {
      fail_missing(table, column, "all values are missing, so there is nothing to impute from",
                   {use("drop", input.name)});
    }
    columns.push_back(&column);
  }
  std::vector<const Column*> required;  // beside the inputs
  for (const std::string& name : given_) {
    required.push_back(&needed(table, finder, name));
    check_not_imputable(table, *required.back(), missing, "prediction");
  }
  if (form_.kind == GivenKind::kMeanSd) check_deviation(table, *required.back());
  const std::vector<const Column*> given = required;
  const Column* target = with_target ? &needed(table, finder, target_) : nullptr;
  const Column* weight = with_target && !weight_.empty() ? finder.find(weight_) : nullptr;
  if (weight != nullptr && weight->kind == ColumnKind::kSkip) weight = nullptr;
  if (target != nullptr) {
    required.push_back(target);
    check_not_imputable(table, *target, missing, "target");
  }
  if (weight != nullptr) {
    required.push_back(weight);
    check_not_imputable(table, *weight, missing, "weight");
    check_finite_weight(table, *weight);
  }

  Encoded out;
  const auto missing_in = [&](const std::vector<const Column*>& list, std::size_t i) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Column* c) { return is_missing(*c, i); });
  };
  out.rows.reserve(table.rows());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const bool drop =
        missing == MissingPolicy::kDrop && (missing_in(columns, i) || missing_in(required, i));
    if (drop) {
      ++out.dropped;
    } else {
      out.rows.push_back(i);
    }
  }
  std::size_t width = 0;
  for (const InputColumn& input : inputs_) width += input.width();
  out.x = Matrix(out.rows.size(), width);
  std::size_t first = 0;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    encode_input(inputs_[k], *columns[k], first, out);
    first += inputs_[k].width();
  }
  if (!given.empty()) out.given = gather_columns(given, out.rows);
  if (target != nullptr) out.y = gather(*target, out.rows);
  if (weight != nullptr) out.weight = gather(*weight, out.rows);
  return out;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "apply/follow.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/unknown_name.h"
#include "tare/apply/fit.h"

namespace tare {

std::vector<double> targets_of(const Table& table, const std::string& target,
                               std::span<const std::size_t> rows) {
  const Column* const column = table.find(target);
  if (column == nullptr) {
    fail_unknown_name(ErrorCode::kNotFound, "column", target, table.names(), "target");
  }
  std::vector<double> targets(rows.size(), std::numeric_limits<double>::quiet_NaN());
  if (column->kind == ColumnKind::kText && column->missing == table.rows()) return targets;
  if (column->kind == ColumnKind::kText) {
    const auto first = std::ranges::find_if(column->codes, [](std::int32_t c) { return c >= 0; });
    const std::string& text = column->vocabulary[static_cast<std::size_t>(*first)];
    const auto row = static_cast<std::size_t>(first - column->codes.begin());
    fail(ErrorCode::kBadData,
         {.source = table.source, .line = table.lines[row], .column = target, .value = text},
         "the target must be a number, got '{}'", text);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) targets[i] = column->numbers[rows[i]];
  return targets;
}

namespace {

void check_difference(double target, double prediction, std::size_t i, const Follower& follower) {
  if (std::isfinite(target - prediction)) return;
  ErrorDetails details = follower.place ? follower.place(i) : ErrorDetails{};
  details.value = fmt::to_string(target);
  details.remedies = {advice("use smaller units, or leave the row out")};
  fail(ErrorCode::kBadData, std::move(details),
       "target {} minus prediction {} is too large for a number", target, prediction);
}

}  // namespace

std::size_t follow(OnlineModel& model, const Rows& rows, std::span<const double> targets,
                   const Follower& follower, const Execution& how) {
  const std::size_t count = rows.x.rows();
  const std::size_t delay = model.stream().options().delay;
  // Up to the last row with a target.
  std::size_t end = count;
  while (end > 0 && std::isnan(targets[end - 1])) --end;
  const bool own = model.base() == nullptr && model.given() == 0;
  const std::vector<double> ready = own ? std::vector<double>{} : model.predictions(rows, how);
  std::deque<std::pair<std::size_t, PendingRow>> waiting;
  std::size_t learned = 0;
  // Rows at the end whose targets may come with a later file: they have their times, so that an
  // answer does not depend on whether one of them has a target.
  std::size_t left_open = 0;
  const auto learn_first = [&] {
    const auto& [i, row] = waiting.front();
    if (std::isnan(targets[i])) {
      if (i < end) {
        model.pass();
      } else {
        ++left_open;
      }
    } else {
      check_difference(targets[i], row.prediction, i, follower);
      model.learn(row, rows.x.row(i), targets[i]);
      ++learned;
      if (follower.learned) follower.learned(i);
    }
    waiting.pop_front();
  };
  for (std::size_t i = 0; i < count; ++i) {
    while (waiting.size() > delay) learn_first();
    const double prediction =
        own ? model.predictions({.x = rows.x.middle_rows(i, 1), .given = {}, .group = {}})[0]
            : ready[i];
    PendingRow row = model.answer(prediction, rows.x.row(i), waiting.size() + left_open);
    if (follower.answered) follower.answered(i, row);
    waiting.emplace_back(i, std::move(row));
    if (how.progress && i % 64 == 0) {
      how.progress("rows", static_cast<double>(i) / static_cast<double>(count));
    }
  }
  while (!waiting.empty()) learn_first();
  return learned;
}

Table first_rows(const Table& table, std::size_t count) {
  if (count >= table.rows()) return table;
  Table first;
  first.source = table.source;
  first.first_row = table.first_row;
  first.lines.assign(table.lines.begin(), table.lines.begin() + static_cast<std::ptrdiff_t>(count));
  for (const Column& of : table.columns) {
    Column column;
    column.name = of.name;
    column.kind = of.kind;
    column.numbers = of.numbers;
    if (!column.numbers.empty()) column.numbers.resize(count);
    std::vector<std::int32_t> known(of.vocabulary.size(), -1);
    for (std::size_t i = 0; i < std::min(count, of.codes.size()); ++i) {
      const std::int32_t code = of.codes[i];
      if (code >= 0 && known[static_cast<std::size_t>(code)] < 0) {
        known[static_cast<std::size_t>(code)] = static_cast<std::int32_t>(column.vocabulary.size());
        column.vocabulary.push_back(of.vocabulary[static_cast<std::size_t>(code)]);
      }
      column.codes.push_back(code < 0 ? -1 : known[static_cast<std::size_t>(code)]);
    }
    for (std::size_t i = 0; i < std::min(count, of.raw.ends.size()); ++i) {
      column.raw.push_back(of.raw[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const bool missing = of.kind == ColumnKind::kText
                               ? i < of.codes.size() && of.codes[i] < 0
                               : i < of.numbers.size() && std::isnan(of.numbers[i]);
      if (missing && column.missing++ == 0) {
        column.first_missing = i;
        column.first_missing_text = of.first_missing_text;
      }
    }
    first.columns.push_back(std::move(column));
  }
  return first;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "apply/row_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tare {

RowEncoder::RowEncoder(const Schema& schema, Need need, MissingPolicy missing, GivenBy given_by)
    : schema_(schema),
      need_(need),
      missing_(missing),
      given_by_(std::move(given_by)),
      windows_(schema.window()) {}

void RowEncoder::encode(const Table& table) {
  encoded_ = schema_.encode(table, need_, missing_);
  if (given_by_) {
    const std::vector<double> given = given_by_(table, encoded_.rows);
    encoded_.given = Matrix(given, given.size(), 1);
  }
  windows_.apply(encoded_);
  if (const GroupColumn& group = schema_.group(); !group.empty()) {
    group_ = group.codes(table, encoded_.rows);
    unseen_groups_ += static_cast<std::size_t>(std::ranges::count(group_, GroupColumn::kUnseen));
  }
  dropped_ += encoded_.dropped;
  imputed_ += encoded_.imputed;
  unseen_ += encoded_.unseen;
}

Rows RowEncoder::rows(std::size_t first, std::size_t count) const {
  Rows rows{encoded_.x.view().middle_rows(first, count)};
  if (encoded_.given.cols() > 0) rows.given = encoded_.given.view().middle_rows(first, count);
  if (!group_.empty()) rows.group = std::span(group_).subspan(first, count);
  return rows;
}

std::vector<Notice> RowEncoder::notices() const {
  std::vector<Notice> all;
  const auto add = [&](const char* code, std::size_t count, std::string text) {
    if (count > 0) all.push_back({code, count, std::move(text)});
  };
  add("dropped_rows", dropped_,
      fmt::format("{} rows with a missing value were left out", dropped_));
  add("left_out_rows", without_window(),
      fmt::format("{} rows at the start have no full window of {} and were left out",
                  without_window(), schema_.window()));
  add("imputed_values", imputed_, fmt::format("{} missing values were imputed", imputed_));
  add("unseen_group", unseen_groups_,
      fmt::format("{} rows have a value of '{}' that was not there at fit; the ranks of all rows "
                  "answer them, and nothing is guaranteed for them",
                  unseen_groups_, schema_.group().name()));
  add("unseen_category", unseen_,
      fmt::format("{} cells hold a category that was not there at fit; they count as none of the "
                  "known ones",
                  unseen_));
  return all;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "apply/row_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apply/kept_columns.h"
#include "base/fail.h"

namespace tare {
namespace {

MissingPolicy default_policy(const Schema& schema) {
  return schema.missing() == MissingPolicy::kImpute ? MissingPolicy::kImpute
                                                    : MissingPolicy::kError;
}

void check_outside_model(const Schema& schema, bool given) {
  if (schema.predictor().empty() != given) return;
  if (!given) {
    fail(ErrorCode::kInvalidArgument,
         {.option = "predictor",
          .remedies = {{"pass", "predictor", "'" + schema.predictor() + "'", "again"}},
          .named_in_problem = true},
         "the model needs the predictions of a program, and a model file does not start programs");
  }
  fail(ErrorCode::kInvalidArgument,
       {.option = "predictor",
        .remedies = {{"leave out", "predictor", "", ""}},
        .named_in_problem = true},
       "the model has its own point model and needs no predictor");
}

}  // namespace

RowEncoder::RowEncoder(const Schema& schema, Need need, std::optional<MissingPolicy> missing,
                       OutsideModel outside_model)
    : schema_(schema),
      need_(need),
      missing_(missing ? *missing : default_policy(schema)),
      outside_model_(std::move(outside_model)),
      windows_(schema.window()) {
  check_outside_model(schema, static_cast<bool>(outside_model_));
}

std::vector<ColumnRequest> RowEncoder::requests(const std::string& source,
                                                const std::vector<std::string>& header,
                                                const std::vector<std::string>& keep) const {
  std::vector<ColumnRequest> requests = schema_.requests(source, header, need_);
  keep_raw(header, keep, requests);
  if (outside_model_) {
    for (ColumnRequest& request : requests) {
      request.raw = request.raw || request.kind != ColumnKind::kSkip;
    }
  }
  return requests;
}

void RowEncoder::encode(const Table& table) {
  encoded_ = schema_.encode(table, need_, missing_);
  if (outside_model_) {
    const std::vector<double> given = outside_model_(table, schema_.model_inputs(), encoded_.rows);
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

Rows some_rows(const Rows& rows, std::size_t first, std::size_t count) {
  Rows some{rows.x.middle_rows(first, count)};
  if (rows.given.cols() > 0) some.given = rows.given.middle_rows(first, count);
  if (!rows.group.empty()) some.group = rows.group.subspan(first, count);
  return some;
}

std::vector<Notice> RowEncoder::notices() const {
  std::vector<Notice> all;
  // Most answers have none, and a service asks for each.
  const auto add = [&](const char* code, std::size_t count, auto text, const auto&... more) {
    if (count > 0) all.push_back({code, count, fmt::format(fmt::runtime(text), count, more...)});
  };
  add("dropped_rows", dropped_, "{} rows with a missing value were left out");
  add("left_out_rows", without_window(),
      "{} rows at the start have no full window of {} and were left out", schema_.window());
  add("imputed_values", imputed_, "{} missing values were imputed");
  add("unseen_group", unseen_groups_,
      "{} rows have a value of '{}' that was not there at fit; they use the ranks of all rows, and "
      "nothing is guaranteed for them",
      schema_.group().name());
  add("unseen_category", unseen_,
      "{} cells hold a category that was not there at fit; they are encoded as none of the known "
      "categories");
  return all;
}

bool RowEncoder::is_ready(const Table& table) const {
  std::size_t next = 0;
  const auto has = [&](const std::string& name, ColumnKind kind) {
    if (next == table.columns.size()) return false;
    const Column& column = table.columns[next++];
    const std::size_t cells =
        kind == ColumnKind::kText ? column.codes.size() : column.numbers.size();
    return column.name == name && column.kind == kind && cells == table.rows();
  };
  for (const InputColumn& input : schema_.inputs()) {
    if (!has(input.name, input.categorical ? ColumnKind::kText : ColumnKind::kNumber)) return false;
  }
  for (const std::string& name : schema_.given_columns()) {
    if (!has(name, ColumnKind::kNumber)) return false;
  }
  if (need_ == Need::kFeaturesAndTarget && !has(schema_.target(), ColumnKind::kNumber)) {
    return false;
  }
  return schema_.group().empty() && !outside_model_;
}

}  // namespace tare

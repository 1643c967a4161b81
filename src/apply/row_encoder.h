// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/schema.h"
#include "data/windows.h"
#include "tare/apply/fit.h"
#include "tare/apply/notice.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/io/table.h"

namespace tare {

/// Rows first, first + 1, ..., first + count - 1.
Rows some_rows(const Rows& rows, std::size_t first, std::size_t count);

/// Encodes the rows of tables for a model, with their window if the model is for a series, and with
/// their group. Tables that are parts of one file must come in order.
class RowEncoder {
 public:
  /// The schema must live longer. If `missing` is empty, missing values are imputed if the model
  /// was fitted with it, and are an error otherwise; rows are dropped only on request. Throws
  /// kInvalidArgument if the model needs an outside model that is not passed (a model file never
  /// starts a program), or if one is passed that it does not need.
  RowEncoder(const Schema& schema, Need need, std::optional<MissingPolicy> missing = {},
             OutsideModel outside_model = {});

  /// How to read the columns of a file with this header; cells of columns in `keep` are stored as
  /// written. Throws kNotFound for a needed column that does not exist.
  std::vector<ColumnRequest> requests(const std::string& source,
                                      const std::vector<std::string>& header,
                                      const std::vector<std::string>& keep) const;

  /// Whether the table has exactly the model's columns in their order, as the rows of a request do:
  /// then nothing has to be looked up. False says nothing.
  bool is_ready(const Table& table) const;

  /// Throws what Schema::encode throws.
  void encode(const Table& table);

  /// Of the last table.
  const Encoded& encoded() const noexcept { return encoded_; }
  Rows rows() const { return {encoded_.x, encoded_.given, group_}; }

  /// Of all tables so far.
  std::size_t dropped() const noexcept { return dropped_; }
  std::size_t imputed() const noexcept { return imputed_; }
  std::size_t unseen() const noexcept { return unseen_; }
  std::size_t without_window() const noexcept { return windows_.left_out(); }
  /// dropped_rows, left_out_rows, imputed_values, unseen_group, unseen_category: those that
  /// happened.
  std::vector<Notice> notices() const;

 private:
  const Schema& schema_;
  Need need_;
  MissingPolicy missing_;
  OutsideModel outside_model_;
  Windows windows_;
  Encoded encoded_;
  std::vector<std::uint32_t> group_;
  std::size_t dropped_ = 0;
  std::size_t imputed_ = 0;
  std::size_t unseen_ = 0;
  std::size_t unseen_groups_ = 0;
};

}  // namespace tare

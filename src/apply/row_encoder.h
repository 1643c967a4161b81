// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/schema.h"
#include "data/windows.h"
#include "io/table.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// Something that a front end tells its user, under a code that stays.
struct Notice {
  std::string code;
  std::size_t rows = 0;  // rows or cells that it is about
  std::string text;      // a sentence without the name of a file
};

/// The rows of tables as a model takes them: encoded, with their past where the model looks at a
/// series, and with their group. Tables come in the order of the file they are pieces of.
class RowEncoder {
 public:
  /// What an outside model says about the table's rows of these numbers.
  using GivenBy =
      std::function<std::vector<double>(const Table&, const std::vector<std::size_t>& rows)>;

  /// The schema must live longer.
  RowEncoder(const Schema& schema, Need need, MissingPolicy missing, GivenBy given_by = {});

  /// Throws what Schema::encode throws.
  void encode(const Table& table);

  /// Of the last table.
  const Encoded& encoded() const noexcept { return encoded_; }
  Rows rows() const { return {encoded_.x, encoded_.given, group_}; }
  Rows rows(std::size_t first, std::size_t count) const;

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
  GivenBy given_by_;
  Windows windows_;
  Encoded encoded_;
  std::vector<std::uint32_t> group_;
  std::size_t dropped_ = 0;
  std::size_t imputed_ = 0;
  std::size_t unseen_ = 0;
  std::size_t unseen_groups_ = 0;
};

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "tare/calibrate/quantile_model.h"

namespace tare::serve {

/// A predicted row as the model sees it.
struct WaitingRow {
  std::vector<double> x;
  std::vector<double> given;
  std::optional<std::uint32_t> group;

  /// As one row; this object must outlive it.
  Rows rows() const;
};

/// The last predicted rows, for targets that come later by id. Thread-safe.
class WaitingRows {
 public:
  /// Bytes for numbers of rows; fewer rows are kept where these do not suffice.
  static constexpr std::size_t kMostBytes = std::size_t{128} << 20;

  /// At most `most` rows; memory grows with the rows that come. 0: none.
  explicit WaitingRows(std::size_t most) : most_(most) {}

  /// Forgets all rows. Those to come have this shape; `lineage` is the model that they are for.
  void start(std::size_t features, std::size_t given, std::uint32_t lineage);
  /// Rows with the numbers first, first + 1, ... Does nothing where they are for another lineage.
  void add(std::uint64_t first, const Rows& rows, std::uint32_t lineage);
  /// The row with a number, or nothing if it was forgotten or is for another lineage.
  std::optional<WaitingRow> find(std::uint64_t number, std::uint32_t lineage) const;
  std::size_t capacity() const;

 private:
  struct Slot {
    std::uint64_t number = 0;
    std::uint32_t group = 0;
    bool has_group = false;
    bool is_used = false;
  };

  std::size_t most_;
  mutable std::mutex guard_;
  std::size_t features_ = 0;
  std::size_t given_ = 0;
  std::uint32_t lineage_ = 0;
  std::size_t capacity_ = 0;
  std::vector<Slot> slots_;      // number n lies at n % capacity_
  std::vector<double> numbers_;  // features_ + given_ for each slot
};

}  // namespace tare::serve

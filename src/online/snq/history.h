// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/tensor_store.h"

namespace tare {

/// Errors are at most of this size: sums over all rows are then finite.
inline constexpr double kFarthestError = 1e300;

/// The last rows of a stream by their time: prediction, columns, and the error (target minus
/// prediction) of rows whose target is known. Memory is allocated at the start.
class History {
 public:
  History(std::size_t rows, std::size_t columns);

  /// Adds a row whose error is known. A row older than those kept is ignored; between the newest
  /// row and a later one there may be a gap.
  void learn(std::uint64_t time, double prediction, std::span<const double> columns, double error);

  std::size_t columns() const noexcept { return columns_; }
  std::size_t capacity() const noexcept { return times_.size(); }
  std::uint64_t end() const noexcept { return end_; }          // one more than the newest time
  std::uint64_t begin() const noexcept;                        // the oldest time that may be known
  std::uint64_t learned() const noexcept { return learned_; }  // rows so far, forgotten ones too

  bool knows(std::uint64_t time) const noexcept;
  /// 0 where the target is not known.
  double error(std::uint64_t time) const noexcept;
  double prediction(std::uint64_t time) const noexcept;            // of a known row
  std::span<const double> row(std::uint64_t time) const noexcept;  // of a known row

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile where the state is not of such a history.
  void load(const TensorReader& in);

 private:
  std::size_t place(std::uint64_t time) const noexcept { return time % times_.size(); }

  std::size_t columns_;
  std::vector<std::int64_t> times_;  // of the row at each place; -1: none
  std::vector<double> errors_;
  std::vector<double> predictions_;
  std::vector<double> features_;
  std::uint64_t end_ = 0;
  std::uint64_t learned_ = 0;
};

}  // namespace tare

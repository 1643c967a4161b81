// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "online/snq/history.h"

namespace tare {

/// Lags that a user may name.
inline constexpr std::size_t kMostGivenLags = 1'000;

/// What the user sets about the structure; what is not set is chosen from the errors.
struct StructureOptions {
  std::size_t delay = 0;  // lags are larger than this
  std::optional<std::vector<std::size_t>> lags;
  std::optional<std::size_t> period;  // 0: no season
};

/// Which regressors explain the errors of a stream, and in which units they are.
struct Structure {
  std::vector<std::size_t> lags;     // of the error, ascending
  std::size_t period = 0;            // rows of a season; 0: none
  std::vector<std::size_t> columns;  // of the row
  std::vector<double> center;        // of the prediction and then of these columns
  std::vector<double> unit;          // of the same
  double error_unit = 1.0;           // a typical size of an error

  /// One, the prediction, columns, past errors, waves of the season.
  std::size_t regressors() const noexcept;
  /// The regressors of a row, from what `history` knows: `x` has regressors() elements.
  void fill(const History& history, std::uint64_t time, double prediction,
            std::span<const double> row, std::span<double> x) const;

  void save(const TensorWriter& out) const;
  static Structure load(const TensorReader& in, std::size_t columns, std::size_t delay);
};

/// Chooses by the rows that the history knows.
Structure choose_structure(const History& history, const StructureOptions& options);

/// Waves of a season: a cosine and a sine for each of these.
inline constexpr std::size_t kWaves = 2;

}  // namespace tare

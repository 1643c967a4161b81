// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

/// A row that an online model has learned: all that is needed to learn it again.
struct JournalRow {
  std::uint64_t sequence = 0;  // rows that the model had learned before
  double prediction = 0.0;
  double target = 0.0;
  /// The quantile that the stream answered at its middle level, before it learned the target. A
  /// replay that answers otherwise starts from another state.
  double answer = 0.0;
  std::string id;  // of the client; may be empty
  std::vector<double> x;

  bool operator==(const JournalRow&) const = default;
};

/// Bytes of an id.
inline constexpr std::size_t kLongestRowId = 64;

/// Little-endian: sequence, prediction, target, answer (8 bytes each), the length of the id (1
/// byte), the id, and x. Appended to `out`.
void append_journal_row(std::string& out, const JournalRow& row);

/// Throws kCorruptFile where the bytes are not a row with this number of features, or a number
/// other than the answer is not finite.
JournalRow read_journal_row(std::string_view bytes, std::size_t features);

}  // namespace tare

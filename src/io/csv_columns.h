// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv.h"

namespace tare {

/// Why a cell does not fit its column.
enum class CellFault : std::uint8_t {
  kNone,
  kText,      // text where a number belongs
  kInfinite,  // a number without bounds
  kMixed,     // the first number in a column that has shown text before
};

/// Codes for distinct texts, in order of first appearance.
class TextCodes {
 public:
  void clear();
  /// The code of `text`, which is appended to `vocabulary` when it is new.
  std::int32_t code(std::string_view text, std::vector<std::string>& vocabulary);

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t code = -1;  // -1: free
  };
  void grow();

  std::vector<Slot> slots_;  // a power of two of them, at most half taken
  std::size_t taken_ = 0;
};

/// Fills one column of each batch, and remembers between batches what the column holds.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(ColumnRequest request);

  /// Empties `out`, which this object fills until finish().
  void start(Column& out);
  void finish();

  /// True when a finite number may be handed to add_number() instead of its cell to add().
  bool takes_numbers() const noexcept { return mode_ == Mode::kNumbers && !raw_; }
  /// True when the column's cells are passed over.
  bool takes_nothing() const noexcept { return mode_ == Mode::kSkip && !raw_; }
  void add_number(double value) { out_->numbers.push_back(value); }

  /// Adds a cell that is on `line`; it is not added where there is a fault.
  CellFault add(std::string_view text, std::uint64_t line);

  bool automatic() const noexcept { return automatic_; }
  // The first text of an automatic column, which a fault of kMixed is about.
  const std::string& first_text() const noexcept { return texts_->first; }
  std::uint64_t first_text_line() const noexcept { return texts_->first_line; }

 private:
  enum class Mode : std::uint8_t { kSkip, kUndecided, kNumbers, kTexts };

  /// What only a column of texts needs; most are of numbers, and a file may have very many.
  struct Texts {
    TextCodes codes;
    std::string first;  // of an automatic column
    std::uint64_t first_line = 0;
  };

  CellFault add_value(std::string_view text, std::uint64_t line);
  void add_missing(std::string_view text);
  void add_text(std::string_view text);

  Mode mode_;
  bool automatic_;
  bool raw_;
  Column* out_ = nullptr;
  std::size_t rows_ = 0;          // of this batch, while undecided
  std::unique_ptr<Texts> texts_;  // where the mode is kTexts
};

}  // namespace tare

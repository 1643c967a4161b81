// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "forger.h"
#include "small_models.h"

namespace tare {

/// What loading, describing and asking a model file may take: this many bytes, and this many times
/// its own size (docs/model-file.md).
inline constexpr std::size_t kFixedBytes = std::size_t{64} << 20;
inline constexpr std::size_t kBytesPerByte = 64;
inline constexpr double kMostSeconds = 5.0;

/// Loads the bytes, describes the model and asks it about the rows, with diagnostics. Returns what
/// is wrong: an exception other than Error, an answer that is not a number or out of order, too
/// much memory or time. Empty: nothing. `how` gets "refused", "refused late" (when asked),
/// or "answered".
std::string outcome_of(const std::vector<std::byte>& bytes, const Table& rows, bool may_be_infinite,
                       std::string& how);

/// A model with all its forgeries.
class ForgedModel {
 public:
  explicit ForgedModel(SmallModel model);

  const std::vector<Forgery>& forgeries() const { return forgeries_; }
  std::string outcome_of_good() const;
  std::string outcome(std::size_t forgery) const;
  /// How many were refused and how many answered so far.
  std::string summary() const;

 private:
  SmallModel model_;
  TensorStore good_;
  std::vector<Forgery> forgeries_;
  mutable std::size_t refused_ = 0, refused_late_ = 0, answered_ = 0;
};

}  // namespace tare

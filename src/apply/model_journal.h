// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "calibrate/online/online_model.h"
#include "io/files/journal_file.h"
#include "online/journal/journal_row.h"
#include "tare/calibrate/model_file.h"

namespace tare {

/// The header of a journal that begins with this model: its columns, levels and method, how many
/// rows it has learned, and its `version`, the checksum of its file.
std::string journal_header(const FittedModel& fitted, const std::string& version);

/// Teaches an online model the rows of a journal that follow those it has learned. Afterwards the
/// model answers as the one that wrote the journal did, to the bit.
class JournalReplay {
 public:
  /// `fitted` must be online, and is taught in place. `seen` is called for each row of the journal,
  /// also for those that the model has learned already.
  JournalReplay(std::string path, const FittedModel& fitted, std::string version,
                std::function<void(const JournalRow&)> seen = {});

  /// Reads what has come since the last call. Throws what read_journal throws; kBadData for the
  /// journal of another model, or of another state of it; kCorruptFile for rows that are not in
  /// sequence.
  JournalEnd read();

  std::uint64_t first() const noexcept { return first_; }  // sequence of its first row
  std::uint64_t next() const noexcept { return next_; }    // sequence of the row after its last
  std::uint64_t skipped() const noexcept { return skipped_; }
  std::uint64_t replayed() const noexcept { return replayed_; }

 private:
  void take_header(std::string_view text);
  void take_row(std::string_view bytes);
  void check_answer(const JournalRow& row, const PendingRow& answered) const;

  std::string path_;
  const FittedModel& fitted_;
  std::string version_;
  std::shared_ptr<OnlineModel> model_;
  std::function<void(const JournalRow&)> seen_;
  std::string difference_;  // from the journal's model; a journal without rows is for any model
  bool begun_with_this_file_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t replayed_ = 0;
  JournalEnd end_;
};

/// The index of the level whose answer a JournalRow has.
std::size_t journal_level(const OnlineStream& stream);

}  // namespace tare

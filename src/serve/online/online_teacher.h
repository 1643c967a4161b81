// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "calibrate/online/online_model.h"
#include "io/files/journal_file.h"
#include "serve/model/served_model.h"
#include "serve/online/seen_ids.h"
#include "serve/online/waiting_rows.h"

namespace tare::serve {

/// Teaches the online model that serves, and writes each row to the journal before it is learned.
/// For a model that does not learn it does nothing. Thread-safe.
///
/// A lineage is a stream: a switch to a file of the same stream keeps it, a switch to any other
/// model begins a new one. Rows that were encoded for one lineage are not taught to another.
class OnlineTeacher {
 public:
  struct Options {
    std::string journal;  // empty: none
    JournalSync sync = JournalSync::kSystem;
    std::uint64_t most_journal_bytes = std::uint64_t{1} << 30;
    std::size_t remembered = 1'000'000;  // predicted rows, and ids of observed ones
    double watch = 0.9;                  // confidence of the monitored interval
  };
  /// Brings `first` up to the end of the journal. Throws what JournalReplay and JournalFile throw,
  /// and kInvalidArgument for a journal of a model that does not learn.
  OnlineTeacher(Options options, const ServedModel& first);

  /// What the constructor found.
  struct Start {
    std::uint64_t rows = 0;       // that the model has learned
    std::uint64_t skipped = 0;    // rows of the journal that the file had
    std::uint64_t replayed = 0;   // rows of the journal that it had not
    std::uint64_t cut_bytes = 0;  // of a record that was not written whole
  };
  const Start& start() const noexcept { return start_; }
  const Options& options() const noexcept { return options_; }

  bool is_online() const noexcept { return lineage_ > 0; }
  /// Of the model that serves now; 0: it does not learn. Read it before the model: a switch in
  /// between then makes the rows count as those of an earlier one.
  std::uint32_t lineage() const noexcept { return lineage_; }
  /// Whether learning a row may wait for the disk, or train a model.
  bool may_take_long() const noexcept { return takes_long_; }
  /// Throws Refusal 503 after a row was written but not learned, for lack of memory: the state is
  /// then not known until a switch, which reads the journal.
  void check_whole() const;
  bool is_broken() const noexcept { return is_broken_; }
  std::uint64_t journal_bytes() const noexcept { return journal_bytes_; }

  WaitingRows& waiting() noexcept { return waiting_; }
  bool has_seen(std::string_view id) const;

  enum class Outcome : std::uint8_t { kLearned, kRepeated, kEarlier };
  struct Taught {
    Outcome outcome = Outcome::kEarlier;
    bool is_answered = false;  // enough targets were known before the row
    double lower = 0.0;        // the monitored interval, as answered before the row was learned
    double upper = 0.0;
  };
  /// Answers a row and then learns its target. `prediction` is the row's, if it is known. Throws
  /// Refusal: 422 for a target too far from its prediction, 503 if the journal cannot be written.
  /// The row is then not learned.
  Taught learn(const Rows& one, double target, std::string_view id,
               std::optional<double> prediction, std::uint32_t lineage);

  /// Makes `fresh` the model that is taught. Nobody teaches until `lock` is released.
  struct Switch {
    std::unique_lock<std::mutex> lock;
    bool continues = false;  // `fresh` has the state of `present`, to the bit
  };
  /// With a journal, `fresh` must be of its stream: with the journal's rows that it has not
  /// learned, it must be in the state of `present`. Throws kBadData if it is not; nothing changes
  /// then.
  Switch switch_to(const ServedModel& fresh, const ServedModel& present);

 private:
  void take_model(const ServedModel& model) noexcept;
  void open_journal(const ServedModel& first);
  void write(const PendingRow& row, const Rows& one, double target, std::string_view id);
  std::pair<double, double> watched(const Rows& one, const PendingRow& row) const;

  Options options_;
  std::vector<Level> watch_levels_;
  Start start_;
  WaitingRows waiting_;
  std::atomic<std::uint32_t> lineage_ = 0;
  std::uint32_t last_lineage_ = 0;
  std::atomic<bool> takes_long_ = false;
  std::atomic<bool> is_broken_ = false;
  std::atomic<std::uint64_t> journal_bytes_ = 0;

  mutable std::mutex guard_;
  std::shared_ptr<OnlineModel> model_;
  SeenIds seen_;
  std::unique_ptr<JournalFile> journal_;
  std::string record_;  // reused
};

}  // namespace tare::serve

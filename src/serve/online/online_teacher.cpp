// SPDX-License-Identifier: BSD-3-Clause
#include "serve/online/online_teacher.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "apply/model_journal.h"
#include "base/fail.h"
#include "serve/http/refusal.h"
#include "serve/model/predict_rows.h"

namespace tare::serve {
namespace {

/// The same state, whatever the files said about themselves.
bool same_state(const ServedModel& one, const ServedModel& other) {
  FittedModel first = one.fitted();
  FittedModel second = other.fitted();
  first.rows = 0;
  second.rows = 0;
  return save_model_to_memory(first) == save_model_to_memory(second);
}

std::optional<std::size_t> place_of(const std::vector<Level>& levels, const Level& level) {
  const auto found = std::lower_bound(levels.begin(), levels.end(), level);
  if (found == levels.end() || !(*found == level)) return std::nullopt;
  return static_cast<std::size_t>(found - levels.begin());
}

}  // namespace

OnlineTeacher::OnlineTeacher(Options options, const ServedModel& first)
    : options_(std::move(options)), waiting_(options_.remembered), seen_(options_.remembered) {
  for (const double level : interval_ends(options_.watch)) watch_levels_.emplace_back(level);
  if (!options_.journal.empty()) open_journal(first);
  take_model(first);
  if (model_) start_.rows = model_->stream().time();
}

void OnlineTeacher::open_journal(const ServedModel& first) {
  JournalReplay replay(options_.journal, first.fitted(), first.version(),
                       [&](const JournalRow& row) {
                         if (!row.id.empty()) seen_.add(row.id);
                       });
  // Locked before it is read: nobody appends in between.
  auto journal = std::make_unique<JournalFile>(options_.journal, options_.sync);
  const JournalEnd end = replay.read();
  const std::uint64_t rows = online_in(first.fitted())->stream().time();
  const bool is_empty = replay.next() == replay.first();
  if (!is_empty && rows > replay.next()) {
    fail(ErrorCode::kBadData,
         {.source = options_.journal,
          .remedies = {advice("remove the journal: the model has all of its rows")}},
         "the model has learned {} rows, and the journal ends after {}", rows, replay.next());
  }
  if (is_empty) {
    journal->start(journal_header(first.fitted(), first.version()));
    start_.cut_bytes = end.torn;
  } else if (end.torn > 0) {
    journal->go_on(end.whole);
    start_.cut_bytes = end.torn;
  }
  start_.skipped = replay.skipped();
  start_.replayed = replay.replayed();
  journal_bytes_ = journal->size();
  journal_ = std::move(journal);
}

/// Under the lock, or before anybody else knows this object.
void OnlineTeacher::take_model(const ServedModel& model) noexcept {
  model_ = model.online();
  is_broken_ = false;
  if (!model_) {
    lineage_ = 0;
    return;
  }
  const bool own = model_->base() == nullptr && model_->given() == 0;
  takes_long_ = own || (journal_ && options_.sync == JournalSync::kAlways);
  lineage_ = ++last_lineage_;
  waiting_.start(model_->features(), model_->given(), lineage_);
}

void OnlineTeacher::check_whole() const {
  if (!is_broken_) return;
  refuse(503,
         "the model could not learn a row for lack of memory; it is loaded again (try again in a "
         "moment)");
}

bool OnlineTeacher::has_seen(std::string_view id) const {
  const std::lock_guard lock(guard_);
  return seen_.has(id);
}

/// Of the levels of the stream, or between them.
std::pair<double, double> OnlineTeacher::watched(const Rows& one, const PendingRow& row) const {
  const std::vector<Level>& levels = model_->stream().options().levels;
  const auto low = place_of(levels, watch_levels_[0]);
  const auto high = place_of(levels, watch_levels_[1]);
  if (low && high) return {row.answer.quantiles[*low], row.answer.quantiles[*high]};
  const Matrix ends = model_->predict(one, watch_levels_).quantiles;
  return {ends(0, 0), ends(0, 1)};
}

void OnlineTeacher::write(const PendingRow& row, const Rows& one, double target,
                          std::string_view id) {
  const auto x = one.x.row(0);
  record_.clear();
  append_journal_row(record_, {.sequence = model_->stream().time(),
                               .prediction = row.prediction,
                               .target = target,
                               .answer = row.answer.quantiles[journal_level(model_->stream())],
                               .id = std::string(id),
                               .x = {x.begin(), x.end()}});
  if (journal_->size() + record_.size() > options_.most_journal_bytes) {
    refuse(503,
           "the journal has reached its limit of {} MiB, so nothing more is learned (fold it into "
           "the model with 'tare update MODEL --journal FILE' and begin another one)",
           options_.most_journal_bytes >> 20);
  }
  try {
    journal_->append(record_);
  } catch (const Error& error) {
    refuse(503, "the row was not learned, because the journal {} (try again when that is mended)",
           error.problem());
  }
  journal_bytes_ = journal_->size();
}

OnlineTeacher::Taught OnlineTeacher::learn(const Rows& one, double target, std::string_view id,
                                           std::optional<double> prediction,
                                           std::uint32_t lineage) {
  const std::lock_guard lock(guard_);
  check_whole();
  if (lineage != lineage_) return {};
  if (!id.empty() && !seen_.add(id)) return {.outcome = Outcome::kRepeated};
  Taught taught{.outcome = Outcome::kLearned};
  PendingRow row;
  try {
    const double center = prediction ? *prediction : model_->predictions(one)[0];
    if (!std::isfinite(target - center)) {
      refuse(422, "target {} is too far from its prediction {}: their difference is not finite",
             target, center);
    }
    row = model_->answer(center, one.x.row(0));
    taught.is_answered = row.is_ready;
    if (row.is_ready) std::tie(taught.lower, taught.upper) = watched(one, row);
    if (journal_) write(row, one, target, id);
  } catch (...) {
    if (!id.empty()) seen_.take_back();
    throw;
  }
  try {
    model_->learn(row, one.x.row(0), target);
  } catch (...) {
    is_broken_ = true;
    check_whole();
  }
  return taught;
}

OnlineTeacher::Switch OnlineTeacher::switch_to(const ServedModel& fresh,
                                               const ServedModel& present) {
  if (!journal_) {
    Switch done{.lock = std::unique_lock(guard_)};
    seen_.clear();
    take_model(fresh);
    return done;
  }
  JournalReplay replay(options_.journal, fresh.fitted(), fresh.version());
  replay.read();  // most of it while others teach
  Switch done{.lock = std::unique_lock(guard_), .continues = true};
  replay.read();
  // A row that was written but not learned is one of the stream.
  const std::uint64_t now = is_broken_ ? replay.next() : model_->stream().time();
  const std::uint64_t rows = fresh.online()->stream().time();
  if (rows != now) {
    fail(ErrorCode::kBadData,
         "it has learned {} rows, and the model in use {} (the journal has no other rows; restart "
         "the service with another journal for another stream)",
         rows, now);
  }
  if (!is_broken_ && !same_state(fresh, present)) {
    fail(ErrorCode::kBadData,
         "with the rows of the journal it is in another state than the model in use (restart the "
         "service with another journal for another stream)");
  }
  model_ = fresh.online();
  is_broken_ = false;
  return done;
}

}  // namespace tare::serve

// SPDX-License-Identifier: BSD-3-Clause
#include "serve/online/online_teacher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "io/temp_folder.h"
#include "online_stream_model.h"
#include "serve/http/refusal.h"
#include "small_model.h"

namespace tare::serve {
namespace {

constexpr std::uint64_t kFirst = 60;  // rows that the file has learned

std::vector<double> answers_now(const ServedModel& model) {
  const std::vector<double> x = {0.1, 0.5, 0.9, 0.2, 0.7, 0.7};
  const std::vector<double> given = {1.0, 2.0, 0.0};
  const std::vector<Level> levels = {Level{0.05}, Level{0.3}, Level{0.95}};
  const Rows rows{.x = MatrixView(x.data(), 3, 2), .given = MatrixView(given.data(), 3, 1)};
  const Prediction answered = model.online()->predict(rows, levels);
  const auto values = answered.quantiles.values();
  return {values.begin(), values.end()};
}

/// A service's model and teacher, without the service.
struct Taught {
  Taught(const std::string& path, const std::string& journal, OnlineTeacher::Options options = {})
      : model(ServedModel::load(path)), teacher(with(std::move(options), journal), *model) {}

  static OnlineTeacher::Options with(OnlineTeacher::Options options, const std::string& journal) {
    options.journal = journal;
    return options;
  }

  OnlineTeacher::Outcome learn(std::uint64_t i, const std::string& id = "") {
    const StreamRow row = stream_row(i);
    const std::vector<double> x = {row.a, row.b};
    const Rows one{.x = MatrixView(x.data(), 1, 2), .given = MatrixView(&row.p, 1, 1)};
    return teacher.learn(one, row.y, id, std::nullopt, teacher.lineage()).outcome;
  }
  std::uint64_t rows() const { return model->online()->stream().time(); }

  std::shared_ptr<const ServedModel> model;
  OnlineTeacher teacher;
};

class Teacher : public testing::Test {
 protected:
  Teacher() { save_model(path_, stream_model(kFirst)); }

  /// The answers after the first 0, 1, ..., count rows that follow the file, by track's own way of
  /// learning and without a journal.
  std::vector<std::vector<double>> expected(std::uint64_t count) const {
    const auto model = ServedModel::load(path_);
    std::vector<std::vector<double>> all = {answers_now(*model)};
    for (std::uint64_t i = kFirst; i < kFirst + count; ++i) {
      const StreamRow row = stream_row(i);
      const std::vector<double> x = {row.a, row.b};
      model->online()->learn(model->online()->answer(row.p, x), x, row.y);
      all.push_back(answers_now(*model));
    }
    return all;
  }

  TempFolder folder_;
  std::string path_ = folder_ / "m.tare";
  std::string journal_ = folder_ / "j";
};

TEST_F(Teacher, ARestartAtAnyRowAnswersWithTheSameBits) {
  const auto right = expected(40);
  for (std::uint64_t done = 0; done <= 40; ++done) {
    Taught taught(path_, journal_);
    EXPECT_EQ(taught.teacher.start().replayed, done);
    EXPECT_EQ(taught.rows(), kFirst + done);
    ASSERT_EQ(answers_now(*taught.model), right[done]);
    if (done < 40) taught.learn(kFirst + done);
  }
}

TEST_F(Teacher, RowsThatTheFileHasAreSkipped) {
  const auto right = expected(30);
  {
    Taught taught(path_, journal_);
    for (std::uint64_t i = 0; i < 20; ++i) taught.learn(kFirst + i, "id" + std::to_string(i));
  }
  save_model(path_, stream_model(kFirst + 15), Replace::kReplace);  // folded in between
  Taught taught(path_, journal_);
  EXPECT_EQ(taught.teacher.start().skipped, 15U);
  EXPECT_EQ(taught.teacher.start().replayed, 5U);
  EXPECT_EQ(answers_now(*taught.model), right[20]);
  EXPECT_EQ(taught.learn(kFirst + 20, "id3"), OnlineTeacher::Outcome::kRepeated)
      << "ids of skipped rows are known";
  for (std::uint64_t i = 20; i < 30; ++i) taught.learn(kFirst + i);
  EXPECT_EQ(answers_now(*taught.model), right[30]);
}

TEST_F(Teacher, AnIdCountsOnceAlsoAfterARestart) {
  const auto right = expected(2);
  for (int start = 0; start < 3; ++start) {
    Taught taught(path_, journal_);
    for (int again = 0; again < 2; ++again) {
      const bool is_first = start == 0 && again == 0;
      const auto wanted =
          is_first ? OnlineTeacher::Outcome::kLearned : OnlineTeacher::Outcome::kRepeated;
      EXPECT_EQ(taught.learn(kFirst, "a"), wanted);
      EXPECT_EQ(taught.learn(kFirst + 1, std::string("\0b\n\xFF", 4)), wanted) << "any bytes";
    }
    EXPECT_EQ(taught.rows(), kFirst + 2);
    EXPECT_EQ(answers_now(*taught.model), right[2]);
  }
}

TEST_F(Teacher, TheOldestIdsAreForgotten) {
  Taught taught(path_, journal_, {.journal = journal_, .remembered = 3});
  for (const char* id : {"a", "b", "c", "d"}) taught.learn(kFirst, id);
  EXPECT_FALSE(taught.teacher.has_seen("a"));
  EXPECT_EQ(taught.learn(kFirst, "b"), OnlineTeacher::Outcome::kRepeated);
  EXPECT_EQ(taught.learn(kFirst, "a"), OnlineTeacher::Outcome::kLearned);
}

/// Whatever byte of a journal changes, the service does not start, or starts in a state that it
/// had.
TEST_F(Teacher, AChangedByteNeverGivesAnotherState) {
  const auto right = expected(4);
  {
    Taught taught(path_, journal_);
    for (std::uint64_t i = 0; i < 4; ++i) taught.learn(kFirst + i, "id" + std::to_string(i));
  }
  const std::string whole = read_bytes(journal_);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_bytes(journal_, changed);
    try {
      const Taught taught(path_, journal_);
      ASSERT_EQ(taught.rows(), kFirst + 3) << at;
      ASSERT_EQ(answers_now(*taught.model), right[3]) << at;
    } catch (const Error& error) {
      ++refused;
      ASSERT_NE(std::string(error.what()).find(journal_), std::string::npos) << error.what();
      ASSERT_EQ(read_bytes(journal_), changed) << "what is refused is left as it is";
    }
  }
  EXPECT_GT(refused, whole.size() / 2);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    write_bytes(journal_, whole.substr(0, cut));
    const Taught taught(path_, journal_);
    ASSERT_EQ(answers_now(*taught.model), right[taught.rows() - kFirst]) << cut;
    ASSERT_EQ(taught.teacher.start().replayed, taught.rows() - kFirst);
  }
}

TEST_F(Teacher, JournalsOfOtherModelsAreRefused) {
  {
    Taught taught(path_, journal_);
    taught.learn(kFirst);
    taught.learn(kFirst + 1);
  }
  const std::string bytes = read_bytes(journal_);
  const auto refused = [&](const FittedModel& other, const std::string& says) {
    save_model(path_, other, Replace::kReplace);
    expect_error(ErrorCode::kBadData, says, [&] { Taught(path_, journal_); });
    EXPECT_EQ(read_bytes(journal_), bytes);
  };
  refused(stream_model(kFirst, 7), "its seed is 0, and the model's is 7");
  refused(stream_model(kFirst - 1), "it begins after 60 rows, and the model has learned 59");
  refused(stream_model(kFirst + 3), "the model has learned 63 rows, and the journal ends after 62");
  FittedModel shifted = stream_model(kFirst - 1);  // as many rows, of which one is another
  const std::vector<double> x = {0.5, 0.5};
  online_in(shifted)->learn(online_in(shifted)->answer(1.0, x), x, 9.0);
  refused(shifted, "begun with another file");
  online_in(shifted)->learn(online_in(shifted)->answer(1.0, x), x, -9.0);
  refused(shifted, "was answered with");
  save_model(path_, small_model(), Replace::kReplace);
  expect_error(ErrorCode::kInvalidArgument, "does not learn", [&] { Taught(path_, journal_); });
}

TEST_F(Teacher, AnEmptyJournalIsForAnyModel) {
  { Taught taught(path_, journal_); }
  save_model(path_, stream_model(kFirst + 5, 3), Replace::kReplace);
  {
    Taught taught(path_, journal_);
    taught.learn(kFirst + 5);
  }
  EXPECT_EQ(Taught(path_, journal_).rows(), kFirst + 6);
}

TEST_F(Teacher, ASwitchContinuesTheStreamOrIsRefused) {
  const auto right = expected(12);
  Taught taught(path_, journal_);
  for (std::uint64_t i = 0; i < 10; ++i) taught.learn(kFirst + i);
  const auto load = [&](const FittedModel& model) {
    save_model(path_, model, Replace::kReplace);
    return ServedModel::load(path_);
  };
  const auto refused = [&](const FittedModel& model, const std::string& says) {
    const auto fresh = load(model);
    expect_error(ErrorCode::kBadData, says,
                 [&] { taught.teacher.switch_to(*fresh, *taught.model); });
    EXPECT_EQ(answers_now(*taught.model), right[10]);
  };
  refused(stream_model(kFirst + 11), "it has learned 71 rows, and the model in use 70");
  FittedModel other = stream_model(kFirst + 9);
  const std::vector<double> x = {0.5, 0.5};
  online_in(other)->learn(online_in(other)->answer(1.0, x), x, 9.0);
  refused(other, "another state than the model in use");
  for (const std::uint64_t folded : {0U, 4U, 10U}) {
    const auto fresh = load(stream_model(kFirst + folded));
    const std::uint32_t lineage = taught.teacher.lineage();
    EXPECT_TRUE(taught.teacher.switch_to(*fresh, *taught.model).continues);
    EXPECT_EQ(taught.teacher.lineage(), lineage) << "rows that wait stay";
    taught.model = fresh;
    EXPECT_EQ(answers_now(*taught.model), right[10]);
  }
  taught.learn(kFirst + 10);
  taught.learn(kFirst + 11);
  EXPECT_EQ(answers_now(*taught.model), right[12]);
}

TEST_F(Teacher, WithoutAJournalASwitchTakesTheFileAsItIs) {
  Taught taught(path_, "");
  taught.learn(kFirst, "a");
  const std::uint32_t before = taught.teacher.lineage();
  const auto fresh = ServedModel::load(path_);
  EXPECT_FALSE(taught.teacher.switch_to(*fresh, *taught.model).continues);
  taught.model = fresh;
  EXPECT_NE(taught.teacher.lineage(), before);
  EXPECT_EQ(taught.rows(), kFirst);
  EXPECT_EQ(taught.learn(kFirst, "a"), OnlineTeacher::Outcome::kLearned);
  const StreamRow row = stream_row(0);
  const std::vector<double> x = {row.a, row.b};
  const Rows one{.x = MatrixView(x.data(), 1, 2), .given = MatrixView(&row.p, 1, 1)};
  EXPECT_EQ(taught.teacher.learn(one, row.y, "", std::nullopt, before).outcome,
            OnlineTeacher::Outcome::kEarlier);
}

TEST_F(Teacher, WhatCannotBeWrittenIsNotLearned) {
  const auto right = expected(3);
  Taught taught(path_, journal_, {.journal = journal_, .most_journal_bytes = 800});
  std::uint64_t learned = 0;
  try {
    while (learned < 20) {
      taught.learn(kFirst + learned, "id" + std::to_string(learned));
      ++learned;
    }
    FAIL() << "the limit was not reached";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 503U);
    EXPECT_NE(refusal.detail().find("limit of 0 MiB"), std::string::npos);
  }
  EXPECT_GT(learned, 0U);
  EXPECT_EQ(taught.rows(), kFirst + learned);
  EXPECT_FALSE(taught.teacher.has_seen("id" + std::to_string(learned)));
  std::filesystem::remove(journal_);
  EXPECT_THROW(taught.learn(kFirst + learned), Refusal);
  EXPECT_EQ(taught.rows(), kFirst + learned);
}

TEST_F(Teacher, ATargetWithoutADifferenceIsRefusedAndItsIdIsFree) {
  Taught taught(path_, journal_);
  const std::vector<double> x = {0.5, 0.5};
  const double p = -1.7e308;
  const Rows one{.x = MatrixView(x.data(), 1, 2), .given = MatrixView(&p, 1, 1)};
  try {
    taught.teacher.learn(one, 1.7e308, "a", std::nullopt, taught.teacher.lineage());
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 422U);
  }
  EXPECT_EQ(taught.learn(kFirst, "a"), OnlineTeacher::Outcome::kLearned);
  EXPECT_EQ(Taught(path_, folder_ / "other").rows(), kFirst);
}

/// Threads predict while others teach; then the journal has every row once, and gives the state.
TEST_F(Teacher, ManyThreadsPredictAndTeach) {
  constexpr std::uint64_t kEach = 40;
  std::vector<double> last;
  {
    Taught taught(path_, journal_);
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (std::uint64_t teacher = 0; teacher < 3; ++teacher) {
      threads.emplace_back([&, teacher] {
        for (std::uint64_t i = 0; i < kEach; ++i) {
          taught.learn(kFirst + kEach * teacher + i, fmt::format("{}-{}", teacher, i));
          taught.learn(kFirst + kEach * teacher + i, fmt::format("{}-{}", teacher, i));
        }
      });
    }
    threads.emplace_back([&] {
      while (!stop) {
        const std::vector<double> now = answers_now(*taught.model);
        for (std::size_t i = 0; i < now.size(); i += 3) ASSERT_LE(now[i], now[i + 2]);
        taught.model->card();
      }
    });
    for (std::size_t i = 0; i < 3; ++i) threads[i].join();
    stop = true;
    threads.back().join();
    EXPECT_EQ(taught.rows(), kFirst + 3 * kEach);
    last = answers_now(*taught.model);
  }
  const Taught again(path_, journal_);
  EXPECT_EQ(again.teacher.start().replayed, 3 * kEach);
  EXPECT_EQ(answers_now(*again.model), last);
}

TEST(WaitingRows, KeepsTheLastRowsOfOneLineage) {
  WaitingRows waiting(3);
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<std::uint32_t> group = {5, 6, 7, 8, 9};
  const Rows rows{
      .x = MatrixView(x.data(), 5, 1), .given = MatrixView(x.data() + 5, 5, 1), .group = group};
  EXPECT_FALSE(waiting.find(0, 1)) << "before the start";
  waiting.start(1, 1, 1);
  waiting.add(100, rows, 1);
  EXPECT_FALSE(waiting.find(101, 1));
  EXPECT_FALSE(waiting.find(105, 1));
  for (const std::uint64_t i : {2U, 3U, 4U}) {
    const auto row = waiting.find(100 + i, 1);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->x, std::vector<double>{x[i]});
    EXPECT_EQ(row->given, std::vector<double>{x[5 + i]});
    EXPECT_EQ(row->group, group[i]);
  }
  EXPECT_FALSE(waiting.find(104, 2));
  waiting.add(105, rows, 2);
  EXPECT_TRUE(waiting.find(104, 1)) << "rows of another lineage are not added";
  waiting.start(1 << 20, 0, 3);
  EXPECT_LT(waiting.capacity() * (std::size_t{8} << 20), WaitingRows::kMostBytes + 1);
  EXPECT_FALSE(waiting.find(104, 3));
}

}  // namespace
}  // namespace tare::serve

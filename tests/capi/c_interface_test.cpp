// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tare/apply/predictor.h"
#include "tare/c.h"

namespace {

constexpr std::size_t kRows = 120;

tare_table* make_table() {
  tare_table* table = nullptr;
  EXPECT_EQ(tare_table_new(&table), TARE_OK);
  std::vector<double> x, y;
  std::vector<const char*> kind;
  for (std::size_t i = 0; i < kRows; ++i) {
    x.push_back(std::sin(static_cast<double>(i)));
    y.push_back(x.back() + std::cos(7.0 * static_cast<double>(i)));
    kind.push_back(i % 10 == 3 ? nullptr : i % 2 == 0 ? "even" : "odd");
  }
  EXPECT_EQ(tare_table_add_numbers(table, "x", x.data(), kRows), TARE_OK);
  EXPECT_EQ(tare_table_add_texts(table, "kind", kind.data(), kRows), TARE_OK);
  EXPECT_EQ(tare_table_add_numbers(table, "y", y.data(), kRows), TARE_OK);
  return table;
}

constexpr std::array kFit = {"target=y",  "method=nrc",     "regressor=ridge",
                             "bands=off", "missing=impute", "guarantee=split"};

struct CInterface : testing::Test {
  tare_table* table = make_table();
  tare_model* model = nullptr;
  CInterface() { EXPECT_EQ(tare_fit(table, kFit.data(), kFit.size(), &model), TARE_OK); }
  ~CInterface() override {
    tare_model_free(model);
    tare_table_free(table);
  }
};

TEST_F(CInterface, ActionsAreOptionsLikeOthers) {
  constexpr std::array kAsked = {"cost=over=1,under=4", "levels=0.8"};
  tare_answers* answers = nullptr;
  ASSERT_EQ(tare_predict(model, table, kAsked.data(), kAsked.size(), &answers), TARE_OK);
  ASSERT_EQ(tare_answers_columns(answers), 4U);
  EXPECT_STREQ(tare_answers_name(answers, 1), "action");
  EXPECT_STREQ(tare_answers_name(answers, 3), "cost_of_mean");
  const double* values = tare_answers_values(answers);
  for (std::size_t i = 0; i < tare_answers_rows(answers); ++i) {
    EXPECT_EQ(values[4 * i], values[4 * i + 1]);
    EXPECT_LE(values[4 * i + 2], values[4 * i + 3] + 1e-12);
  }
  tare_answers_free(answers);
  constexpr std::array kWrong = {"cost=over=1"};
  answers = nullptr;
  EXPECT_EQ(tare_predict(model, table, kWrong.data(), 1, &answers), TARE_INVALID_ARGUMENT);
  EXPECT_STREQ(tare_last_error()->option, "cost");
}

TEST_F(CInterface, AnswersAsTheLibraryDoes) {
  constexpr std::array kAsked = {"levels=0.5", "interval=0.9", "diagnostics=yes", "keep=kind"};
  tare_answers* answers = nullptr;
  ASSERT_EQ(tare_predict(model, table, kAsked.data(), kAsked.size(), &answers), TARE_OK);
  void* bytes = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(tare_model_save_memory(model, &bytes, &size), TARE_OK);
  const auto* first = static_cast<const std::byte*>(bytes);
  tare::Predictor predictor(tare::load_model_from_memory({first, first + size}),
                            {.levels = {0.5}, .intervals = {0.9}, .diagnostics = true});
  tare::Table rows;
  std::vector<double> x;
  std::vector<std::string> kind;
  for (std::size_t i = 0; i < kRows; ++i) {
    x.push_back(std::sin(static_cast<double>(i)));
    kind.emplace_back(i % 10 == 3 ? "" : i % 2 == 0 ? "even" : "odd");
  }
  rows.add_numbers("x", x);
  rows.add_texts("kind", kind);
  const tare::Answers expected = predictor.answer(rows);
  ASSERT_EQ(tare_answers_rows(answers), kRows);
  ASSERT_EQ(tare_answers_columns(answers), predictor.names().size());
  for (std::size_t j = 0; j < predictor.names().size(); ++j) {
    EXPECT_EQ(tare_answers_name(answers, j), predictor.names()[j]);
  }
  EXPECT_EQ(std::memcmp(tare_answers_values(answers), expected.values.values().data(),
                        expected.values.values().size_bytes()),
            0);
  const auto notices = predictor.notices();
  ASSERT_EQ(tare_answers_notices(answers), notices.size());
  ASSERT_FALSE(notices.empty());
  EXPECT_EQ(tare_answers_notice_code(answers, 0), notices[0].code);
  EXPECT_EQ(tare_answers_notice_text(answers, 0), notices[0].text);
  EXPECT_EQ(tare_answers_notice_rows(answers, 0), notices[0].rows);
  char* csv = nullptr;
  ASSERT_EQ(tare_answers_csv(answers, table, &csv), TARE_OK);
  EXPECT_EQ(std::string(csv).substr(0, 28), "kind,q0.5,lower_0.9,upper_0.");
  tare_free(csv);
  tare_free(bytes);
  tare_answers_free(answers);
}

TEST_F(CInterface, DescribesTheModel) {
  char* json = nullptr;
  ASSERT_EQ(tare_model_describe(model, &json), TARE_OK);
  EXPECT_NE(std::strstr(json, "\"target\""), nullptr);
  EXPECT_EQ(tare_model_has_guarantee(model), 1);
  tare_free(json);
}

TEST_F(CInterface, SaysWhatIsWrongAndLeavesOutputsAlone) {
  tare_model* none = nullptr;
  constexpr std::array kWrong = {"target=why"};
  EXPECT_EQ(tare_fit(table, kWrong.data(), 1, &none), TARE_NOT_FOUND);
  EXPECT_EQ(none, nullptr);
  EXPECT_STREQ(tare_last_error()->column, "why");
  constexpr std::array kNoForm = {"target"};
  EXPECT_EQ(tare_fit(table, kNoForm.data(), 1, &none), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_model_open("/no/such/model.tare", &none), TARE_NOT_FOUND);
  const char junk[] = "no model at all";
  EXPECT_EQ(tare_model_open_memory(junk, sizeof junk, &none), TARE_CORRUPT_FILE);
  const double two[] = {1.0, 2.0};
  EXPECT_EQ(tare_table_add_numbers(table, "short", two, 2), TARE_SHAPE_MISMATCH);
  tare_answers* answers = nullptr;
  constexpr std::array kLevels = {"levels=0.5,1.5"};
  EXPECT_EQ(tare_predict(model, table, kLevels.data(), 1, &answers), TARE_INVALID_ARGUMENT);
  EXPECT_STREQ(tare_last_error()->option, "levels");
  EXPECT_EQ(answers, nullptr);
}

TEST_F(CInterface, FollowsAStreamAndGoesOn) {
  constexpr std::array kTrack = {"target=y", "prediction=x", "interval=0.8", "start=20",
                                 "missing=impute"};
  tare_answers* answers = nullptr;
  tare_model* followed = nullptr;
  ASSERT_EQ(tare_track(table, kTrack.data(), kTrack.size(), nullptr, &answers, &followed), TARE_OK);
  EXPECT_EQ(tare_answers_rows(answers), tare_table_rows(table) - 20);
  EXPECT_EQ(tare_answers_table_row(answers, 0), 20U);
  EXPECT_STREQ(tare_answers_name(answers, 0), "lower_0.8");
  char* csv = nullptr;
  ASSERT_EQ(tare_answers_csv(answers, table, &csv), TARE_OK);
  EXPECT_EQ(std::strncmp(csv, "lower_0.8,upper_0.8\n", 20), 0);
  tare_free(csv);

  tare_model* later = nullptr;
  ASSERT_EQ(tare_model_update(followed, table, &later), TARE_OK);
  const auto rows_of = [](const tare_model* of) {
    char* json = nullptr;
    EXPECT_EQ(tare_model_describe(of, &json), TARE_OK);
    const auto rows = nlohmann::json::parse(json)["rows"].get<std::size_t>();
    tare_free(json);
    return rows;
  };
  EXPECT_EQ(rows_of(followed), tare_table_rows(table));
  EXPECT_EQ(rows_of(later), 2 * tare_table_rows(table));
  tare_model_free(later);
  tare_model_free(followed);
  tare_answers_free(answers);
}

TEST_F(CInterface, NullIsAnErrorOrNothing) {
  tare_model* none = nullptr;
  EXPECT_EQ(tare_track(nullptr, nullptr, 0, nullptr, nullptr, nullptr), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_model_update(nullptr, table, &none), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_model_update(model, nullptr, &none), TARE_INVALID_ARGUMENT);
  tare_answers* answers = nullptr;
  EXPECT_EQ(tare_predict(nullptr, table, nullptr, 0, &answers), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_predict(model, nullptr, nullptr, 0, &answers), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_predict(model, table, nullptr, 0, nullptr), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_predict(model, table, nullptr, 1, &answers), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_table_new(nullptr), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_table_read_csv(nullptr, nullptr), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_model_save(model, nullptr, 0), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_answers_rows(nullptr), 0U);
  EXPECT_EQ(tare_answers_name(nullptr, 0), nullptr);
  EXPECT_EQ(tare_answers_notice_code(nullptr, 0), nullptr);
  EXPECT_EQ(tare_table_rows(nullptr), 0U);
  EXPECT_EQ(tare_model_has_guarantee(nullptr), 0);
  tare_table_free(nullptr);
  tare_model_free(nullptr);
  tare_answers_free(nullptr);
  tare_free(nullptr);
}

TEST_F(CInterface, OneModelAnswersSeveralThreadsAndErrorsStayInTheirs) {
  tare_model* none = nullptr;
  ASSERT_EQ(tare_model_open("/of/this/thread", &none), TARE_NOT_FOUND);
  std::vector<std::thread> threads;
  std::array<double, 4> first{};
  for (std::size_t k = 0; k < first.size(); ++k) {
    threads.emplace_back([&, k] {
      EXPECT_EQ(tare_last_error(), nullptr);
      tare_answers* answers = nullptr;
      EXPECT_EQ(tare_predict(model, table, nullptr, 0, &answers), TARE_OK);
      first[k] = tare_answers_values(answers)[0];
      tare_answers_free(answers);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double value : first) EXPECT_EQ(value, first[0]);
  EXPECT_NE(std::strstr(tare_last_error()->text, "/of/this/thread"), nullptr);
}

}  // namespace

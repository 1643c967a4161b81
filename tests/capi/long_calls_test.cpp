// SPDX-License-Identifier: BSD-3-Clause
// Threads, watchers, notices of a fit, scores and the table of methods through the C interface.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tare/c.h"

namespace {

constexpr std::size_t kManyRows = 4000;

tare_table* table_with_holes() {
  tare_table* table = nullptr;
  EXPECT_EQ(tare_table_new(&table), TARE_OK);
  std::vector<double> x, y;
  for (std::size_t i = 0; i < kManyRows; ++i) {
    const auto t = static_cast<double>(i);
    x.push_back(i % 50 == 7 ? std::nan("") : std::sin(t));
    y.push_back(std::sin(t) + std::cos(7.0 * t));
  }
  EXPECT_EQ(tare_table_add_numbers(table, "x", x.data(), kManyRows), TARE_OK);
  EXPECT_EQ(tare_table_add_numbers(table, "y", y.data(), kManyRows), TARE_OK);
  return table;
}

using Options = std::vector<const char*>;

struct LongCalls : testing::Test {
  tare_table* table = table_with_holes();
  ~LongCalls() override {
    tare_watch(nullptr, nullptr);
    tare_table_free(table);
  }
  tare_model* fit(const Options& more = {}) const {
    Options all = {"target=y", "method=nrc", "regressor=ridge", "bands=off", "missing=impute"};
    all.insert(all.end(), more.begin(), more.end());
    tare_model* model = nullptr;
    EXPECT_EQ(tare_fit(table, all.data(), all.size(), &model), TARE_OK) << tare_last_error()->text;
    return model;
  }
};

std::string bytes_of(tare_model* model) {
  void* bytes = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(tare_model_save_memory(model, &bytes, &size), TARE_OK);
  std::string copy(static_cast<const char*>(bytes), size);
  tare_free(bytes);
  tare_model_free(model);
  return copy;
}

struct Seen {
  std::thread::id thread = {};
  std::size_t calls = 0;
  bool stop = false;
};

int look(void* data, const char* stage, double share) {
  auto& seen = *static_cast<Seen*>(data);
  EXPECT_EQ(std::this_thread::get_id(), seen.thread);
  EXPECT_NE(stage, nullptr);
  EXPECT_GE(share, 0.0);
  EXPECT_LE(share, 1.0);
  ++seen.calls;
  return seen.stop ? 1 : 0;
}

TEST_F(LongCalls, NeitherThreadsNorAWatcherChangeAModel) {
  const std::string one = bytes_of(fit({"threads=1"}));
  EXPECT_EQ(bytes_of(fit({"threads=3"})), one);
  Seen seen{.thread = std::this_thread::get_id()};
  tare_watch(&look, &seen);
  EXPECT_EQ(bytes_of(fit()), one);
}

TEST_F(LongCalls, AWatcherIsCalledInTheCallersThreadAndStopsTheWork) {
  Seen seen{.thread = std::this_thread::get_id(), .stop = true};
  tare_watch(&look, &seen);
  tare_model* model = nullptr;
  constexpr std::array kLong = {"target=y", "missing=impute", "budget=best"};
  EXPECT_EQ(tare_fit(table, kLong.data(), kLong.size(), &model), TARE_STOPPED);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(seen.calls, 1U);
  EXPECT_EQ(tare_last_error()->status, TARE_STOPPED);
  tare_watch(nullptr, nullptr);
  tare_model_free(fit());
  EXPECT_EQ(seen.calls, 1U);
}

TEST_F(LongCalls, AWatcherBelongsToItsThread) {
  Seen seen{.thread = std::this_thread::get_id(), .stop = true};
  tare_watch(&look, &seen);
  std::thread other([&] { tare_model_free(fit()); });
  other.join();
  EXPECT_EQ(seen.calls, 0U);
}

TEST_F(LongCalls, RefusesAWrongNumberOfThreads) {
  for (const char* wrong : {"threads=", "threads=two", "threads=-1", "threads=1025"}) {
    tare_model* model = nullptr;
    const std::array options = {"target=y", wrong};
    EXPECT_EQ(tare_fit(table, options.data(), options.size(), &model), TARE_INVALID_ARGUMENT);
    EXPECT_STREQ(tare_last_error()->option, "threads") << wrong;
  }
}

TEST_F(LongCalls, AFitSaysWhatItDidWithTheRows) {
  tare_model* model = fit();
  ASSERT_EQ(tare_model_notices(model), 1U);
  EXPECT_STREQ(tare_model_notice_code(model, 0), "imputed_values");
  EXPECT_EQ(tare_model_notice_rows(model, 0), kManyRows / 50);
  EXPECT_NE(std::strstr(tare_model_notice_text(model, 0), "imputed"), nullptr);
  EXPECT_EQ(tare_model_notice_text(model, 1), nullptr);
  EXPECT_EQ(tare_model_notices(nullptr), 0U);
  EXPECT_EQ(tare_model_notice_code(nullptr, 0), nullptr);
  EXPECT_EQ(tare_model_notice_rows(nullptr, 0), 0U);
  tare_model_free(model);
}

TEST_F(LongCalls, ScoresAreThoseOfTheAnswers) {
  tare_model* model = fit();
  char* text = nullptr;
  ASSERT_EQ(tare_scores(model, table, nullptr, 0, &text), TARE_OK) << tare_last_error()->text;
  const auto scores = nlohmann::json::parse(text);
  tare_free(text);
  constexpr std::array kAsked = {"interval=0.9"};
  tare_answers* answers = nullptr;
  ASSERT_EQ(tare_predict(model, table, kAsked.data(), 1, &answers), TARE_OK);
  const double* ends = tare_answers_values(answers);
  double inside = 0.0;
  double length = 0.0;
  for (std::size_t i = 0; i < kManyRows; ++i) {
    const auto t = static_cast<double>(i);
    const double y = std::sin(t) + std::cos(7.0 * t);
    inside += y >= ends[2 * i] && y <= ends[2 * i + 1] ? 1.0 : 0.0;
    length += ends[2 * i + 1] - ends[2 * i];
  }
  EXPECT_EQ(scores["rows"], kManyRows);
  EXPECT_NEAR(scores["coverage_90_counted"].get<double>(), inside / kManyRows, 1e-12);
  EXPECT_NEAR(scores["length_90"].get<double>(), length / kManyRows, 1e-9);
  EXPECT_EQ(scores["pit"].size(), 20U);
  tare_answers_free(answers);

  constexpr std::array kUnknown = {"levels=0.5"};
  text = nullptr;
  EXPECT_EQ(tare_scores(model, table, kUnknown.data(), 1, &text), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_scores(nullptr, table, nullptr, 0, &text), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_scores(model, nullptr, nullptr, 0, &text), TARE_INVALID_ARGUMENT);
  EXPECT_EQ(tare_scores(model, table, nullptr, 0, nullptr), TARE_INVALID_ARGUMENT);
  tare_table* bare = nullptr;
  ASSERT_EQ(tare_table_new(&bare), TARE_OK);
  constexpr std::array kTwo = {0.1, 0.2};
  ASSERT_EQ(tare_table_add_numbers(bare, "x", kTwo.data(), 2), TARE_OK);
  EXPECT_EQ(tare_scores(model, bare, nullptr, 0, &text), TARE_NOT_FOUND);
  EXPECT_EQ(text, nullptr);
  tare_table_free(bare);
  tare_model_free(model);
}

TEST(MethodsInC, AreTheTableOfMethods) {
  char* text = nullptr;
  ASSERT_EQ(tare_methods(&text), TARE_OK);
  const auto all = nlohmann::json::parse(text);
  tare_free(text);
  EXPECT_EQ(all["methods"][0]["name"], "auto");
  EXPECT_FALSE(all["common_options"].empty());
  EXPECT_FALSE(all["regressors"].empty());
  EXPECT_EQ(tare_methods(nullptr), TARE_INVALID_ARGUMENT);
}

}  // namespace

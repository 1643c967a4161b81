// SPDX-License-Identifier: BSD-3-Clause
// What every reference method keeps, on every stream.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "expect_error.h"
#include "online/reference/streams.h"

namespace tare::online_testing {
namespace {

const std::vector<double> kManyLevels = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

std::string name_of(const Configuration& one) { return one.method + " " + one.options; }

TEST(OnlineMethodContract, AnswersNeverCrossAndAreNeverNan) {
  for (const Configuration& one : configurations()) {
    for (const Stream& stream : streams(200, 3)) {
      const auto method = find_online_method(one.method).make(setup(kManyLevels, one.options));
      for (const OnlineAnswer& answer : run(*method, stream, 2)) {
        ASSERT_EQ(answer.quantiles.size(), kManyLevels.size());
        for (std::size_t i = 0; i < answer.quantiles.size(); ++i) {
          ASSERT_FALSE(std::isnan(answer.quantiles[i])) << name_of(one) << ", " << stream.name;
          if (i == 0) continue;
          ASSERT_LE(answer.quantiles[i - 1], answer.quantiles[i])
              << name_of(one) << ", " << stream.name;
        }
      }
    }
  }
}

TEST(OnlineMethodContract, FurtherLevelsInsideDoNotChangeAnInterval) {
  for (const Configuration& one : configurations()) {
    for (const Stream& stream : streams(120, 4)) {
      const OnlineMethodInfo& info = find_online_method(one.method);
      const auto alone = info.make(setup({0.01, 0.99}, one.options));
      const auto among = info.make(setup(kManyLevels, one.options));
      const auto few = run(*alone, stream);
      const auto many = run(*among, stream);
      for (std::size_t t = 0; t < stream.rows(); ++t) {
        ASSERT_EQ(few[t].quantiles.front(), many[t].quantiles.front()) << name_of(one);
        ASSERT_EQ(few[t].quantiles.back(), many[t].quantiles.back()) << name_of(one);
      }
    }
  }
}

TEST(OnlineMethodContract, BeforeTheFirstRowAnAnswerIsThePredictionOrInfinite) {
  for (const Configuration& one : configurations()) {
    const auto method = find_online_method(one.method).make(setup(kManyLevels, one.options));
    OnlineAnswer answer;
    method->answer({0, 7.0, {}}, answer);
    const bool is_conformal = one.method == "aci" || one.method == "dtaci";
    for (std::size_t i = 0; i < kManyLevels.size(); ++i) {
      if (is_conformal && kManyLevels[i] != 0.5) {
        EXPECT_EQ(answer.quantiles[i], kManyLevels[i] < 0.5
                                           ? -std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::infinity())
            << name_of(one);
      } else if (!is_conformal) {
        EXPECT_EQ(answer.quantiles[i], 7.0) << name_of(one);
      }
    }
  }
}

TEST(OnlineMethodContract, AStateLoadedAtAnyRowGivesTheSameBits) {
  constexpr std::size_t kDelay = 2;
  for (const Configuration& one : configurations()) {
    const OnlineMethodInfo& info = find_online_method(one.method);
    const OnlineSetup made = setup(kManyLevels, one.options);
    for (const Stream& stream : streams(90, 5)) {
      const auto whole_method = info.make(made);
      const auto whole = run(*whole_method, stream, kDelay);
      // Restarted before every row: a state that loses a bit shows it.
      auto method = info.make(made);
      std::vector<OnlineAnswer> answers(stream.rows());
      for (std::size_t t = 0; t < stream.rows(); ++t) {
        TensorStore store;
        method->save(TensorWriter(store));
        method = info.load(made, TensorReader(store));
        method->answer({t, stream.prediction[t], {}}, answers[t]);
        ASSERT_TRUE(same_bits(answers[t].quantiles, whole[t].quantiles))
            << name_of(one) << ", " << stream.name << ", row " << t;
        ASSERT_TRUE(same_bits(answers[t].note, whole[t].note)) << name_of(one);
        if (t < kDelay) continue;
        const std::size_t known = t - kDelay;
        method->learn({known, stream.prediction[known], {}}, answers[known], stream.target[known]);
      }
    }
  }
}

TEST(OnlineMethodContract, AnAnswerDoesNotChangeTheState) {
  for (const Configuration& one : configurations()) {
    const OnlineMethodInfo& info = find_online_method(one.method);
    const Stream stream = streams(80, 6).front();
    const auto method = info.make(setup(kManyLevels, one.options));
    run(*method, stream);
    OnlineAnswer first;
    OnlineAnswer second;
    method->answer({80, 1.0, {}}, first);
    for (int i = 0; i < 5; ++i) method->answer({81, 100.0 * i, {}}, second);
    method->answer({80, 1.0, {}}, second);
    EXPECT_TRUE(same_bits(first.quantiles, second.quantiles)) << name_of(one);
    EXPECT_TRUE(same_bits(first.note, second.note)) << name_of(one);
  }
}

TEST(OnlineMethodContract, ExtremeValuesGiveNoNan) {
  const double most = std::numeric_limits<double>::max();
  const std::vector<double> values = {most, -most, 0.0, most, -most, -most, 1e-300, 0.0};
  for (const Configuration& one : configurations()) {
    const auto method = find_online_method(one.method).make(setup(kManyLevels, one.options));
    OnlineAnswer answer;
    for (std::size_t t = 0; t < 64; ++t) {
      const OnlineRow row{t, values[(3 * t) % values.size()], {}};
      method->answer(row, answer);
      for (std::size_t i = 0; i < answer.quantiles.size(); ++i) {
        ASSERT_FALSE(std::isnan(answer.quantiles[i])) << name_of(one);
        if (i == 0) continue;
        ASSERT_LE(answer.quantiles[i - 1], answer.quantiles[i]) << name_of(one);
      }
      method->learn(row, answer, values[t % values.size()]);
    }
    TensorStore store;
    method->save(TensorWriter(store));
    EXPECT_NO_THROW(
        find_online_method(one.method).load(setup(kManyLevels, one.options), TensorReader(store)))
        << name_of(one);
  }
}

TEST(OnlineMethodContract, ExtremeLevelsGiveNoNan) {
  const std::vector<double> levels = {1e-200, 1e-17, 0.4999999999999999, 0.5, 0.9999999999999999};
  for (const Configuration& one : configurations()) {
    for (const Stream& stream : streams(60, 10)) {
      const OnlineSetup made = setup(levels, one.options);
      const auto method = find_online_method(one.method).make(made);
      for (const OnlineAnswer& answer : run(*method, stream)) {
        for (std::size_t i = 0; i < levels.size(); ++i) {
          ASSERT_FALSE(std::isnan(answer.quantiles[i])) << name_of(one) << ", " << stream.name;
          if (i == 0) continue;
          ASSERT_LE(answer.quantiles[i - 1], answer.quantiles[i]) << name_of(one);
        }
      }
      TensorStore store;
      method->save(TensorWriter(store));
      EXPECT_NO_THROW(find_online_method(one.method).load(made, TensorReader(store)))
          << name_of(one);
    }
  }
}

TEST(OnlineMethodContract, ATargetOrNoteThatCannotBeLearnedIsRefused) {
  for (const Configuration& one : configurations()) {
    const auto method = find_online_method(one.method).make(setup({0.05, 0.95}, one.options));
    OnlineAnswer answer;
    method->answer({17, 1.0, {}}, answer);
    expect_error(ErrorCode::kBadData, "row 17", [&] {
      method->learn({17, 1.0, {}}, answer, std::numeric_limits<double>::quiet_NaN());
    });
    expect_error(ErrorCode::kBadData, "row 17", [&] {
      method->learn({17, std::numeric_limits<double>::infinity(), {}}, answer, 1.0);
    });
    if (answer.note.empty()) continue;
    OnlineAnswer wrong = answer;
    wrong.note.pop_back();
    expect_error(ErrorCode::kInvalidArgument, "row 17", [&] {
      method->learn({17, 1.0, {}}, wrong, 1.0);
    });
    wrong = answer;
    wrong.note[0] = std::numeric_limits<double>::quiet_NaN();
    expect_error(ErrorCode::kInvalidArgument, "row 17", [&] {
      method->learn({17, 1.0, {}}, wrong, 1.0);
    });
  }
}

}  // namespace
}  // namespace tare::online_testing

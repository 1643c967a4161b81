// SPDX-License-Identifier: BSD-3-Clause
#include "online/stream/online_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "draws.h"
#include "expect_error.h"
#include "online/stream/stream_cases.h"

namespace tare::online_testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string method_name(const OnlineMethodInfo& method) { return std::string(method.name); }

TEST(OnlineStream, AnyRestartGivesTheSameBits) {
  struct Case {
    std::size_t features, delay;
    std::string params;
    bool gaps;
  };
  for (const Case& one : {Case{0, 0, "", false}, Case{3, 0, "window=60", true},
                          Case{2, 4, "lags=5,7 period=12", true}}) {
    for (const OnlineMethodInfo& method : online_methods()) {
      const bool is_snq = method.name == "snq";
      StreamOptions options =
          stream_options(method_name(method), one.features, one.delay, is_snq ? one.params : "");
      if (one.features > 2) options.known_later = {1};
      const auto rows = stream_rows(is_snq ? 160 : 60, one.features, Seed{400}, one.gaps);
      OnlineStream whole(options);
      const auto answers = follow_rows(whole, rows);
      for (const std::uint64_t every : {1U, 7U}) {
        OnlineStream stream(options);
        const auto again = follow_rows(stream, rows, [&](std::size_t t) {
          if (t % every == 0) stream = restarted(stream);
        });
        for (std::size_t t = 0; t < rows.size(); ++t) {
          ASSERT_TRUE(same_bits_of(answers[t].answer.quantiles, again[t].answer.quantiles))
              << method.name << ", row " << t;
          ASSERT_TRUE(same_bits_of(answers[t].answer.note, again[t].answer.note)) << method.name;
        }
        for (std::size_t j = 0; j < options.levels.size(); ++j) {
          ASSERT_EQ(whole.share_below(j), stream.share_below(j));
          ASSERT_EQ(whole.bound(j), stream.bound(j));
        }
        ASSERT_EQ(whole.drift().log_e(), stream.drift().log_e());
        ASSERT_EQ(state_of(whole).values, state_of(stream).values);
      }
    }
  }
}

TEST(OnlineStream, NoAnswerDependsOnALaterRow) {
  for (const OnlineMethodInfo& method : online_methods()) {
    for (const std::size_t delay : {0U, 3U}) {
      const StreamOptions options = stream_options(method_name(method), 2, delay);
      auto rows = stream_rows(140, 2, Seed{401});
      OnlineStream stream(options);
      const auto answers = follow_rows(stream, rows);
      for (const std::size_t change : {0U, 29U, 45U, 90U, 139U}) {
        auto changed = rows;
        for (std::size_t t = change; t < rows.size(); ++t) {
          changed[t].target = t % 2 == 0 ? kNan : 1e6;
          if (t == change) continue;  // what is known of the row itself stays
          changed[t].prediction += 100.0;
          changed[t].features = {7.0, -7.0};
        }
        OnlineStream other(options);
        const auto again = follow_rows(other, changed);
        // The target of row t is learned after row t + delay was answered.
        for (std::size_t t = 0; t <= change; ++t) {
          ASSERT_TRUE(same_bits_of(answers[t].answer.quantiles, again[t].answer.quantiles))
              << method.name << ", row " << t << ", change from " << change;
        }
      }
      // With a delay, targets of rows up to `change` are not known before row change + delay + 1.
      auto changed = rows;
      changed[80].target += 50.0;
      OnlineStream other(options);
      const auto again = follow_rows(other, changed);
      for (std::size_t t = 0; t <= 80 + delay; ++t) {
        ASSERT_TRUE(same_bits_of(answers[t].answer.quantiles, again[t].answer.quantiles));
      }
    }
  }
}

TEST(OnlineStream, SharesAreCountedSinceTheStart) {
  const StreamOptions options = stream_options("snq", 1, 2);
  const auto rows = stream_rows(120, 1, Seed{402}, true);
  OnlineStream stream(options);
  EXPECT_TRUE(std::isnan(stream.share_below(0)));
  const auto answers = follow_rows(stream, rows);
  double learned = 0.0;
  std::vector<double> below(options.levels.size());
  double between = 0.0;
  for (std::size_t t = options.start; t + options.delay + 1 < rows.size(); ++t) {
    if (std::isnan(rows[t].target)) continue;
    learned += 1.0;
    const auto& q = answers[t].answer.quantiles;
    for (std::size_t j = 0; j < q.size(); ++j) below[j] += rows[t].target <= q[j] ? 1.0 : 0.0;
    between += rows[t].target >= q[0] && rows[t].target <= q[3] ? 1.0 : 0.0;
  }
  EXPECT_EQ(static_cast<double>(stream.answered()), learned);
  for (std::size_t j = 0; j < below.size(); ++j) {
    EXPECT_EQ(stream.share_below(j), below[j] / learned);
    EXPECT_LE(std::abs(stream.share_below(j) - options.levels[j].value()), stream.bound(j));
  }
  EXPECT_EQ(stream.share_between(0, 3), between / learned);
  EXPECT_EQ(stream.time(), rows.size() - options.delay - 1);
}

TEST(OnlineStream, AColumnThatIsKnownLaterIsUsedAsOfTheLastLearnedRow) {
  StreamOptions options = stream_options("snq", 2);
  options.known_later = {1};
  auto rows = stream_rows(100, 2, Seed{403});
  // The column is the error of the row itself: with a look ahead, answers would be exact.
  for (StreamRow& row : rows) row.features[1] = row.target - row.prediction;
  OnlineStream stream(options);
  const auto answers = follow_rows(stream, rows);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    EXPECT_EQ(answers[t].features[1], t == 0 ? 0.0 : rows[t - 1].features[1]);
    EXPECT_EQ(answers[t].features[0], rows[t].features[0]);
  }
  // What it holds at the answer does not matter.
  const PendingRow a = stream.answer(1.0, std::vector<double>{0.5, kNan});
  const PendingRow b = stream.answer(1.0, std::vector<double>{0.5, 1e9});
  EXPECT_TRUE(same_bits_of(a.answer.quantiles, b.answer.quantiles));
}

TEST(OnlineStream, ARowThatDoesNotFitIsRefusedAndNothingChanges) {
  for (const OnlineMethodInfo& method : online_methods()) {
    StreamOptions options = stream_options(method_name(method), 2);
    options.known_later = {1};
    OnlineStream stream(options);
    const auto rows = stream_rows(60, 2, Seed{404});
    follow_rows(stream, rows);
    const TensorStore before = state_of(stream);
    const std::vector<double> x = {1.0, 2.0};
    const PendingRow good = stream.answer(0.0, x);
    const auto learn = [&](const PendingRow& row, const std::vector<double>& features,
                           double target) {
      return [&, row, features, target] { stream.learn(row, features, target); };
    };
    expect_error(ErrorCode::kBadData, "prediction", [&] { stream.answer(kNan, x); });
    expect_error(ErrorCode::kShapeMismatch, "3 features", [&] {
      stream.answer(0.0, std::vector<double>{1.0, 2.0, 3.0});
    });
    expect_error(ErrorCode::kShapeMismatch, "0 features", [&] { stream.answer(0.0, {}); });
    expect_error(ErrorCode::kBadData, "feature 0", [&] {
      stream.answer(0.0, std::vector<double>{kNan, 2.0});
    });
    expect_error(ErrorCode::kBadData, "", learn(good, x, kNan));
    expect_error(ErrorCode::kBadData, "", learn(good, x, std::numeric_limits<double>::infinity()));
    expect_error(ErrorCode::kBadData, "feature 1", learn(good, {1.0, kNan}, 1.0));
    expect_error(ErrorCode::kShapeMismatch, "1 features", learn(good, {1.0}, 1.0));
    PendingRow bad = good;
    bad.features = {1.0};
    expect_error(ErrorCode::kShapeMismatch, "1 features", learn(bad, x, 1.0));
    bad = good;
    bad.answer.quantiles.pop_back();
    expect_error(ErrorCode::kShapeMismatch, "3 quantiles", learn(bad, x, 1.0));
    if (!good.answer.note.empty()) {
      bad = good;
      bad.answer.note.pop_back();
      expect_error(ErrorCode::kInvalidArgument, "row", learn(bad, x, 1.0));
      bad = good;
      bad.answer.note[0] = kNan;
      expect_error(ErrorCode::kInvalidArgument, "row", learn(bad, x, 1.0));
    }
    EXPECT_EQ(state_of(stream).values, before.values) << method.name;
    for (const auto& [name, tensor] : state_of(stream).tensors) {
      EXPECT_TRUE(std::ranges::equal(tensor.bytes.span(), before.tensors.at(name).bytes.span()))
          << method.name << " " << name;
    }
    stream.learn(good, x, 1.0);
    EXPECT_EQ(stream.time(), 60U);
  }
}

TEST(OnlineStream, AnswersAreReadyFromTwoKnownTargetsOn) {
  for (const OnlineMethodInfo& method : online_methods()) {
    for (const std::size_t delay : {0U, 3U}) {
      std::vector<StreamRow> rows = stream_rows(40, 2, Seed{9});
      for (std::size_t t = 0; t < 10; ++t) {
        if (t != 1) rows[t].target = std::nan("");  // known: 1, and from 10 on
      }
      OnlineStream stream(stream_options(method_name(method), 2, delay));
      const auto answers = follow_rows(stream, rows, [&](std::size_t) {
        const OnlineStream again = restarted(stream);
        ASSERT_EQ(again.is_ready(), stream.is_ready());
      });
      for (std::size_t t = 0; t < rows.size(); ++t) {
        ASSERT_EQ(answers[t].is_ready, t > 10 + delay) << method.name << ", row " << t;
      }
    }
  }
}

TEST(OnlineStream, AGapLongerThanTheWindowLeavesNoAnswer) {
  OnlineStream stream(stream_options("snq", 1, 0, "window=50"));
  for (const StreamRow& row : stream_rows(29, 1, Seed{4})) {
    stream.learn(stream.answer(row.prediction, row.features), row.features, row.target);
  }
  ASSERT_TRUE(stream.is_ready());
  for (std::size_t t = 0; t < 200; ++t) stream.pass();
  // With the next target the structure is chosen anew, from the rows that are kept: one.
  const std::vector<double> x = {0.5};
  stream.learn(stream.answer(1.0, x), x, 2.0);
  EXPECT_FALSE(stream.is_ready());
  EXPECT_FALSE(stream.answer(1.0, x).is_ready);
  stream.learn(stream.answer(1.0, x), x, 1.5);
  EXPECT_TRUE(stream.is_ready());
}

TEST(OnlineStream, TheStartMustComeAfterTwoTargets) {
  StreamOptions options = stream_options("snq", 2);
  options.start = 100;
  for (const std::size_t delay : {99U, 100U, 200U}) {
    options.delay = delay;
    expect_error(ErrorCode::kInvalidArgument, std::to_string(delay + 2),
                 [&] { check_start(options); });
    // A stream that only learns at first, or a saved one, may have it.
    EXPECT_EQ(restarted(OnlineStream(options)).options().delay, delay);
  }
  options.delay = 98;
  check_start(options);
  options.delay = 0;
  options.start = 0;
  check_start(options);
}

TEST(OnlineStream, OptionsThatCannotBeAreRefused) {
  const auto refuse = [](const std::string& part, auto&& change) {
    StreamOptions options = stream_options("snq", 2);
    change(options);
    expect_error(ErrorCode::kInvalidArgument, part, [&] { OnlineStream stream(options); });
  };
  refuse("levels", [](StreamOptions& o) { o.levels.clear(); });
  refuse("levels", [](StreamOptions& o) { o.levels.emplace_back(0.95); });
  refuse("levels", [](StreamOptions& o) { o.levels.emplace_back(0.5); });
  refuse("column 2", [](StreamOptions& o) { o.known_later = {2}; });
  refuse("delay", [](StreamOptions& o) { o.delay = 1'000'000; });
  refuse("window", [](StreamOptions& o) { o.params.set("window", "49"); });
  refuse("lags", [](StreamOptions& o) { o.params.set("lags", "0"); });
  refuse("lags", [](StreamOptions& o) { o.params.set("lags", "1,5001"); });
  refuse("lags", [](StreamOptions& o) {
    std::string many = "1";
    for (int lag = 2; lag <= 1'001; ++lag) many += "," + std::to_string(lag);
    o.params.set("lags", many);
  });
  refuse("period", [](StreamOptions& o) { o.params.set("period", "1"); });
  refuse("rate", [](StreamOptions& o) { o.drift_rate = 0.0; });
  StreamOptions options = stream_options("snk");
  expect_error(ErrorCode::kNotFound, "snq", [&] { OnlineStream stream(options); });
}

}  // namespace
}  // namespace tare::online_testing

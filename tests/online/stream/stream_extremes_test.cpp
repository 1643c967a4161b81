// SPDX-License-Identifier: BSD-3-Clause
// Finite rows of any size: answers are finite, ascend and keep their bound, and the state can be
// read back.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "draws.h"
#include "online/stream/stream_cases.h"

namespace tare::online_testing {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();

void expect_sound(const OnlineStream& stream, const PendingRow& row, const std::string& what) {
  const auto& q = row.answer.quantiles;
  for (std::size_t j = 0; j < q.size(); ++j) {
    ASSERT_TRUE(std::isfinite(q[j])) << what << ", row " << row.time;
    if (j > 0) {
      ASSERT_LE(q[j - 1], q[j]) << what << ", row " << row.time;
    }
    if (stream.answered() == 0) continue;
    const double away = std::abs(stream.share_below(j) - stream.options().levels[j].value());
    ASSERT_LE(away, stream.bound(j) + 1e-15) << what << ", row " << row.time;
  }
}

/// Goes through rows and reads the state back now and then.
void follow_soundly(const StreamOptions& options, const std::vector<StreamRow>& rows,
                    const std::string& what) {
  OnlineStream stream(options);
  const auto answers = follow_rows(stream, rows, [&](std::size_t t) {
    if (t % 16 == 15) stream = restarted(stream);
    const PendingRow now = stream.answer(rows[t].prediction, rows[t].features);
    expect_sound(stream, now, what);
    ASSERT_GE(stream.effective_rows(now), 0.0);
  });
}

TEST(SnqStream, AnswersAreFiniteForAnyFiniteRows) {
  struct Kind {
    std::string name;
    std::function<double(std::size_t, Rng&)> error;
  };
  double walk = 0.0;
  const std::vector<Kind> kinds = {
      {"zero", [](std::size_t, Rng&) { return 0.0; }},
      {"constant", [](std::size_t, Rng&) { return -2.5; }},
      {"denormal", [](std::size_t t, Rng&) { return t % 2 == 0 ? 5e-324 : -5e-324; }},
      {"tiny", [](std::size_t, Rng& rng) { return 1e-300 * rng.normal(); }},
      {"huge", [](std::size_t, Rng& rng) { return 1e300 * rng.normal(); }},
      {"largest", [](std::size_t t, Rng&) { return t % 3 == 0 ? kMost : -kMost; }},
      {"any size",
       [](std::size_t, Rng& rng) {
         return (rng.below(2) == 0 ? 1.0 : -1.0) * std::pow(10.0, rng.uniform(-320.0, 308.0));
       }},
      {"one wild", [](std::size_t t, Rng& rng) { return t == 50 ? 1e305 : rng.normal(); }},
      {"zero, then some", [](std::size_t t, Rng& rng) { return t < 60 ? 0.0 : rng.normal(); }},
      {"huge walk",
       [&walk](std::size_t t, Rng& rng) {
         walk = t == 0 ? 0.0 : std::clamp(walk + 1e307 * rng.normal(), -1e308, 1e308);
         return walk;
       }},
      {"growing", [](std::size_t t, Rng&) { return std::exp(5.0 * static_cast<double>(t)); }},
  };
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
      Rng rng(split(split(Seed{411}, k), draw));
      const std::size_t features = draw % 4;
      std::vector<StreamRow> rows(120);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        const double error = std::min(kinds[k].error(t, rng), kMost);
        for (std::size_t j = 0; j < features; ++j) {
          rows[t].features.push_back(draw % 2 == 0 ? rng.normal() : kinds[k].error(t, rng));
          if (!std::isfinite(rows[t].features[j])) rows[t].features[j] = kMost;
        }
        rows[t].prediction = draw % 5 == 4 ? kMost * rng.uniform(-1.0, 1.0) : rng.normal();
        rows[t].target = std::clamp(rows[t].prediction + error, -kMost, kMost);
        // Two finite numbers without a finite difference are refused, and not meant here.
        if (!std::isfinite(rows[t].target - rows[t].prediction)) rows[t].prediction = 0.0;
      }
      const std::string window = draw % 2 == 0 ? "window=50" : "window=70 lags=3 period=2";
      follow_soundly(stream_options("snq", features, draw % 3 == 2 ? 2 : 0, window), rows,
                     kinds[k].name);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(SnqStream, OneLevelManyLevelsLongDelaysAndGaps) {
  for (const std::size_t count : {1U, 2U, 99U}) {
    for (const std::size_t delay : {0U, 50U}) {
      StreamOptions options = stream_options("snq", 1, delay, "window=60");
      options.levels.clear();
      for (std::size_t j = 1; j <= count; ++j) {
        options.levels.emplace_back(static_cast<double>(j) / static_cast<double>(count + 1));
      }
      auto rows = stream_rows(130, 1, Seed{412}, true);
      // A gap longer than the window.
      for (std::size_t t = 40; t < 110; ++t) {
        if (delay == 0) rows[t].target = std::nan("");
      }
      follow_soundly(options, rows, "levels");
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(SnqStream, AdversariesStayWithinTheBound) {
  // The targets know the answers of the whole method.
  for (std::uint64_t draw = 0; draw < draws(10); ++draw) {
    Rng rng(split(Seed{413}, draw));
    StreamOptions options = stream_options("snq", 0, 0, "window=80");
    OnlineStream stream(options);
    for (std::size_t t = 0; t < 500; ++t) {
      const PendingRow row = stream.answer(0.0, {});
      expect_sound(stream, row, "adversary");
      if (testing::Test::HasFatalFailure()) return;
      const auto& q = row.answer.quantiles;
      const double just = 1e-9 * (1.0 + std::abs(q.back()));
      double target = 0.0;
      if (draw % 3 == 0) target = q.back() + just;
      if (draw % 3 == 1) target = rng.below(2) == 0 ? q.back() + just : q.front();
      if (draw % 3 == 2) target = q[t / 60 % 4] + (t % 2 == 0 ? just : 0.0);
      stream.learn(row, {}, std::clamp(target, -1e300, 1e300));
    }
  }
}

}  // namespace
}  // namespace tare::online_testing

// SPDX-License-Identifier: BSD-3-Clause
// What the methods promise about their misses: on average, after a shift, and against an adversary.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "online/reference/streams.h"

namespace tare::online_testing {
namespace {

double share_outside(const Stream& stream, const std::vector<OnlineAnswer>& answers,
                     std::size_t first) {
  double outside = 0.0;
  for (std::size_t t = first; t < stream.rows(); ++t) {
    const std::vector<double>& bounds = answers[t].quantiles;
    if (stream.target[t] < bounds.front() || stream.target[t] > bounds.back()) outside += 1.0;
  }
  return outside / static_cast<double>(stream.rows() - first);
}

TEST(OnlineReferenceCoverage, IsTheWantedOneForIndependentErrorsAndAfterAShift) {
  constexpr std::size_t kRows = 6000;
  Rng rng{Seed{11}};
  const Stream steady = stream_of("steady", kRows, rng, [&](std::size_t) { return rng.normal(); });
  const Stream shifted = stream_of("shifted", kRows, rng, [&](std::size_t t) {
    return t < kRows / 2 ? rng.normal() : 2.0 + 3.0 * rng.normal();
  });
  for (const Configuration& one : {Configuration{"aci", "step=0.02"},
                                   {"dtaci", ""},
                                   {"tracker", ""},
                                   {"pid", ""},
                                   {"eci", ""},
                                   {"eci", "variant=cutoff"},
                                   {"eci", "variant=integral"},
                                   {"trailing", ""},
                                   {"aci", "step=0.02 scores=signed"},
                                   {"tracker", "scores=signed"},
                                   {"pid", "scores=signed"},
                                   {"eci", "scores=signed"}}) {
    for (const Stream* stream : {&steady, &shifted}) {
      const auto method = find_online_method(one.method).make(setup({0.05, 0.95}, one.options));
      const auto answers = run(*method, *stream);
      // Of 2,000 rows: the share of a fixed interval has an sd of 0.0067; three of them.
      EXPECT_NEAR(share_outside(*stream, answers, kRows - 2000), 0.1, 0.02)
          << one.method << " " << one.options << ", " << stream->name;
    }
  }
  // The narrowest of many intervals holds less of the next row than of the last ones: of 300 normal
  // errors about 0.02 less, as simulation shows.
  const auto enbpi = find_online_method("enbpi").make(setup({0.05, 0.95}));
  EXPECT_NEAR(share_outside(steady, run(*enbpi, steady), kRows - 2000), 0.115, 0.025);
}

/// Rows of an adversary who sees the threshold (the first number of a note), and the share of
/// misses by the method's own count after each of them.
struct Duel {
  std::vector<double> thresholds, misses;  // before each row; after each row
};

template <class Score>
Duel duel(OnlineMethod& method, std::size_t rows, Score&& score) {
  Duel result;
  OnlineAnswer answer;
  double misses = 0.0;
  for (std::size_t t = 0; t < rows; ++t) {
    const OnlineRow row{t, 0.0, {}};
    method.answer(row, answer);
    const double chosen = score(t, answer.note[0]);
    result.thresholds.push_back(answer.note[0]);
    misses += chosen > answer.note[0] ? 1.0 : 0.0;
    result.misses.push_back(misses);
    method.learn(row, answer, chosen);
  }
  return result;
}

/// Adversaries: misses as often as possible, never, in long turns, and at random.
std::vector<std::function<double(std::size_t, double)>> adversaries() {
  const auto above = [](double threshold) {
    // Up to a million: beyond the largest doubles no score is above its threshold.
    return threshold < 0.0 ? 1.0 : std::min(1e6, 1.5 * threshold + 1.0);
  };
  return {
      [=](std::size_t, double threshold) { return above(threshold); },
      [](std::size_t, double) { return 0.0; },
      [=](std::size_t t, double threshold) { return t / 300 % 2 == 0 ? above(threshold) : 0.0; },
      [=](std::size_t t, double threshold) { return t * t % 7 < 3 ? above(threshold) : 0.25; },
  };
}

TEST(OnlineReferenceCoverage, AciKeepsItsBoundAgainstEveryAdversary) {
  for (const double step : {0.005, 0.1}) {
    for (const auto& adversary : adversaries()) {
      for (const double alpha : {0.1, 0.5}) {
        const auto method = find_online_method("aci").make(
            setup({alpha / 2.0}, "window=50 step=" + std::to_string(step)));
        const Duel result = duel(*method, 3000, adversary);
        for (std::size_t t = 0; t < result.misses.size(); ++t) {
          const double rows = static_cast<double>(t + 1);
          const double bound = (std::max(alpha, 1.0 - alpha) + step) / (step * rows);
          ASSERT_LE(std::fabs(result.misses[t] / rows - alpha), bound + 1e-9) << "row " << t;
        }
      }
    }
  }
}

TEST(OnlineReferenceCoverage, PidKeepsItsBoundAgainstEveryAdversary) {
  const double heuristic = 2.0 / std::numbers::pi * (1.0 - 1.0 / std::log(1000.0));
  for (const auto& [options, saturation] : {std::pair<std::string, double>{"step=0", heuristic},
                                            {"step=0.1", heuristic},
                                            {"window=1", heuristic},
                                            {"saturation=0.1 gain=0", 0.1},
                                            {"saturation=0.5 gain=3", 0.5}}) {
    for (const auto& adversary : adversaries()) {
      for (const double alpha : {0.1, 0.5}) {
        const auto method = find_online_method("pid").make(setup({alpha / 2.0}, options));
        const Duel result = duel(*method, 3000, adversary);
        for (std::size_t t = 2; t < result.misses.size(); ++t) {
          const double rows = static_cast<double>(t + 1);
          const double bound = std::numbers::pi / 2.0 * saturation / std::log(rows) + 3.0 / rows;
          ASSERT_LE(std::fabs(result.misses[t] / rows - alpha), bound + 1e-9)
              << options << ", row " << t;
        }
      }
    }
  }
}

TEST(OnlineReferenceCoverage, TrackersKeepTheirBoundWhileTheRangeOfScoresStays) {
  // Scores 0 and 1 in turn, every fifth row: the range of the last 20 scores is 1 from row 5 on.
  constexpr std::size_t kFirst = 10;
  for (const auto& [name, options, extra] :
       {std::tuple<std::string, std::string, double>{"tracker", "", 1.0},
        {"eci", "", 1.5},
        {"eci", "variant=cutoff", 1.5},
        {"eci", "variant=integral", 1.5}}) {
    for (const double step : {0.05, 0.5}) {
      for (const int kind : {0, 1, 2}) {
        const auto score = [&](std::size_t t, double threshold) {
          if (t % 5 == 0) return t % 10 == 0 ? 0.0 : 1.0;
          const double above = threshold < 0.0 ? 0.0 : std::min(1.0, threshold + 1e-6);
          return kind == 0 ? above : kind == 1 ? 0.0 : t / 200 % 2 == 0 ? above : 0.0;
        };
        const auto method = find_online_method(name).make(
            setup({0.05}, options + " window=20 step=" + std::to_string(step)));
        const Duel result = duel(*method, 2000, score);
        for (std::size_t t = kFirst; t < result.misses.size(); ++t) {
          const double rows = static_cast<double>(t + 1 - kFirst);
          const double misses = result.misses[t] - result.misses[kFirst - 1];
          const double bound =
              (std::fabs(result.thresholds[kFirst]) + 1.0 + extra * step) / (step * rows);
          ASSERT_LE(std::fabs(misses / rows - 0.1), bound + 1e-9)
              << name << " " << options << ", row " << t;
        }
      }
    }
  }
}

TEST(OnlineReferenceCoverage, AConstantErrorIsCoveredSoon) {
  Rng rng{Seed{12}};
  const Stream stream = stream_of("constant", 400, rng, [](std::size_t) { return 5.0; });
  for (const char* name : {"tracker", "pid", "eci", "aci", "dtaci", "enbpi", "trailing"}) {
    const auto method = find_online_method(name).make(setup({0.05, 0.95}));
    EXPECT_LE(share_outside(stream, run(*method, stream), 100), 0.15) << name;
  }
}

}  // namespace
}  // namespace tare::online_testing

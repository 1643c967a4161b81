// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "draws.h"
#include "online/reference/oracles.h"
#include "online/reference/streams.h"

namespace tare::online_testing {
namespace {

using Oracle = std::function<Thresholds(const OracleInput&)>;

struct OracleCase {
  std::string method, options;
  double step = 0.0;
  std::size_t window = 0;
  Oracle oracle;
};

std::vector<OracleCase> oracle_cases() {
  const double heuristic =
      2.0 / std::numbers::pi * (1.0 - 1.0 / std::log(1000.0));  // ceil(0.01 log 1000) is 1
  std::vector<OracleCase> cases = {
      {"aci", "step=0.05 window=60", 0.05, 60, oracle_aci},
      {"aci", "step=0.3 window=10", 0.3, 10, oracle_aci},
      {"aci", "", 0.005, 1000, oracle_aci},
      {"dtaci", "window=60 interval=100", 0.0, 60,
       [](const OracleInput& in) { return oracle_dtaci(in, 100.0); }},
      {"dtaci", "", 0.0, 1000, [](const OracleInput& in) { return oracle_dtaci(in, 500.0); }},
      {"tracker", "step=0.25 window=30", 0.25, 30, oracle_tracker},
      {"tracker", "", 0.1, 300, oracle_tracker},
      {"pid", "step=0.25 window=30", 0.25, 30,
       [=](const OracleInput& in) { return oracle_pid(in, heuristic, -1.0); }},
      {"pid", "step=0 window=20 saturation=0.2", 0.0, 20,
       [](const OracleInput& in) { return oracle_pid(in, 0.2, -1.0); }},
      {"pid", "saturation=5 gain=10", 0.1, 300,
       [](const OracleInput& in) { return oracle_pid(in, 5.0, 10.0); }},
  };
  for (const std::string variant : {"eci", "cutoff", "integral"}) {
    for (const bool kept : {false, true}) {
      cases.push_back(
          {"eci",
           "step=0.25 window=30 variant=" + variant + (kept ? " feedback=kept" : " feedback=once"),
           0.25, 30, [=](const OracleInput& in) { return oracle_eci(in, variant, kept); }});
    }
  }
  cases.push_back(
      {"eci", "", 0.1, 300, [](const OracleInput& in) { return oracle_eci(in, "eci", false); }});
  return cases;
}

void expect_same(double actual, double expected, const std::string& where) {
  if (std::isinf(expected)) {
    ASSERT_EQ(actual, expected) << where;
  } else {
    // Sums in another order: 80 rows, each with a rounding error of its size.
    ASSERT_NEAR(actual, expected, 1e-9 * (1.0 + std::fabs(expected))) << where;
  }
}

Thresholds thresholds_of(const OracleCase& one, const Stream& stream, double alpha,
                         std::size_t delay, const std::function<double(double)>& score) {
  OracleInput in{{}, alpha, delay, one.step, one.window};
  for (std::size_t t = 0; t < stream.rows(); ++t) in.scores.push_back(score(stream.error(t)));
  return one.oracle(in);
}

TEST(OnlineReference, IntervalsOfAbsoluteScoresAreThoseOfTheSlowReplicas) {
  const std::vector<double> levels = {0.05, 0.25, 0.5, 0.75, 0.95};
  for (std::uint64_t seed = 0; seed < draws(5); ++seed) {
    for (const Stream& stream : streams(80, seed)) {
      for (const OracleCase& one : oracle_cases()) {
        for (const std::size_t delay : {std::size_t{0}, std::size_t{3}}) {
          const auto absolute = [](double error) { return std::fabs(error); };
          const Thresholds wide = thresholds_of(one, stream, 0.1, delay, absolute);
          const Thresholds narrow = thresholds_of(one, stream, 0.5, delay, absolute);
          const auto method = find_online_method(one.method).make(setup(levels, one.options));
          const auto answers = run(*method, stream, delay);
          for (std::size_t t = 0; t < stream.rows(); ++t) {
            const std::size_t learned = t > delay ? t - delay : 0;
            const double outer = std::max(0.0, wide[learned]);
            const double inner = std::min(outer, std::max(0.0, narrow[learned]));
            const std::string where =
                one.method + " " + one.options + ", " + stream.name + ", row " + std::to_string(t);
            const double center = stream.prediction[t];
            expect_same(answers[t].quantiles[0], center - outer, where);
            expect_same(answers[t].quantiles[1], center - inner, where);
            ASSERT_EQ(answers[t].quantiles[2], center) << where;
            expect_same(answers[t].quantiles[3], center + inner, where);
            expect_same(answers[t].quantiles[4], center + outer, where);
          }
        }
      }
    }
  }
}

TEST(OnlineReference, BoundsOfSignedScoresAreThoseOfTheSlowReplicas) {
  for (std::uint64_t seed = 0; seed < draws(5); ++seed) {
    for (const Stream& stream : streams(80, 100 + seed)) {
      for (const OracleCase& one : oracle_cases()) {
        for (const std::size_t delay : {std::size_t{0}, std::size_t{3}}) {
          const Thresholds up =
              thresholds_of(one, stream, 0.05, delay, [](double error) { return error; });
          const Thresholds down =
              thresholds_of(one, stream, 0.05, delay, [](double error) { return -error; });
          const auto method = find_online_method(one.method)
                                  .make(setup({0.05, 0.95}, one.options + " scores=signed"));
          const auto answers = run(*method, stream, delay);
          for (std::size_t t = 0; t < stream.rows(); ++t) {
            const std::size_t learned = t > delay ? t - delay : 0;
            const auto filled = [](double x) { return x == -kOracleInfinity ? 0.0 : x; };
            const double low = stream.prediction[t] - filled(down[learned]);
            const double high = std::max(low, stream.prediction[t] + filled(up[learned]));
            const std::string where =
                one.method + " " + one.options + ", " + stream.name + ", row " + std::to_string(t);
            expect_same(answers[t].quantiles[0], low, where);
            expect_same(answers[t].quantiles[1], high, where);
          }
        }
      }
    }
  }
}

std::vector<double> last_errors(const Stream& stream, std::size_t t, std::size_t window) {
  std::vector<double> errors;
  for (std::size_t i = t > window ? t - window : 0; i < t; ++i) errors.push_back(stream.error(i));
  std::sort(errors.begin(), errors.end());
  return errors;
}

TEST(OnlineReference, TrailingQuantilesHaveTheirRankAmongTheLastErrors) {
  for (const Stream& stream : streams(120, 1)) {
    for (const std::size_t window : {std::size_t{1}, std::size_t{7}, std::size_t{60}}) {
      const auto method =
          find_online_method("trailing")
              .make(setup({0.05, 0.25, 0.5, 0.95}, "window=" + std::to_string(window)));
      const auto answers = run(*method, stream);
      for (std::size_t t = 1; t < stream.rows(); ++t) {
        const auto errors = last_errors(stream, t, window);
        // In hundredths, so that ranks are exact: floor below the median, ceiling above.
        const std::size_t n = errors.size() + 1;
        const std::array<std::size_t, 4> ranks = {5 * n / 100, 25 * n / 100, (50 * n + 99) / 100,
                                                  (95 * n + 99) / 100};
        for (std::size_t i = 0; i < ranks.size(); ++i) {
          const std::size_t rank = std::clamp<std::size_t>(ranks[i], 1, errors.size());
          ASSERT_EQ(answers[t].quantiles[i], stream.prediction[t] + errors[rank - 1])
              << stream.name << ", row " << t << ", level " << i;
        }
      }
    }
  }
}

TEST(OnlineReference, EnbpiFindsTheNarrowestIntervalOverAllBeta) {
  for (const Stream& stream : streams(120, 2)) {
    for (const std::size_t window : {std::size_t{1}, std::size_t{7}, std::size_t{60}}) {
      const auto method =
          find_online_method("enbpi").make(setup({0.1, 0.9}, "window=" + std::to_string(window)));
      const auto answers = run(*method, stream);
      for (std::size_t t = 1; t < stream.rows(); ++t) {
        const auto errors = last_errors(stream, t, window);
        const double n = static_cast<double>(errors.size());
        const auto quantile = [&](double level) {  // the inverse of the distribution function
          const double rank = std::ceil(level * n - 1e-7);
          return errors[static_cast<std::size_t>(std::clamp(rank, 1.0, n)) - 1];
        };
        // Between multiples of 1/n nothing changes: a little above each of them.
        double narrowest = kOracleInfinity;
        for (double k = 0.0; k / n <= 0.2 + 1e-9; k += 1.0) {
          const double beta = k / n + 1e-5 / n;
          if (0.8 + beta > 1.0) break;
          narrowest = std::min(narrowest, quantile(0.8 + beta) - quantile(beta));
        }
        if (narrowest == kOracleInfinity) continue;
        const double low = answers[t].quantiles[0] - stream.prediction[t];
        const double high = answers[t].quantiles[1] - stream.prediction[t];
        ASSERT_NEAR(high - low, narrowest, 1e-12) << stream.name << ", row " << t;
        const auto inside = std::count_if(errors.begin(), errors.end(), [&](double error) {
          return error >= low - 1e-12 && error <= high + 1e-12;
        });
        ASSERT_GE(static_cast<double>(inside), 0.8 * n) << stream.name << ", row " << t;
      }
    }
  }
}

}  // namespace
}  // namespace tare::online_testing

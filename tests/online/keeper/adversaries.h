// SPDX-License-Identifier: BSD-3-Clause
// Sequences of targets that know the answers, for the bound of CoverageKeeper.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "online/coverage_keeper.h"
#include "tare/base/rng.h"

namespace tare::online_testing {

/// What is known of a row before its target.
struct KeeperRow {
  std::vector<double> base;
  double spread = 1.0;
  std::vector<double> answers;
  std::uint64_t rows_before = 0;  // learned when it was answered
};

struct Adversary {
  std::string name;
  std::function<double(const KeeperRow&, std::size_t time, Rng&)> target;
};

inline double just_above(double value) { return value + 1e-9 * (1.0 + std::abs(value)); }

/// None is without a reason: each makes one part of the proof tight.
inline std::vector<Adversary> adversaries() {
  return {
      {"above the highest",
       [](const KeeperRow& row, std::size_t, Rng&) { return just_above(row.answers.back()); }},
      {"at the lowest",
       [](const KeeperRow& row, std::size_t, Rng&) { return row.answers.front(); }},
      {"alternating",
       [](const KeeperRow& row, std::size_t t, Rng&) {
         return t % 2 == 0 ? just_above(row.answers.back()) : row.answers.front() - 1e-9;
       }},
      {"random sides",
       [](const KeeperRow& row, std::size_t, Rng& rng) {
         return rng.below(2) == 0 ? just_above(row.answers.back()) : row.answers.front();
       }},
      {"a level of its choice",
       [](const KeeperRow& row, std::size_t t, Rng& rng) {
         const std::size_t j = (t / 40) % row.answers.size();
         return rng.below(2) == 0 ? row.answers[j] : just_above(row.answers[j]);
       }},
      {"growing",
       [](const KeeperRow& row, std::size_t t, Rng&) {
         return row.base.back() + row.spread * std::exp(0.02 * static_cast<double>(t));
       }},
      {"scales",
       [](const KeeperRow& row, std::size_t t, Rng& rng) {
         const double scale = t / 50 % 2 == 0 ? 1e-6 : 1e6;
         return row.base.front() + scale * rng.normal();
       }},
      {"long runs",
       [](const KeeperRow& row, std::size_t t, Rng&) {
         return t / 150 % 2 == 0 ? just_above(row.answers.back()) : row.answers.front();
       }},
      // The upper levels learn that they are too high, and the middle one that it is too low.
      {"makes levels cross",
       [](const KeeperRow& row, std::size_t t, Rng&) {
         const std::size_t middle = row.answers.size() / 2;
         return t / 100 % 2 == 0 ? just_above(row.answers[middle]) : row.answers[middle];
       }},
      {"ends of the numbers",
       [](const KeeperRow&, std::size_t t, Rng& rng) {
         return (t % 3 == 0 ? -1.0 : 1.0) * std::pow(10.0, rng.uniform(-300.0, 308.0));
       }},
  };
}

/// How late the target of a row is: `fixed` rows, or a random number of them below `random`.
struct Lateness {
  std::size_t fixed = 0;
  std::size_t random = 0;
};

/// Plays an adversary against a keeper. `check` is called after each learned row.
template <class Check>
void play(const Adversary& adversary, const std::vector<Level>& levels, const Lateness& late,
          std::size_t steps, Rng& rng, Check&& check) {
  CoverageKeeper keeper(levels);
  std::vector<std::pair<std::size_t, KeeperRow>> waiting;  // when it is due
  for (std::size_t t = 0; t < steps; ++t) {
    KeeperRow row;
    row.base.resize(levels.size());
    // Now and then all are equal, so that every move makes levels cross.
    const double width = rng.below(3) == 0 ? 0.0 : rng.uniform();
    for (double& q : row.base) q = width * rng.normal();
    std::sort(row.base.begin(), row.base.end());
    row.spread = rng.below(4) == 0 ? std::pow(10.0, rng.uniform(-3.0, 1.0)) : 1.0;
    row.answers.resize(levels.size());
    keeper.answer(row.base, row.spread, row.answers);
    row.rows_before = keeper.rows();
    waiting.emplace_back(t + late.fixed + (late.random > 0 ? rng.below(late.random) : 0), row);
    for (std::size_t i = 0; i < waiting.size();) {
      if (waiting[i].first > t) {
        ++i;
        continue;
      }
      const KeeperRow& due = waiting[i].second;
      keeper.learn(due.base, due.spread, due.answers, adversary.target(due, t, rng),
                   keeper.rows() - due.rows_before);
      check(keeper, due, t);
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

}  // namespace tare::online_testing

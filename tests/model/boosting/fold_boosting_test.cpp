// SPDX-License-Identifier: BSD-3-Clause
#include "model/boosting/fold_boosting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../sample.h"
#include "model/tree/tree_ensemble.h"

#ifdef TARE_WITH_XGBOOST

namespace tare {
namespace {

std::vector<std::uint32_t> fold_of(std::size_t rows, std::size_t folds) {
  std::vector<std::uint32_t> fold(rows);
  for (std::size_t i = 0; i < rows; ++i) fold[i] = static_cast<std::uint32_t>(i % folds);
  return fold;
}

std::vector<std::unique_ptr<Regressor>> fit(const Sample& sample, std::size_t folds,
                                            std::size_t threads = 2) {
  const FoldBoostingOptions options{.rounds = 150, .patience = 20};
  return fit_boosting_folds(sample.data(), fold_of(sample.y.size(), folds), folds, options, Seed{3},
                            {.threads = threads, .progress = {}});
}

TEST(FoldBoosting, AFoldsTreesDoNotKnowItsRows) {
  Sample sample = make_sample(300, 2, Seed{1});
  const auto before = fit(sample, 3);
  // The targets of fold 1 change, by so little that the number of rounds stays what it was, and so
  // symmetrically that the mean and the unit of the target do. Only the other folds may notice.
  const auto trees = [](const Regressor& model) {
    return dynamic_cast<const TreeEnsemble&>(model).trees();
  };
  const std::vector<double> first = predictions(*before[1], sample.x);
  std::swap(sample.y[4], sample.y[10]);
  const auto after = fit(sample, 3);
  ASSERT_EQ(trees(*before[1]), trees(*after[1])) << "choose another pair of rows";
  EXPECT_EQ(first, predictions(*after[1], sample.x));
  EXPECT_NE(predictions(*before[0], sample.x), predictions(*after[0], sample.x));
}

TEST(FoldBoosting, TheRoundsAreThoseWithTheLowestErrorLeftOut) {
  const Sample sample = make_sample(400, 2, Seed{2}, 0.6);
  const auto fold = fold_of(400, 4);
  const auto error_of = [&](std::size_t rounds) {
    const FoldBoostingOptions options{.rounds = rounds, .patience = 1000, .learning_rate = 0.3};
    const auto models = fit_boosting_folds(sample.data(), fold, 4, options, Seed{3}, {});
    double error = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::vector<double> p = predictions(*models[k], sample.x);
      for (std::size_t i = 0; i < 400; ++i) {
        if (fold[i] == k) error += std::pow(p[i] - sample.y[i], 2);
      }
    }
    return std::pair(error, dynamic_cast<const TreeEnsemble&>(*models[0]).trees());
  };
  const auto [error, rounds] = error_of(200);
  EXPECT_GT(rounds, 5U);
  EXPECT_LT(rounds, 200U);
  // Fewer rounds at most: the first trees are the same, and no shorter sum is better.
  for (const std::size_t fewer : {rounds / 2, rounds - 1}) EXPECT_GE(error_of(fewer).first, error);
}

TEST(FoldBoosting, ThreadsDoNotMatter) {
  const Sample sample = make_sample(200, 3, Seed{4});
  const auto one = fit(sample, 4, 1);
  const auto many = fit(sample, 4, 4);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(predictions(*one[k], sample.x), predictions(*many[k], sample.x));
  }
}

TEST(FoldBoosting, ATargetWithoutSpreadIsItsMean) {
  Sample sample = make_sample(50, 2, Seed{5});
  std::ranges::fill(sample.y, 2.5);
  for (const auto& model : fit(sample, 2)) {
    for (const double value : predictions(*model, sample.x)) EXPECT_EQ(value, 2.5);
  }
}

}  // namespace
}  // namespace tare

#endif

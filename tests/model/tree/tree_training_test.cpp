// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "base/parallel.h"
#include "model/sample.h"
#include "model/tree/boosting.h"
#include "model/tree/forest.h"
#include "model/tree/tree_training.h"
#include "model/tree/xgboost_train.h"
#include "tare/base/error.h"

namespace tare {
namespace {

#ifdef TARE_WITH_XGBOOST

struct Trained {
  TreeNodes trees;
  std::vector<float> own;  // XGBoost's own predictions
};

Trained train(const TreeTraining& training, std::size_t cols, const BoosterParams& params,
              std::size_t rounds) {
  const TreeRows rows(training.x, cols, training.y, training.weight);
  const TreeRows* const watched[] = {&rows};
  Booster booster(params, watched);
  for (std::size_t round = 0; round < rounds; ++round) booster.add_tree(rows);
  return {booster.trees(rounds), booster.predict(rows)};
}

class AgainstXgboost : public testing::TestWithParam<TreeShape::Splits> {};

TEST_P(AgainstXgboost, TreesPredictWhatXgboostItselfPredicts) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Sample sample = make_sample(500, 4, Seed{seed});
    for (std::size_t i = 0; i < 500; ++i) sample.x(i, 3) = std::round(sample.x(i, 3));  // ties
    const TreeTraining training(sample.data(), Execution{});
    BoosterParams params = tree_params({6, 1.0, GetParam(), Seed{seed}});
    params.emplace_back("gamma", "0.5");  // so that the pruner of exact trees has work to do
    const Trained trained = train(training, 4, params, 30);
    const TreeEnsemble ensemble(trained.trees, training.columns, {});
    const auto actual = predictions(ensemble, sample.x);
    for (std::size_t i = 0; i < 500; ++i) {
      // Sums of 30 floats of size 1 in float against double: 30 * 6e-8.
      EXPECT_NEAR(actual[i], static_cast<double>(trained.own[i]), 4e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Splits, AgainstXgboost,
                         testing::Values(TreeShape::Splits::kExact, TreeShape::Splits::kBinned));

TEST(Booster, AMeanTreeHoldsWeightedMeans) {
  const std::vector<float> x = {0.0F, 0.0F, 1.0F, 1.0F, 1.0F};
  const std::vector<float> y = {1.0F, 3.0F, 5.0F, 9.0F, 100.0F};
  const std::vector<float> weight = {1.0F, 3.0F, 1.0F, 1.0F, 0.0F};
  const TreeRows rows(x, 1, y, {});
  const TreeRows* const watched[] = {&rows};
  BoosterParams params = tree_params({3, 0.0, TreeShape::Splits::kExact, Seed{}});
  params.emplace_back("lambda", "0");
  params.emplace_back("eta", "1");
  Booster booster(params, watched);
  booster.add_mean_tree(rows, y, weight);
  EXPECT_THAT(booster.predict(rows), testing::ElementsAre(2.5F, 2.5F, 7.0F, 7.0F, 7.0F));
}

TEST(Booster, ErrorsOfXgboostBecomeOurs) {
  const std::vector<float> x = {0.0F, 1.0F};
  const TreeRows rows(x, 1, x, {});
  const TreeRows* const watched[] = {&rows};
  EXPECT_THROW(
      {
        Booster booster({{"max_depth", "many"}}, watched);
        booster.add_tree(rows);
      },
      Error);
}

TEST(Booster, TrainedSideBySideIsAsTrainedAlone) {
  const Sample sample = make_sample(400, 3, Seed{1});
  const TreeTraining training(sample.data(), Execution{});
  const auto grown = [&](std::size_t k) {
    BoosterParams params = tree_params({4, 1.0, TreeShape::Splits::kBinned, Seed{k}});
    params.emplace_back("subsample", "0.5");
    return train(training, 3, params, 20).own;
  };
  std::vector<std::vector<float>> side_by_side(8);
  Execution how;
  how.threads = 8;
  parallel_for(how, 8, [&](std::size_t k) { side_by_side[k] = grown(k); });
  for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(side_by_side[k], grown(k)) << k;
  EXPECT_NE(side_by_side[0], side_by_side[1]);
}

TEST(Forest, NeverLeavesTheRangeOfTheTarget) {
  const Sample sample = make_sample(300, 3, Seed{2}, 2.0);
  const auto model = fit_forest(sample.data(), {}, Seed{3}, {});
  const auto [low, high] = std::ranges::minmax(sample.y);
  for (const double value : predictions(*model, make_sample(1000, 3, Seed{4}).x)) {
    EXPECT_GE(value, low - 1e-6);
    EXPECT_LE(value, high + 1e-6);
  }
}

TEST(Forest, HasTheNumberOfTreesAskedFor) {
  const Sample sample = make_sample(100, 2, Seed{5});
  for (const char* trees : {"1", "9", "10", "23"}) {
    Params params;
    params.set("trees", trees);
    const auto model = fit_forest(sample.data(), params, Seed{}, {});
    EXPECT_EQ(std::to_string(dynamic_cast<const TreeEnsemble&>(*model).trees()), trees);
  }
}

TEST(Forest, MinLeafOfHalfTheWeightLeavesOneSplitAtMost) {
  const Sample sample = make_sample(200, 2, Seed{6});
  const auto model = fit_forest(sample.data(), Params::parse("trees=1 min_leaf=90"), Seed{}, {});
  std::vector<double> values = predictions(*model, sample.x);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  EXPECT_LE(values.size(), 2U);
}

/// The best split of some rows with weights by squared error, found by trying all of them.
struct Stump {
  std::size_t column = 0;
  double threshold = 0.0, below = 0.0, above = 0.0;
  double loss = std::numeric_limits<double>::infinity();
};

void try_split(const Sample& sample, const std::vector<double>& weight, std::size_t column,
               double threshold, Stump& best) {
  double total[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0}, loss = 0.0;
  const auto side = [&](std::size_t i) { return sample.x(i, column) < threshold ? 0 : 1; };
  for (std::size_t i = 0; i < weight.size(); ++i) {
    total[side(i)] += weight[i];
    sum[side(i)] += weight[i] * sample.y[i];
  }
  if (total[0] == 0.0 || total[1] == 0.0) return;
  const double mean[2] = {sum[0] / total[0], sum[1] / total[1]};
  for (std::size_t i = 0; i < weight.size(); ++i)
    loss += weight[i] * std::pow(sample.y[i] - mean[side(i)], 2);
  if (loss < best.loss) best = {column, threshold, mean[0], mean[1], loss};
}

Stump best_stump(const Sample& sample, const std::vector<double>& weight) {
  Stump best;
  for (std::size_t j = 0; j < sample.x.cols(); ++j) {
    std::vector<double> value;
    for (std::size_t i = 0; i < weight.size(); ++i)
      if (weight[i] > 0.0) value.push_back(sample.x(i, j));
    std::ranges::sort(value);
    for (std::size_t k = 1; k < value.size(); ++k)
      try_split(sample, weight, j, (value[k - 1] + value[k]) / 2.0, best);
  }
  return best;
}

TEST(Forest, AStumpSplitsHalfwayBetweenTheRowsThatWereDrawn) {
  for (std::uint64_t k = 0; k < 40; ++k) {
    const std::size_t rows = 5 + k, cols = 1 + k % 3;
    const Sample sample = make_sample(rows, cols, Seed{100 + k});
    const Params params = Params::parse("trees=1 depth=1 min_leaf=0");
    const auto model = fit_forest(sample.data(), params, Seed{k}, {});
    // What the forest draws for the first tree of its first group.
    Rng rng(split(Seed{k}, 0));
    std::vector<double> weight(rows, 0.0);
    for (std::size_t i = 0; i < rows; ++i) weight[rng.below(rows)] += 1.0;
    const Stump stump = best_stump(sample, weight);
    const auto found = predictions(*model, sample.x);
    for (std::size_t i = 0; i < rows; ++i) {
      const bool below = sample.x(i, stump.column) < stump.threshold;
      EXPECT_NEAR(found[i], below ? stump.below : stump.above, 1e-5)
          << "case " << k << " row " << i;
    }
  }
}

TEST(Forest, DrawsThatHoldNoWeightDoNoHarm) {
  Sample sample = make_sample(30, 2, Seed{6});
  std::vector<double> weight(30, 0.0);
  weight[4] = 1.0;
  weight[9] = 1.0;
  RegressionData data = sample.data();
  data.weight = weight;
  const auto model = fit_forest(data, Params::parse("trees=50"), Seed{1}, {});
  const auto [low, high] = std::minmax(sample.y[4], sample.y[9]);
  for (const double value : predictions(*model, sample.x)) {
    EXPECT_GE(value, low - 1e-6);
    EXPECT_LE(value, high + 1e-6);
  }
}

TEST(Boosting, StopsEarlyOnPureNoise) {
  Sample sample = make_sample(1000, 3, Seed{7});
  Rng rng(Seed{8});
  for (double& y : sample.y) y = rng.normal();
  const auto model = fit_boosting(sample.data(), {}, Seed{}, {});
  EXPECT_LT(dynamic_cast<const TreeEnsemble&>(*model).trees(), 50U);
}

TEST(TreeRegressors, CanBeStoppedByTheCaller) {
  const Sample sample = make_sample(200, 2, Seed{9});
  Execution how;
  how.progress = [](std::string_view, double) { throw std::runtime_error("enough"); };
  EXPECT_THROW(fit_boosting(sample.data(), {}, Seed{}, how), std::runtime_error);
  EXPECT_THROW(fit_forest(sample.data(), {}, Seed{}, how), std::runtime_error);
}

TEST(TreeRegressors, FitThePapersSineCurve) {
  Rng rng(Seed{10});
  const auto mean = [](double x) { return 4.0 * std::sin(2.0 * std::numbers::pi * x / 15.0); };
  Sample sample{Matrix(36'000, 1), std::vector<double>(36'000), {}};
  for (std::size_t i = 0; i < sample.y.size(); ++i) {
    const double x = rng.uniform(0.0, 15.0);
    sample.x(i, 0) = x;
    sample.y[i] = mean(x) + rng.normal() * std::max(0.2 * x * std::abs(std::sin(x)), 0.1);
  }
  const auto error = [&](const Regressor& model) {
    const auto fitted = predictions(model, sample.x);
    double sum = 0.0;
    for (std::size_t i = 0; i < fitted.size(); ++i)
      sum += std::pow(fitted[i] - mean(sample.x(i, 0)), 2);
    return std::sqrt(sum / static_cast<double>(fitted.size()));
  };
  // Over seeds 1 to 3: boosting 0.073 to 0.079, forest 0.094 to 0.102.
  EXPECT_LT(error(*fit_boosting(sample.data(), {}, Seed{7}, {})), 0.10);
  EXPECT_LT(error(*fit_forest(sample.data(), {}, Seed{7}, {})), 0.12);
}

#else

TEST(TreeRegressors, WithoutXgboostSayWhatIsMissing) {
  const Sample sample = make_sample(20, 2, Seed{1});
  for (const auto fit : {&fit_forest, &fit_boosting}) {
    try {
      fit(sample.data(), {}, Seed{}, {});
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_THAT(error.what(), testing::HasSubstr("TARE_WITH_XGBOOST"));
    }
  }
}

#endif

}  // namespace
}  // namespace tare

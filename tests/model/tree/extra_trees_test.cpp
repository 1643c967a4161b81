// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/extra_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "../sample.h"
#include "model/tree/tree_ensemble.h"

namespace tare {
namespace {

std::unique_ptr<Regressor> fit(const Sample& sample, const char* params, Seed seed = Seed{1}) {
  return fit_extra_trees(sample.data(), Params::parse(params), seed, {});
}

const TreeEnsemble& trees_of(const Regressor& model) {
  return dynamic_cast<const TreeEnsemble&>(model);
}

TEST(ExtraTrees, ALeafIsTheWeightedMeanOfItsRowsAndHoldsEnoughOfThem) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Sample sample = make_sample(150, 3, Seed{seed});
    Rng rng(Seed{seed + 50});
    if (seed % 2 == 0) {
      for (std::size_t i = 0; i < 150; ++i) sample.weight.push_back(0.5 + rng.uniform());
    }
    for (const std::size_t min_leaf : {1U, 4U}) {
      const std::string text = "trees=1 min_leaf=" + std::to_string(min_leaf);
      const auto model = fit(sample, text.c_str());
      std::vector<std::int32_t> leaf(150);
      trees_of(*model).leaves(sample.x, leaf, {});
      struct Sums {
        double weight = 0.0, target = 0.0;
        std::size_t rows = 0;
      };
      std::map<std::int32_t, Sums> sums;
      for (std::size_t i = 0; i < 150; ++i) {
        const double w = sample.weight.empty() ? 1.0 : sample.weight[i];
        Sums& own = sums[leaf[i]];
        own.weight += w;
        own.target += w * sample.y[i];
        ++own.rows;
      }
      const std::vector<double> p = predictions(*model, sample.x);
      for (std::size_t i = 0; i < 150; ++i) {
        EXPECT_GE(sums[leaf[i]].rows, min_leaf);
        EXPECT_NEAR(p[i], sums[leaf[i]].target / sums[leaf[i]].weight, 1e-5);
      }
      // A leaf of fewer than twice the least cannot be split; others only if their rows are equal.
      for (const auto& [id, own] : sums) EXPECT_LT(own.rows, 20 * min_leaf) << id;
    }
  }
}

TEST(ExtraTrees, WithLeavesOfOneRowTrainingRowsAreKnownByHeart) {
  const Sample sample = make_sample(80, 2, Seed{3});
  const auto model = fit(sample, "trees=5 min_leaf=1");
  const std::vector<double> p = predictions(*model, sample.x);
  for (std::size_t i = 0; i < 80; ++i) EXPECT_NEAR(p[i], sample.y[i], 1e-5);
}

TEST(ExtraTrees, LearnsAWave) {
  const Sample train = make_sample(2000, 2, Seed{4}, 0.3);
  const Sample test = make_sample(500, 2, Seed{5}, 0.0);
  const std::vector<double> p = predictions(*fit(train, "trees=50"), test.x);
  double error = 0.0;
  for (std::size_t i = 0; i < 500; ++i) error += std::pow(p[i] - test.y[i], 2) / 500.0;
  EXPECT_LT(std::sqrt(error), 0.25);  // the target's own sd is 1.9; seen 0.17
}

TEST(ExtraTrees, EqualRowsAndConstantColumnsEndTheGrowth) {
  Sample sample{Matrix(40, 2, 1.0), std::vector<double>(40), {}};
  for (std::size_t i = 0; i < 40; ++i) {
    sample.y[i] = static_cast<double>(i % 4);
    sample.x(i, 1) = static_cast<double>(i % 2);
  }
  const auto model = fit(sample, "trees=3 min_leaf=1 columns=0.5");
  const std::vector<double> p = predictions(*model, sample.x);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_NEAR(p[i], i % 2 == 0 ? 1.0 : 2.0, 1e-6);
}

}  // namespace
}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "model/gaussian/gaussian_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "expect_error.h"
#include "io/tensor_store.h"
#include "model/gaussian/gaussian_training.h"
#include "model/sample.h"

namespace tare {
namespace {

GaussianNetwork fit(const Sample& sample, const char* params, Seed seed = Seed{1}) {
  return fit_gaussian_network(sample.data(), GaussianOptions::feed_forward(Params::parse(params)),
                              seed, {});
}

GaussianNetwork fit_recurrent(const Sample& sample, const char* params) {
  const auto options = GaussianOptions::recurrent(Params::parse(params), sample.x.cols());
  return fit_gaussian_network(sample.data(), options, Seed{1}, {});
}

TensorStore stored(const GaussianNetwork& network) {
  TensorStore store;
  network.save(TensorWriter(store));
  return store;
}

/// y = x + (0.2 + 0.4 |x|) noise, x in [-2, 2].
Sample fan(std::size_t rows, Seed seed) {
  Sample sample = make_sample(rows, 1, seed);
  Rng rng(split(seed, 9));
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = sample.x(i, 0);
    sample.y[i] = x + (0.2 + 0.4 * std::abs(x)) * rng.normal();
  }
  return sample;
}

TEST(GaussianNetwork, LearnsAMeanAndAnSd) {
  const GaussianNetwork network = fit(fan(3000, Seed{1}), "epochs=30 batch=64");
  const Matrix x({-1.5, 0.0, 1.5}, 3, 1);
  const Gaussians laws = network.predict(x);
  const double sd[] = {0.8, 0.2, 0.8};
  // Some 300 rows lie around each point: their sd is known to 1/sqrt(600) = 4 %, their mean to 6 %
  // of it; a network that is not yet at rest may be off by three times that.
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(laws.mean[i], x(i, 0), 0.2 * sd[i] + 0.05) << i;
    EXPECT_NEAR(laws.sd[i], sd[i], 0.15 * sd[i] + 0.05) << i;
  }
}

/// The network as a formula, in double: `masks` holds a factor for each unit of each hidden layer.
struct Law {
  double mean;
  double sd;
};
Law by_formula(const GaussianNetwork& network, std::span<const double> row,
               const std::vector<std::vector<double>>& masks) {
  const TensorStore store = stored(network);
  const TensorReader in(store);
  std::vector<double> values;
  const auto center = in.values<double>("center", {row.size()});
  const auto scale = in.values<double>("scale", {row.size()});
  for (std::size_t j = 0; j < row.size(); ++j) values.push_back((row[j] - center[j]) / scale[j]);
  for (std::size_t k = 0; k <= masks.size(); ++k) {
    const TensorReader layer = in.part("layer" + std::to_string(k));
    const std::size_t outputs = layer.shape("weight")[1];
    const auto weight = layer.values<float>("weight", {values.size(), outputs});
    const auto bias = layer.values<float>("bias", {1, outputs});
    std::vector<double> next(outputs);
    for (std::size_t o = 0; o < outputs; ++o) {
      next[o] = static_cast<double>(bias[o]);
      for (std::size_t i = 0; i < values.size(); ++i)
        next[o] += values[i] * static_cast<double>(weight[i * outputs + o]);
      if (k < masks.size()) next[o] = masks[k][o] * (next[o] < 0.0 ? 0.2 * next[o] : next[o]);
    }
    values = next;
  }
  const auto target = in.values<double>("target", {2});
  return {target[0] + target[1] * values[0],
          target[1] * (std::log1p(std::exp(values[1])) + network.shape().sd_floor)};
}

TEST(GaussianNetwork, IsItsFormula) {
  const Sample sample = make_sample(200, 3, Seed{2});
  const GaussianNetwork network = fit(sample, "epochs=3 hidden=7,5");
  const Gaussians laws = network.predict(sample.x);
  const std::vector<std::vector<double>> all = {std::vector<double>(7, 1.0),
                                                std::vector<double>(5, 1.0)};
  for (std::size_t i = 0; i < 200; i += 13) {
    const Law law = by_formula(network, sample.x.row(i), all);
    // Values of size 1 in float.
    EXPECT_NEAR(laws.mean[i], law.mean, 1e-5);
    EXPECT_NEAR(laws.sd[i], law.sd, 1e-5);
  }
}

TEST(GaussianNetwork, PassesAddTheVarianceOfTheMeansToTheMeanOfTheVariances) {
  const Sample sample = make_sample(200, 3, Seed{3});
  const GaussianNetwork network = fit(sample, "epochs=3 hidden=7,5 dropout=0.3");
  const DropoutPasses passes{25, Seed{77}};
  const Gaussians laws = network.predict_passes(sample.x, passes);
  for (std::size_t i = 0; i < 200; i += 29) {
    std::vector<Law> each;
    for (std::size_t k = 0; k < passes.count; ++k) {
      Rng rng(split(passes.seed, k));
      std::vector<std::vector<double>> masks = {std::vector<double>(7), std::vector<double>(5)};
      for (auto& mask : masks) {
        for (double& factor : mask) factor = rng.uniform() < 0.3 ? 0.0 : 1.0 / 0.7;
      }
      each.push_back(by_formula(network, sample.x.row(i), masks));
    }
    double mean = 0.0;
    for (const Law& law : each) mean += law.mean / 25.0;
    double variance = 0.0;
    for (const Law& law : each)
      variance += (law.sd * law.sd + (law.mean - mean) * (law.mean - mean)) / 25.0;
    EXPECT_NEAR(laws.mean[i], mean, 1e-5);
    EXPECT_NEAR(laws.sd[i], std::sqrt(variance), 1e-5);
    EXPECT_GT(laws.sd[i], network.predict(sample.x).sd[i] * 0.5);
  }
}

TEST(GaussianNetwork, WithoutDropoutAllPassesAreTheSame) {
  const Sample sample = make_sample(100, 2, Seed{4});
  const GaussianNetwork network = fit(sample, "epochs=2");
  const Gaussians once = network.predict(sample.x);
  const Gaussians often = network.predict_passes(sample.x, {10, Seed{1}});
  EXPECT_EQ(once.mean, often.mean);
  EXPECT_EQ(once.sd, often.sd);
}

TEST(GaussianNetwork, AnswerToARowDoesNotDependOnTheRowsAroundIt) {
  const Sample sample = make_sample(5'000, 5, Seed{5});
  for (const GaussianNetwork& network : {fit(sample, "epochs=1 dropout=0.2"),
                                         fit_recurrent(sample, "epochs=1 units=6,4 dropout=0.2")}) {
    const Gaussians all =
        network.predict_passes(sample.x, {5, Seed{2}}, {.threads = 2, .progress = {}});
    for (const auto& [first, count] : {std::pair{0U, 1U}, {4'000U, 129U}, {4'999U, 1U}}) {
      const Gaussians some =
          network.predict_passes(sample.x.view().middle_rows(first, count), {5, Seed{2}});
      EXPECT_TRUE(std::equal(some.mean.begin(), some.mean.end(), all.mean.begin() + first));
      EXPECT_TRUE(std::equal(some.sd.begin(), some.sd.end(), all.sd.begin() + first));
    }
  }
}

TEST(GaussianNetwork, TheSdStaysAboveItsFloorWhereNoNoiseIsLeft) {
  Sample sample = make_sample(300, 1, Seed{6}, 0.0);
  for (std::size_t i = 0; i < 300; ++i) sample.y[i] = sample.x(i, 0);  // a line, exactly
  const GaussianNetwork network = fit(sample, "epochs=60 sd_floor=0.01");
  const double unit = network.scaling().target().scale;
  for (const double sd : network.predict(sample.x).sd) {
    EXPECT_GE(sd, 0.01 * unit);
    EXPECT_LT(sd, 0.2 * unit);  // and it did go down
  }
}

TEST(GaussianNetwork, StartsAtTheMarginalLaw) {
  const GaussianLayers layers({.features = 2, .units = {20, 20}});
  const std::vector<float> start = layers.marginal();
  // The one number that is not 0 is the sd head's bias.
  EXPECT_EQ(std::ranges::count(start, 0.0F), static_cast<std::ptrdiff_t>(start.size()) - 1);
  EXPECT_NEAR(layers.sd_of(start.back()), 1.0, 1e-6);
}

TEST(GaussianNetwork, WithoutAnythingToLearnFromGivesTheTargetsOwnLaw) {
  Sample constant = make_sample(20, 2, Seed{7});
  std::ranges::fill(constant.y, 0.1);
  const Gaussians same = fit(constant, "").predict(constant.x);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(same.mean[i], 0.1);
    EXPECT_EQ(same.sd[i], 0.0);
  }
  const Sample none{Matrix(4, 0), {1.0, 2.0, 3.0, 4.0}, {}};
  const Gaussians marginal = fit(none, "").predict(Matrix(2, 0));
  EXPECT_DOUBLE_EQ(marginal.mean[1], 2.5);
  EXPECT_NEAR(marginal.sd[1], std::sqrt(1.25), 1e-6);  // a float's bias
}

TEST(GaussianNetwork, FarAwayQueriesGetFiniteAnswers) {
  const Sample sample = make_sample(100, 5, Seed{8});
  const Matrix far(1, 5, std::numeric_limits<double>::max());
  for (const GaussianNetwork& network :
       {fit(sample, "epochs=5"), fit_recurrent(sample, "epochs=2")}) {
    const Gaussians law = network.predict(far);
    EXPECT_TRUE(std::isfinite(law.mean[0]));
    EXPECT_TRUE(std::isfinite(law.sd[0]));
  }
}

TEST(GaussianNetwork, SavedAndLoadedAnswersTheSame) {
  const Sample sample = make_sample(100, 10, Seed{9});
  for (const GaussianNetwork& network :
       {fit(sample, "epochs=2 hidden=6 activation=tanh dropout=0.1 sd_floor=0.05"),
        fit_recurrent(sample, "epochs=2 units=5,4 dropout=0.1")}) {
    const TensorStore store = stored(network);
    const GaussianNetwork loaded = GaussianNetwork::load(TensorReader(store));
    EXPECT_EQ(network.predict(sample.x).sd, loaded.predict(sample.x).sd);
    EXPECT_EQ(network.predict_passes(sample.x, {3, Seed{}}).mean,
              loaded.predict_passes(sample.x, {3, Seed{}}).mean);
    EXPECT_EQ(stored(loaded).values, store.values);
  }
}

TEST(GaussianNetwork, DamagedFilesAreRefused) {
  const Sample sample = make_sample(50, 10, Seed{10});
  const TensorStore good = stored(fit_recurrent(sample, "epochs=1 units=3"));
  const std::pair<const char*, Json> lies[] = {
      {"window", 3U},        {"window", 20'000U},    {"units", {0}},       {"units", {4}},
      {"dropout", 1.0},      {"dropout", -0.1},      {"sd_floor", 0.0},    {"sd_floor", 1.5},
      {"constant", "maybe"}, {"activation", "wild"}, {"sd_floor", nullptr}};
  for (const auto& [name, value] : lies) {
    TensorStore bad = good;
    bad.values.at(name) = value;
    expect_error(ErrorCode::kCorruptFile, "", [&] { GaussianNetwork::load(TensorReader(bad)); });
  }
  for (const auto& [name, tensor] : good.tensors) {
    TensorStore bad = good;
    bad.tensors.erase(name);
    expect_error(ErrorCode::kCorruptFile, "", [&] { GaussianNetwork::load(TensorReader(bad)); });
  }
}

TEST(GaussianNetwork, RefiningNeverRaisesTheValidationLoss) {
  const Sample sample = fan(400, Seed{12});
  for (const char* epochs : {"epochs=3", "epochs=60"}) {
    const std::string params = epochs;
    const auto once = fit(sample, (params + " refine=0").c_str()).fitted().result;
    const auto twice = fit(sample, (params + " refine=0.1").c_str()).fitted().result;
    EXPECT_LE(twice.validation_loss, once.validation_loss) << epochs;
    EXPECT_EQ(twice.learning_rate, once.learning_rate) << epochs;
    EXPECT_GE(twice.best_epoch, once.best_epoch) << epochs;
  }
  // Three epochs are not enough, so more of them must help.
  EXPECT_NE(fit(sample, "epochs=3 refine=0").predict(sample.x).mean,
            fit(sample, "epochs=3 refine=0.1").predict(sample.x).mean);
}

TEST(GaussianNetwork, BetaIsAnotherTrainingAndBothAreJudgedByLikelihood) {
  const Sample sample = fan(300, Seed{11});
  const GaussianNetwork plain = fit(sample, "epochs=5");
  const GaussianNetwork weighted = fit(sample, "epochs=5 beta=0.5");
  EXPECT_NE(plain.fitted().result.parameters, weighted.fitted().result.parameters);
  const auto division = gaussian_division(300, GaussianOptions::feed_forward({}), Seed{1});
  const Gaussians laws = weighted.predict(sample.x);
  double loss = 0.0;
  const double unit = weighted.scaling().target().scale;
  for (const std::size_t i : division.validation) {
    const double score = (sample.y[i] - laws.mean[i]) / laws.sd[i];
    loss += std::log(laws.sd[i] / unit) + 0.5 * score * score;
  }
  // Kept as a float's sum.
  EXPECT_NEAR(weighted.fitted().result.validation_loss,
              loss / static_cast<double>(division.validation.size()), 1e-5);
}

}  // namespace
}  // namespace tare

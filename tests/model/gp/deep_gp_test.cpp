// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/deep_gp.h"

#include <gtest/gtest.h>

#include <numbers>
#include <numeric>

#include "expect_error.h"
#include "io/tensor_store.h"
#include "model/gp/deep_gp_graph.h"
#include "model/gp/gp_oracle.h"
#include "model/gp/principal_axes.h"
#include "model/nn/graph/operations.h"
#include "model/sample.h"

namespace tare {
namespace {

using nn::Graph;
using nn::Var;

constexpr std::size_t kRows = 7;
constexpr std::size_t kInputs = 2;
constexpr std::size_t kWidth = 3;
constexpr std::size_t kDraws = 5;

double normal_log_density(double y, double mean, double variance) {
  return -0.5 * (std::log(2.0 * std::numbers::pi * variance) + (y - mean) * (y - mean) / variance);
}

/// A deep Gaussian process with parameters at random, and the same one the slow way in double.
class TwoLayers : public testing::Test {
 protected:
  TwoLayers() : layers({kInputs, kWidth, 12}, layout), values(layout.size()) {
    Rng rng(Seed{21});
    const std::span<float> all(values);
    fill_layer(layers.hidden, all, rng);
    fill_layer(layers.output, all, rng);
    for (float& value : layers.between.of(all)) value = static_cast<float>(rng.uniform(-2.0, 0.0));
    layers.noise.of(all)[0] = -1.0F;
    for (float& value : map) value = static_cast<float>(rng.normal());
    for (float& value : x) value = static_cast<float>(rng.normal());
    for (float& value : y) value = static_cast<float>(rng.normal());
    for (float& value : hidden) value = static_cast<float>(rng.normal());
    for (float& value : between) value = static_cast<float>(rng.normal());
  }

  static double sd_of(float raw) { return std::log1p(std::exp(static_cast<double>(raw))) + 1e-3; }
  double noise() const {
    return std::pow(sd_of(layers.noise.of(std::span<const float>(values))[0]), 2.0);
  }
  DeepGpBody body() const { return {layers, map}; }
  DenseGp dense(const SparseGpLayer& layer) const {
    return {layer, std::span<const float>(values)};
  }
  Eigen::MatrixXd rows() const { return DenseGp::rows(std::span<const float>(x), kInputs); }
  Eigen::MatrixXd hidden_mean() const {
    return dense(layers.hidden).mean_at(rows()) +
           rows() * DenseGp::rows(std::span<const float>(map), kWidth);
  }
  Eigen::MatrixXd hidden_variance() const { return dense(layers.hidden).variance_at(rows()); }
  double sd_between(Eigen::Index j) const {
    return sd_of(layers.between.of(std::span<const float>(values))[static_cast<std::size_t>(j)]);
  }

  nn::Layout layout;
  DeepGp::Layers layers;
  std::vector<float> values;
  std::vector<float> map = std::vector<float>(kInputs * kWidth);
  std::vector<float> x = std::vector<float>(kRows * kInputs);
  std::vector<float> y = std::vector<float>(kRows);
  std::vector<float> hidden = std::vector<float>(kRows * kWidth);
  std::vector<float> between = std::vector<float>(kDraws * kRows * kWidth);
};

TEST_F(TwoLayers, TheBoundIsItsFormula) {
  Graph<float> graph(values);
  const Var<float> in = graph.input(kRows, kInputs), target = graph.input(kRows, 1);
  const DeepGpDraws draws{graph.input(kRows, kWidth), graph.input(kDraws * kRows, kWidth)};
  std::ranges::copy(x, in.value().begin());
  std::ranges::copy(y, target.value().begin());
  std::ranges::copy(hidden, draws.hidden.value().begin());
  std::ranges::copy(between, draws.between.value().begin());
  const Var<float> bound = deep_gp_bound(body(), in, target, draws);
  graph.forward();

  const Eigen::MatrixXd mean = hidden_mean(), variance = hidden_variance();
  const DenseGp output = dense(layers.output);
  for (std::size_t i = 0; i < kRows; ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < kDraws; ++k) {
      Eigen::MatrixXd h(1, kWidth);
      for (std::size_t j = 0; j < kWidth; ++j) {
        const auto r = static_cast<Eigen::Index>(i), c = static_cast<Eigen::Index>(j);
        h(0, c) = mean(r, c) + std::sqrt(variance(r, c)) * hidden[i * kWidth + j] +
                  sd_between(c) * between[(k * kRows + i) * kWidth + j];
      }
      // E log N(y | f, noise) for a normal f.
      sum += std::exp(normal_log_density(y[i], output.mean_at(h)(0, 0), noise()) -
                      0.5 * output.variance_at(h)(0, 0) / noise());
    }
    const double expected = std::log(sum / kDraws);
    // Float solves with matrices of condition 1e5 leave 1e-4 in a mean, over a noise of 0.1.
    EXPECT_NEAR(bound.value()[i], expected, 2e-3 * (1.0 + std::abs(expected))) << "row " << i;
  }
}

TEST_F(TwoLayers, TheLawsAndTheirDensityAreTheirFormula) {
  const std::vector<float> draws(between.begin(), between.begin() + kDraws * kWidth);
  Graph<float> graph(values);
  const Var<float> in = graph.input(kRows, kInputs), target = graph.input(kRows, 1);
  std::ranges::copy(x, in.value().begin());
  std::ranges::copy(y, target.value().begin());
  const Var<float> laws = deep_gp_laws(body(), in, draws);
  const Var<float> density = deep_gp_log_density(laws, target);
  graph.forward();

  const Eigen::MatrixXd mean = hidden_mean(), variance = hidden_variance();
  const DenseGp output = dense(layers.output);
  for (std::size_t i = 0; i < kRows; ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < kDraws; ++k) {
      Eigen::MatrixXd h(1, kWidth);
      for (std::size_t j = 0; j < kWidth; ++j) {
        const auto r = static_cast<Eigen::Index>(i), c = static_cast<Eigen::Index>(j);
        h(0, c) = mean(r, c) +
                  std::sqrt(variance(r, c) + std::pow(sd_between(c), 2.0)) * draws[k * kWidth + j];
      }
      const double at = output.mean_at(h)(0, 0);
      const double spread = output.variance_at(h)(0, 0) + noise();
      const float* law = laws.value().data() + 2 * (k * kRows + i);
      EXPECT_NEAR(law[0], at, 1e-3);
      EXPECT_NEAR(law[1], spread, 1e-3);
      sum += std::exp(normal_log_density(y[i], at, spread));
    }
    const double expected = std::log(sum / kDraws);
    EXPECT_NEAR(density.value()[i], expected, 2e-3 * (1.0 + std::abs(expected)));
  }
}

TEST(PrincipalAxes, AreTheDirectionsOfLargestSpread) {
  // Along (3, 4) / 5 with sd 10, across with sd 1, in a third column nothing.
  Rng rng(Seed{2});
  std::vector<float> x;
  for (int i = 0; i < 2000; ++i) {
    const double a = 10.0 * rng.normal(), b = rng.normal();
    for (const double value : {0.6 * a - 0.8 * b, 0.8 * a + 0.6 * b, 0.0})
      x.push_back(static_cast<float>(value));
  }
  const std::vector<float> axes = principal_axes(x, 3, 2);
  const std::vector<double> expected = {0.6, 0.8, 0.8, -0.6, 0.0, 0.0};
  // The angle's standard error is 1 / (10 sqrt(2000)) = 0.0022.
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(axes[i], expected[i], 0.01);
}

const Params kQuick = Params::parse("epochs=3 inducing=16 width=3 draws=2 samples=9");

/// The means of the mixtures, one after the other.
std::vector<double> means(const DeepGp& model, MatrixView x) {
  std::vector<double> all;
  model.predict(x, {.threads = 1, .progress = {}},
                [&](std::size_t, const DeepGp::Mixture& mixture) {
                  all.insert(all.end(), mixture.mean.begin(), mixture.mean.end());
                });
  return all;
}

TEST(DeepGp, FitsRowsOfAnyNumberAndWidth) {
  for (const std::size_t rows : {1U, 2U, 5U, 40U}) {
    for (const std::size_t cols : {0U, 1U, 3U, 12U}) {
      const Sample sample = make_sample(rows, cols, Seed{4});
      const DeepGp model = fit_deep_gp(sample.data(), kQuick, Seed{1}, {});
      model.predict(sample.x, {}, [&](std::size_t, const DeepGp::Mixture& mixture) {
        for (std::size_t s = 0; s < mixture.mean.size(); ++s) {
          EXPECT_TRUE(std::isfinite(mixture.mean[s])) << rows << " x " << cols;
          EXPECT_GE(mixture.sd[s], rows > 1 ? 1e-9 : 0.0) << rows << " x " << cols;
        }
      });
    }
  }
}

TEST(DeepGp, WithoutColumnsItIsTheTargetsLaw) {
  const Sample sample = make_sample(50, 0, Seed{4}, 2.0);
  const DeepGp model = fit_deep_gp(sample.data(), kQuick, Seed{1}, {});
  const double mean = std::accumulate(sample.y.begin(), sample.y.end(), 0.0) / 50.0;
  double squares = 0.0;
  for (const double y : sample.y) squares += (y - mean) * (y - mean);
  model.predict(sample.x.view().middle_rows(0, 1), {},
                [&](std::size_t, const DeepGp::Mixture& mixture) {
                  ASSERT_EQ(mixture.mean.size(), 1U);
                  EXPECT_NEAR(mixture.mean[0], mean, 1e-12);
                  EXPECT_NEAR(mixture.sd[0], std::sqrt(squares / 50.0), 1e-12);
                });
}

TEST(DeepGp, HeavyRowsPullTheAnswerTheirWay) {
  // A step at 0, whose upper side weighs fifty times as much: at the step itself that side wins.
  Sample heavy = make_sample(60, 1, Seed{8});
  for (std::size_t i = 0; i < 60; ++i) {
    heavy.y[i] = heavy.x(i, 0) > 0.0 ? 1.0 : -1.0;
    heavy.weight.push_back(heavy.x(i, 0) > 0.0 ? 50.0 : 1.0);
  }
  Sample equal = heavy;
  equal.weight.clear();
  const Params longer = Params::parse("epochs=40 inducing=8 width=2 draws=2 samples=9 batch=20");
  const auto at_step = [&](const Sample& sample) {
    const Matrix zero(1, 1, 0.0);
    const auto all = means(fit_deep_gp(sample.data(), longer, Seed{1}, {}), zero);
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  };
  EXPECT_GT(at_step(heavy), at_step(equal) + 0.1);
}

TEST(DeepGp, FarAwayQueriesGetFiniteAnswers) {
  const Sample sample = make_sample(40, 2, Seed{4});
  const DeepGp model = fit_deep_gp(sample.data(), kQuick, Seed{1}, {});
  const Matrix far({1e300, -1e300, 1e18, 0.0}, 2, 2);
  for (const double mean : means(model, far)) EXPECT_TRUE(std::isfinite(mean));
}

TEST(DeepGp, OptionsOutsideTheirRangeAreRefused) {
  const Sample sample = make_sample(20, 1, Seed{4});
  for (const char* text : {"width=0", "width=101", "inducing=0", "inducing=1001", "draws=0",
                           "samples=0", "samples=many", "grid=all"}) {
    expect_error(ErrorCode::kInvalidArgument, "",
                 [&] { fit_deep_gp(sample.data(), Params::parse(text), Seed{1}, {}); });
  }
}

TEST(DeepGp, ALearningRateFarTooLargeStillGivesFiniteAnswers) {
  const Sample sample = make_sample(40, 1, Seed{4});
  const Params wild =
      Params::parse("learning_rate=10 epochs=30 batch=10 inducing=16 width=3 draws=2 samples=9");
  for (const double mean : means(fit_deep_gp(sample.data(), wild, Seed{1}, {}), sample.x))
    EXPECT_TRUE(std::isfinite(mean));
}

TEST(DeepGp, ADamagedFileIsRefused) {
  const Sample sample = make_sample(40, 2, Seed{4});
  TensorStore store;
  fit_deep_gp(sample.data(), kQuick, Seed{1}, {}).save(TensorWriter(store));
  EXPECT_NO_THROW(DeepGp::load(TensorReader(store)));
  const auto refused = [&](const std::function<void(TensorStore&)>& damage) {
    TensorStore damaged = store;
    damage(damaged);
    expect_error(ErrorCode::kCorruptFile, "", [&] { DeepGp::load(TensorReader(damaged)); });
  };
  for (const auto& [name, tensor] : store.tensors) {
    refused([&](TensorStore& s) { s.tensors.erase(name); });
    if (tensor.dtype != Dtype::kF32) continue;
    for (const float bad : {1e30F, std::nanf("")}) {
      SCOPED_TRACE(name);
      refused([&](TensorStore& s) {
        std::vector<float> values(tensor.bytes.size() / sizeof(float), bad);
        TensorWriter(s).tensor<float>(name, values, tensor.shape);
      });
    }
  }
  for (const char* name : {"points", "width", "samples"}) {
    refused([&](TensorStore& s) { s.values.at(name) = 1'000'000'000U; });
    refused([&](TensorStore& s) { s.values.at(name) = 7U; });
  }
  refused([](TensorStore& s) { s.values.at("spread") = -1.0; });
  refused([](TensorStore& s) { s.values.at("width") = 0U; });
}

}  // namespace
}  // namespace tare

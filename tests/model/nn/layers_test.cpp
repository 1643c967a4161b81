// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "model/nn/adam.h"
#include "model/nn/graph/operations.h"
#include "tare/base/error.h"

namespace tare::nn {
namespace {

using Build = std::function<Var<double>(Var<double> x)>;

std::vector<double> random_values(std::size_t count, std::uint64_t seed) {
  Rng rng(Seed{seed});
  std::vector<double> values(count);
  for (double& value : values) value = rng.uniform(-1.0, 1.0);
  return values;
}

/// The gradient of a network's mean square by all its parameters, against central differences.
void check_parameters(std::vector<double> parameters, std::size_t rows, std::size_t cols,
                      const Build& build) {
  std::vector<double> gradient(parameters.size(), 0.0);
  Graph<double> graph(parameters, gradient);
  const Var<double> x = graph.input(rows, cols);
  std::ranges::copy(random_values(rows * cols, 2), x.value().begin());
  const Var<double> loss = mean(square(build(x)));
  graph.forward();
  graph.backward(loss);
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const double center = parameters[k];
    parameters[k] = center + 1e-6;
    graph.forward();
    const double above = loss.value()[0];
    parameters[k] = center - 1e-6;
    graph.forward();
    const double below = loss.value()[0];
    parameters[k] = center;
    EXPECT_NEAR(gradient[k], (above - below) / 2e-6, 1e-8) << k;
  }
}

TEST(Mlp, GradientOfAllParametersIsThatOfDifferences) {
  for (const Unary activation : {Unary::kLeakyRelu, Unary::kSilu, Unary::kTanh}) {
    Layout layout;
    const std::size_t hidden[] = {5, 3};
    Mlp mlp(layout, 4, hidden, 2);
    mlp.activation = activation;
    std::vector<double> parameters(layout.size());
    Rng rng(Seed{1});
    mlp.initialise(std::span<double>(parameters), rng);
    check_parameters(parameters, 7, 4, [&](Var<double> x) { return mlp(x); });
  }
}

TEST(Lstm, GradientOfAllParametersIsThatOfDifferences) {
  Layout layout;
  const std::size_t units[] = {3, 2};
  const Lstm lstm(layout, 4, 2, units);
  std::vector<double> parameters(layout.size());
  Rng rng(Seed{1});
  lstm.initialise(std::span<double>(parameters), rng);
  check_parameters(parameters, 5, 8, [&](Var<double> x) { return lstm(x); });
}

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// One layer, one row, as in the textbook.
std::vector<double> naive_lstm(const LstmLayer& layer, std::span<const double> parameters,
                               const std::vector<std::vector<double>>& steps) {
  const std::size_t n = layer.recurrent.rows;
  const auto w = layer.input.of(parameters);
  const auto u = layer.recurrent.of(parameters);
  const auto b = layer.bias.of(parameters);
  std::vector<double> h(n, 0.0), c(n, 0.0);
  for (const auto& x : steps) {
    std::vector<double> gate(4 * n);
    for (std::size_t k = 0; k < 4 * n; ++k) {
      gate[k] = b[k];
      for (std::size_t j = 0; j < x.size(); ++j) gate[k] += x[j] * w[j * 4 * n + k];
      for (std::size_t j = 0; j < n; ++j) gate[k] += h[j] * u[j * 4 * n + k];
    }
    for (std::size_t j = 0; j < n; ++j) {
      c[j] = logistic(gate[n + j]) * c[j] + logistic(gate[j]) * std::tanh(gate[2 * n + j]);
      h[j] = logistic(gate[3 * n + j]) * std::tanh(c[j]);
    }
  }
  return h;
}

TEST(Lstm, IsTheTextbooksRecurrenceOldestStepFirst) {
  Layout layout;
  const std::size_t units[] = {6};
  const Lstm lstm(layout, 3, 2, units);
  const std::vector<double> parameters = random_values(layout.size(), 4);
  Graph<double> graph(parameters);
  const Var<double> x = graph.input(2, 6);
  std::ranges::copy(random_values(12, 5), x.value().begin());
  const Var<double> out = lstm(x);
  graph.forward();
  for (std::size_t row = 0; row < 2; ++row) {
    const auto at = [&](std::size_t j) { return x.value()[row * 6 + j]; };
    const auto expected =
        naive_lstm(lstm.layers[0], parameters, {{at(0), at(1)}, {at(2), at(3)}, {at(4), at(5)}});
    for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(out.value()[row * 6 + j], expected[j], 1e-14);
  }
}

TEST(Dropout, IsForTrainingOnly) {
  Layout layout;
  const std::size_t hidden[] = {50};
  Mlp mlp(layout, 1, hidden, 1);
  mlp.dropout_rate = 0.5;
  const std::vector<double> parameters = random_values(layout.size(), 6);
  Graph<double> graph(parameters);
  Rng rng(Seed{1});
  const Var<double> x = graph.input(1, 1);
  x.value()[0] = 1.0;
  const Var<double> noisy = mlp(x, &rng);
  const Var<double> plain = mlp(x);
  graph.forward();
  const double first = noisy.value()[0], exact = plain.value()[0];
  graph.forward();
  EXPECT_NE(noisy.value()[0], first);
  EXPECT_EQ(plain.value()[0], exact);
}

TEST(Activation, NamesAreReadAndAnUnknownOneIsAnError) {
  for (const char* name : {"leaky_relu", "relu", "silu", "tanh", "sigmoid"}) {
    EXPECT_EQ(name_of_activation(activation_by_name(name)), name);
  }
  EXPECT_EQ(activation_by_name("Leaky-ReLU"), Unary::kLeakyRelu);
  EXPECT_THROW(activation_by_name("step"), Error);
}

TEST(Adam, FollowsItsDefinition) {
  const AdamOptions options{.learning_rate = 0.01, .weight_decay = 0.1};
  constexpr std::size_t kCount = 37;
  Adam adam(kCount, options);
  std::vector<float> values(kCount, 1.0F), gradient(kCount);
  std::vector<double> expected(kCount, 1.0), m(kCount, 0.0), v(kCount, 0.0);
  Rng rng(Seed{3});
  for (int t = 1; t <= 200; ++t) {
    for (std::size_t i = 0; i < kCount; ++i) {
      gradient[i] = static_cast<float>(i == 0 ? 0.0 : rng.normal() + 0.3);
      const double g = gradient[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const double step =
          m[i] / (1.0 - std::pow(0.9, t)) / (std::sqrt(v[i] / (1.0 - std::pow(0.999, t))) + 1e-8);
      expected[i] = expected[i] * (1.0 - 0.01 * 0.1) - 0.01 * step;
    }
    adam.step(values, gradient);
  }
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_NEAR(values[i], expected[i], 2e-5);
}

}  // namespace
}  // namespace tare::nn

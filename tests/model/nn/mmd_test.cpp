// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/mmd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/nn/gradient_check.h"
#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

const std::vector<double> kBandwidths = {0.3, 1.0, 2.5};

/// Pair by pair, from the definition.
double by_definition(const std::vector<double>& a, const std::vector<double>& b,
                     const std::vector<double>& weight) {
  const auto kernel = [](double u, double v) {
    double k = 0.0;
    for (const double h : kBandwidths) k += std::exp(-(u - v) * (u - v) / (2.0 * h * h)) / 3.0;
    return k;
  };
  double sum = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      const double w = weight[i] * weight[j];
      sum += w * (kernel(a[i], a[j]) - 2.0 * kernel(a[i], b[j]) + kernel(b[i], b[j]));
      total += w;
    }
  }
  return sum / total;
}

std::vector<double> normals(std::size_t count, std::uint64_t seed) {
  Rng rng(Seed{seed});
  std::vector<double> values(count);
  for (double& value : values) value = rng.normal();
  return values;
}

template <class T>
Var<T> filled(Graph<T>& graph, const std::vector<double>& values) {
  const Var<T> node = graph.input(values.size(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) node.value()[i] = static_cast<T>(values[i]);
  return node;
}

TEST(SquaredMmd, IsItsDefinition) {
  const auto a = normals(20, 1);
  const auto b = normals(20, 2);
  std::vector<double> weight;
  for (const double v : normals(20, 3)) weight.push_back(0.1 + v * v);
  Graph<double> graph({});
  const auto plain = squared_mmd(filled(graph, a), filled(graph, b), kBandwidths);
  const auto weighted =
      squared_mmd(filled(graph, a), filled(graph, b), kBandwidths, filled(graph, weight));
  graph.forward();
  // Sums of 400 numbers of size 1 in double.
  EXPECT_NEAR(plain.value()[0], by_definition(a, b, std::vector<double>(20, 1.0)), 1e-14);
  EXPECT_NEAR(weighted.value()[0], by_definition(a, b, weight), 1e-14);
}

TEST(SquaredMmd, GradientsAreRight) {
  check_gradient({{6, 1}, {6, 1}},
                 [](const Inputs& in) { return squared_mmd(in[0], in[1], kBandwidths); });
  check_gradient(
      {{6, 1}, {6, 1}, {6, 1}},
      [](const Inputs& in) { return squared_mmd(in[0], in[1], kBandwidths, in[2]); }, 0.5, 2.0);
}

TEST(SquaredMmd, IsZeroForTheSameSetAndNotForAnother) {
  const auto a = normals(30, 4);
  std::vector<double> shifted = a;
  for (double& value : shifted) value += 0.5;
  Graph<double> graph({});
  const auto same = squared_mmd(filled(graph, a), filled(graph, a), kBandwidths);
  const auto other = squared_mmd(filled(graph, a), filled(graph, shifted), kBandwidths);
  graph.forward();
  EXPECT_NEAR(same.value()[0], 0.0, 1e-15);
  EXPECT_GT(other.value()[0], 0.01);
}

// The paper's case against matching distributions: rows' laws can be handed to the wrong rows and
// the loss does not notice.
TEST(SquaredMmd, IsBlindToWhichLawBelongsToWhichRow) {
  constexpr std::size_t kRows = 128;
  Graph<double> graph({});
  const auto mean = graph.input(kRows, 1);
  const auto sd = graph.input(kRows, 1);
  const auto draw = filled(graph, normals(kRows, 5));
  const auto y = graph.input(kRows, 1);
  std::vector<double> center(kRows);
  std::vector<double> spread(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    center[i] = static_cast<double>(i) / 16.0 - 4.0;
    spread[i] = 0.1 + static_cast<double>(i % 7) / 7.0;
    y.value()[i] = center[i];
  }
  const auto loss = squared_mmd(mean + sd * draw, y, kBandwidths);
  const auto loss_in_order = [&](const std::vector<std::size_t>& order) {
    const auto noise = normals(kRows, 5);
    for (std::size_t i = 0; i < kRows; ++i) {
      mean.value()[i] = center[order[i]];
      sd.value()[i] = spread[order[i]];
      draw.value()[i] = noise[order[i]];
    }
    graph.forward();
    return loss.value()[0];
  };
  std::vector<std::size_t> order(kRows);
  for (std::size_t i = 0; i < kRows; ++i) order[i] = i;
  const double right = loss_in_order(order);
  Rng rng(Seed{6});
  for (int trial = 0; trial < 5; ++trial) {
    shuffle(std::span<std::size_t>(order), rng);
    // The same numbers in another order of summation: 16,384 of size 1, of which the mean is taken.
    EXPECT_NEAR(loss_in_order(order), right, 1e-13);
  }
  EXPECT_GT(right, 1e-4);  // it is not 0 throughout
}

}  // namespace
}  // namespace tare::nn

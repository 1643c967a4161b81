// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "model/nn/graph/graph.h"
#include "model/nn/graph/operations.h"
#include "tare/base/rng.h"

namespace tare::nn {

struct ShapeOf {
  std::size_t rows;
  std::size_t cols;
};

using Inputs = std::vector<Var<double>>;
using Expression = std::function<Var<double>(const Inputs&)>;

/// Compares the gradient of sum(expression * fixed random weights) by every element of every input
/// with central differences in double. A step of 1e-6 leaves errors of about 1e-10 from rounding
/// and 1e-12 from curvature, in units of the function; 1e-7 is a wrong formula's distance away from
/// both. Inputs are drawn in [low, high].
inline void check_gradient(const std::vector<ShapeOf>& shapes, const Expression& expression,
                           double low = -2.0, double high = 2.0) {
  Graph<double> graph({});
  Inputs inputs;
  Rng rng(Seed{17});
  for (const ShapeOf& shape : shapes) {
    inputs.push_back(graph.variable(shape.rows, shape.cols));
    for (double& value : inputs.back().value()) value = rng.uniform(low, high);
  }
  const Var<double> result = expression(inputs);
  const Var<double> weight = graph.input(result.rows(), result.cols());
  for (double& value : weight.value()) value = rng.uniform(0.5, 1.5);
  const Var<double> loss = sum(result * weight);
  graph.forward();
  graph.backward(loss);
  std::vector<std::vector<double>> gradients;
  for (const auto& input : inputs)
    gradients.emplace_back(input.gradient().begin(), input.gradient().end());

  constexpr double kStep = 1e-6;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    for (std::size_t i = 0; i < gradients[k].size(); ++i) {
      double& element = inputs[k].value()[i];
      const double center = element;
      element = center + kStep;
      graph.forward();
      const double above = loss.value()[0];
      element = center - kStep;
      graph.forward();
      const double below = loss.value()[0];
      element = center;
      const double expected = (above - below) / (2.0 * kStep);
      EXPECT_NEAR(gradients[k][i], expected, 1e-7 * std::max(1.0, std::abs(expected)))
          << "input " << k << ", element " << i;
    }
  }
}

}  // namespace tare::nn

// SPDX-License-Identifier: BSD-3-Clause
// Times one training step (load a minibatch, forward, mean squared error, backward, Adam) on one
// thread and prints a JSON line for each case: nn_bench [KIND LAYERS BATCH], such as nn_bench mlp
// 20,20 64. Without arguments: all cases.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "model/nn/adam.h"
#include "model/nn/graph/operations.h"
#include "model/nn/layers.h"
#include "model/nn/stored_network.h"
#include "tare/base/error.h"

namespace {

using tare::Rng;
using tare::Seed;
using namespace tare::nn;

constexpr std::size_t kMlpInputs = 8;
constexpr std::size_t kWindow = 5;
constexpr std::size_t kSeriesInputs = 11;
constexpr std::size_t kRows = 4096;

struct Case {
  std::string kind;
  std::string layers;
  std::size_t batch;
};

const Case kCases[] = {{"mlp", "20,20", 10}, {"mlp", "20,20", 64}, {"mlp", "20,20", 128},
                       {"mlp", "64,64", 10}, {"mlp", "64,64", 64}, {"mlp", "64,64", 128},
                       {"lstm", "40,40", 64}};

/// The best of many means over a few milliseconds each, in microseconds: what the machine can do
/// undisturbed. Windows are shorter than the time a busy machine leaves a process alone.
double time_steps(const std::function<void()>& step) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [&](std::size_t steps) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < steps; ++i) step();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  seconds(100);
  const auto steps = static_cast<std::size_t>(std::max(1.0, 3e-3 / (seconds(100) / 100.0)));
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 200; ++repeat)
    best = std::min(best, seconds(steps) / static_cast<double>(steps));
  return 1e6 * best;
}

double time_case(const Case& what) {
  const bool series = what.kind == "lstm";
  const std::vector<std::size_t> units = parse_units("LAYERS", what.layers);
  const std::size_t cols = series ? kWindow * kSeriesInputs : kMlpInputs;
  Layout layout;
  std::vector<Mlp> mlp;
  std::vector<Lstm> lstm;
  std::vector<Dense> head;
  if (series) {
    lstm.emplace_back(layout, kWindow, kSeriesInputs, units);
    head.emplace_back(layout, units.back(), 1);
  } else {
    mlp.emplace_back(layout, cols, units, 1);
  }
  std::vector<float> values(layout.size());
  std::vector<float> gradient(layout.size());
  std::vector<float> data(kRows * (cols + 1));
  Rng rng(Seed{1});
  for (const Mlp& one : mlp) one.initialise(std::span<float>(values), rng);
  for (const Lstm& one : lstm) one.initialise(std::span<float>(values), rng);
  for (const Dense& one : head) one.initialise(std::span<float>(values), rng);
  for (float& value : data) value = static_cast<float>(rng.normal());

  Graph<float> graph(values, gradient);
  const Var<float> x = graph.input(what.batch, cols);
  const Var<float> y = graph.input(what.batch, 1);
  const Var<float> loss = mean(square((series ? head[0](lstm[0](x)) : mlp[0](x)) - y));
  Adam adam(layout.size(), {});
  return time_steps([&] {
    for (std::size_t i = 0; i < what.batch; ++i) {
      const float* row = data.data() + rng.below(kRows) * (cols + 1);
      std::copy_n(row, cols, x.value().data() + i * cols);
      y.value()[i] = row[cols];
    }
    std::ranges::fill(gradient, 0.0F);
    graph.forward();
    graph.backward(loss);
    adam.step(values, gradient);
  });
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  if (argc == 4) cases = {{argv[1], argv[2], std::stoul(argv[3])}};
  if (argc != 1 &&
      (argc != 4 || (cases[0].kind != "mlp" && cases[0].kind != "lstm") || cases[0].batch == 0)) {
    std::fputs("usage: nn_bench [mlp|lstm LAYERS BATCH]\n", stderr);
    return 2;
  }
  try {
    for (const Case& one : cases) {
      const nlohmann::json line = {{"kind", one.kind},
                                   {"layers", one.layers},
                                   {"batch", one.batch},
                                   {"microseconds", time_case(one)}};
      std::cout << line.dump() << std::endl;
    }
  } catch (const tare::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
  return 0;
}

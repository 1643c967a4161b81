// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>

#include "tare/base/params.h"

namespace tare::nn {

// Options that several networks have, listed once; join_options puts a network's list together.

inline constexpr std::array kBodyOptions = std::to_array<ParamInfo>({
    {"hidden", "20,20", "units of each hidden layer"},
    {"activation", "leaky_relu", "leaky_relu (0.2 below zero), relu, silu, tanh or sigmoid"},
});

/// What FitOptions reads.
constexpr auto training_options(std::string_view learning_rate, std::string_view batch = "64") {
  return std::to_array<ParamInfo>({
      {"learning_rate", learning_rate, "step size of Adam", "0.01,0.005,0.001"},
      {"batch", batch, "rows of a minibatch", "10,64,128"},
      {"epochs", "1000", "passes over the rows, at most"},
      {"patience", "20", "epochs without a better validation loss after which training stops"},
      {"weight_decay", "0", "share of the weights, times learning_rate, that each step takes away"},
      {"validation", "0.15", "share of the rows that decide when to stop"},
      {"grid", "none",
       "paper: try learning rates 0.01, 0.005, 0.001 and batches 10, 64, 128 on the "
       "validation rows; one that is given stays"},
  });
}

}  // namespace tare::nn

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "model/nn/options.h"
#include "tare/model/regressor.h"

namespace tare {

inline constexpr auto kLstmOptions = join_options(
    std::to_array<ParamInfo>({
        {"window", "auto",
         "number of time steps that a row contains, oldest first; auto: 5 if the number of columns "
         "is a multiple of 5, else 1"},
        {"units", "40,40", "cells of each layer"},
        {"dropout", "0", "share of the hidden states that are left out at random in training"},
    }),
    nn::training_options("0.005"));

/// A recurrent network on windows of a series: columns 0, ..., c - 1 of a row are the oldest step,
/// the next c columns the one after it, and so on, with c = columns / window. LSTM layers that
/// start from a zero state; the last hidden state goes through a linear layer. Inputs and target
/// are standardised inside; training and prediction are in float. kInvalidArgument where the
/// columns are not a multiple of a window that is given.
std::unique_ptr<Regressor> fit_lstm(const RegressionData& data, const Params& params, Seed seed,
                                    const Execution& how);
std::unique_ptr<Regressor> load_lstm(const TensorReader& in);

/// The option `window` for rows with this many columns. kInvalidArgument where they are not a
/// multiple of a window that is given.
std::size_t lstm_window(const Params& params, std::size_t cols);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "tare/model/regressor.h"

namespace tare {

inline constexpr ParamInfo kLstmOptions[] = {
    {"window", "auto",
     "steps that lie side by side in a row, oldest first; auto: 5 where the number of "
     "columns is a multiple of 5, else 1"},
    {"units", "40,40", "cells of each layer"},
    {"learning_rate", "0.005", "step size of Adam"},
    {"batch", "64", "rows of a minibatch"},
    {"epochs", "1000", "passes over the rows, at most"},
    {"patience", "20", "epochs without a better validation loss after which training stops"},
    {"weight_decay", "0", "share of the weights, times learning_rate, that each step takes away"},
    {"dropout", "0", "share of the hidden states that are left out at random in training"},
    {"validation", "0.15", "share of the rows that decide when to stop"},
    {"grid", "none",
     "paper: try learning rates 0.01, 0.005, 0.001 and batches 10, 64, 128 on the "
     "validation rows; one that is given stays"},
};

/// A recurrent network on windows of a series: columns 0, ..., c - 1 of a row are the oldest step,
/// the next c columns the one after it, and so on, with c = columns / window. LSTM layers that
/// start from a zero state; the last hidden state goes through a linear layer. Inputs and target
/// are standardised inside; training and prediction are in float. kInvalidArgument where the
/// columns are not a multiple of a window that is given.
std::unique_ptr<Regressor> fit_lstm(const RegressionData& data, const Params& params, Seed seed,
                                    const Execution& how);
std::unique_ptr<Regressor> load_lstm(const TensorReader& in);

}  // namespace tare

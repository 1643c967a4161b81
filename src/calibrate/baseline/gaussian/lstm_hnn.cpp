// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/lstm_hnn.h"

#include <string>

#include "calibrate/baseline/gaussian/gaussian_model.h"
#include "data/rows.h"
#include "model/gaussian/gaussian_training.h"

namespace tare {
namespace {

constexpr auto kLstmHnnOptions =
    join_options(std::to_array<ParamInfo>({
                     {"window", "auto",
                      "number of time steps that a row contains, oldest first; auto: the window of "
                      "the series, else 5 if the number of columns is a multiple of 5, else 1"},
                     {"units", "40,40", "cells of each layer"},
                 }),
                 kGaussianDropout, kGaussianOptions, nn::training_options("0.005"));

}  // namespace

std::span<const ParamInfo> lstm_hnn_options() { return kLstmHnnOptions; }

std::unique_ptr<QuantileModel> fit_lstm_hnn(const FitInput& input, const Params& given,
                                            const Execution& how) {
  Params params = given;
  if (input.window > 1 && params.text("window", "auto") == "auto")
    params.set("window", std::to_string(input.window));
  const TrainingRows rows(input, all_rows(input.x.rows()));
  const GaussianOptions options = GaussianOptions::recurrent(params, rows.x.cols());
  return std::make_unique<GaussianModel<GaussianNetwork>>(
      input.x.cols(), ModelColumns(input.model_columns),
      fit_gaussian_network(rows.data(), options, input.seed, how));
}

std::unique_ptr<QuantileModel> load_lstm_hnn(const TensorReader& in) {
  return GaussianModel<GaussianNetwork>::load(in);
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "model/network/lstm.h"

#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "io/tensor_store.h"
#include "model/input/fit_input.h"
#include "model/nn/layers.h"
#include "model/nn/regression.h"
#include "model/nn/scaling.h"
#include "model/nn/stored_network.h"

namespace tare {
namespace {

constexpr std::size_t kUsualWindow = 5;  // the paper's

// The middle of the paper's three rates: lowest error within the training period of bike_sharing,
// though by less than seeds differ (see Division in nn/regression.cpp).
constexpr double kLstmRate = 5e-3;

struct LstmShape {
  std::size_t features = 0;
  std::size_t window = 1;
  std::vector<std::size_t> units;
  double dropout = 0.0;
};

/// The layers of a shape: they hold offsets of parameters, not values.
struct Layers {
  explicit Layers(const LstmShape& shape)
      : lstm(layout, shape.window, shape.features / shape.window, shape.units),
        head(layout, shape.units.back(), 1) {
    lstm.dropout_rate = shape.dropout;
  }

  nn::Network network() const {
    nn::Network network;
    network.parameters = layout.size();
    network.initialise = [this](std::span<float> values, Rng& rng) {
      lstm.initialise(values, rng);
      head.initialise(values, rng);
    };
    network.output = [this](nn::Var<float> x, Rng* noise) { return head(lstm(x, noise)); };
    return network;
  }

  /// visit(name of the part, name of the tensor, block) in the order of the layout.
  template <class Visit>
  void each_block(Visit visit) const {
    for (std::size_t k = 0; k < lstm.layers.size(); ++k) {
      const std::string part = "layer" + std::to_string(k);
      visit(part, "input", lstm.layers[k].input);
      visit(part, "recurrent", lstm.layers[k].recurrent);
      visit(part, "bias", lstm.layers[k].bias);
    }
    visit(std::string("head"), "weight", head.weight);
    visit(std::string("head"), "bias", head.bias);
  }

  nn::Layout layout;
  nn::Lstm lstm;
  nn::Dense head;
};

class LstmRegressor final : public Regressor {
 public:
  LstmRegressor(const LstmShape& shape, nn::Scaling scaling, nn::Fitted fitted)
      : shape_(shape), layers_(shape), scaling_(std::move(scaling)), fitted_(std::move(fitted)) {}

  std::size_t features() const override { return scaling_.features(); }

  void predict(MatrixView x, std::span<double> out, const Execution& how) const override {
    check_query("lstm", features(), x, out);

    nn::evaluate_rows(layers_.network(), fitted_.result.parameters, scaling_, x, how,
                      [&](std::size_t i, std::span<const float> value) {
                        out[i] = scaling_.restore_target(value[0]);
                      });
  }

  void save(const TensorWriter& out) const override {
    out.value("window", shape_.window);
    out.value("units", shape_.units);
    scaling_.save(out);
    nn::save_training(fitted_, out);
    layers_.each_block([&](const std::string& part, std::string_view name, const nn::Block& block) {
      nn::save_block(fitted_.result.parameters, block, name, out.part(part));
    });
  }

 private:
  LstmShape shape_;
  Layers layers_;
  nn::Scaling scaling_;
  nn::Fitted fitted_;
};

}  // namespace

std::size_t lstm_window(const Params& params, std::size_t cols) {
  if (params.text("window", "auto") == "auto") return cols % kUsualWindow == 0 ? kUsualWindow : 1;
  const std::size_t window = params.count("window", kUsualWindow, 1, 10'000);
  if (cols % window != 0) {
    fail(ErrorCode::kInvalidArgument,
         "lstm: {} columns are not a multiple of window={} (a row holds the window's steps side by "
         "side)",
         cols, window);
  }
  return window;
}

std::unique_ptr<Regressor> fit_lstm(const RegressionData& data, const Params& params, Seed seed,
                                    const Execution& how) {
  check_fit_input("lstm", data, params, kLstmOptions);
  const nn::FitOptions options(params, kLstmRate);
  LstmShape shape;
  shape.features = data.x.cols();
  shape.window = lstm_window(params, data.x.cols());
  shape.units = nn::parse_units("units", params.text("units", "40,40"));
  nn::check_step_layers(shape.window, shape.units.size(), ErrorCode::kInvalidArgument);
  shape.dropout = params.number("dropout", 0.0, 0.0, 0.95);

  nn::Scaling scaling(data);
  const Layers layers(shape);
  nn::Fitted fitted;
  if (nn::is_trivial(data)) {
    fitted = nn::constant_network(layers.layout.size());
  } else {
    const nn::ScaledRows rows(data, scaling);
    fitted = nn::fit_least_squares(layers.network(), rows, options, seed, how, "lstm");
  }
  return std::make_unique<LstmRegressor>(shape, std::move(scaling), std::move(fitted));
}

std::unique_ptr<Regressor> load_lstm(const TensorReader& in) {
  nn::Scaling scaling(in);
  LstmShape shape;
  shape.features = scaling.features();
  shape.window = in.count("window", 10'000);
  shape.units = nn::load_units("units", in);
  if (shape.window == 0 || shape.features % shape.window != 0) {
    fail(ErrorCode::kCorruptFile, "the model file's lstm has {} columns for a window of {}",
         shape.features, shape.window);
  }
  nn::check_step_layers(shape.window, shape.units.size(), ErrorCode::kCorruptFile);
  nn::Fitted fitted = nn::load_training(in);
  Layers(shape).each_block(
      [&](const std::string& part, std::string_view name, const nn::Block& block) {
        nn::load_block(in.part(part), name, block, fitted.result.parameters);
      });
  return std::make_unique<LstmRegressor>(shape, std::move(scaling), std::move(fitted));
}

}  // namespace tare

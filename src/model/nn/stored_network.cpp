// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/stored_network.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "base/fail.h"
#include "base/strings.h"
#include "io/tensor_store.h"
#include "model/nn/layers.h"

namespace tare::nn {

std::vector<std::size_t> parse_units(std::string_view option, std::string_view text) {
  std::vector<std::size_t> units;
  for (const std::string& part : split_text(text, ',')) {
    const auto count = parse_count(trim(part));
    if (!count || *count == 0 || *count > kMaxUnits || units.size() == kMaxLayers) {
      fail_option(option, text,
                  fmt::format("must be the units of at most {} layers, each from 1 to {}, such as "
                              "20,20",
                              kMaxLayers, kMaxUnits));
    }
    units.push_back(*count);
  }
  return units;
}

std::vector<std::size_t> load_units(std::string_view name, const TensorReader& in) {
  const auto units = in.get<std::vector<std::size_t>>(name);
  const auto sound = [](std::size_t count) { return count >= 1 && count <= kMaxUnits; };
  // One layer more than the options allow: `embed` adds one.
  if (units.empty() || units.size() > kMaxLayers + 1 || !std::ranges::all_of(units, sound)) {
    fail(ErrorCode::kCorruptFile, "the model file's network has impossible layers");
  }
  return units;
}

Unary load_activation(const TensorReader& in) {
  const auto name = in.get<std::string>("activation");
  try {
    return activation_by_name(name);
  } catch (const Error& error) {
    fail(ErrorCode::kCorruptFile, "the model file's network: {}", error.what());
  }
}

void save_training(const Fitted& fitted, const TensorWriter& out) {
  out.value("learning_rate", fitted.result.learning_rate);
  out.value("batch", fitted.batch);
  out.value("best_epoch", fitted.result.best_epoch);
  out.value("epochs", fitted.result.epochs);
  out.value("validation_loss", fitted.result.validation_loss);
}

Fitted load_training(const TensorReader& in) {
  constexpr std::size_t kAny = 1'000'000;
  Fitted fitted;
  fitted.result.learning_rate = in.get<double>("learning_rate");
  fitted.batch = in.count("batch", kAny);
  fitted.result.best_epoch = in.count("best_epoch", kAny);
  fitted.result.epochs = in.count("epochs", kAny);
  fitted.result.validation_loss = in.get<double>("validation_loss");
  return fitted;
}

void save_block(std::span<const float> parameters, const Block& block, std::string_view name,
                const TensorWriter& out) {
  out.tensor(name, block.of(parameters), {block.rows, block.cols});
}

void load_block(const TensorReader& in, std::string_view name, const Block& block,
                std::vector<float>& parameters) {
  assert(block.offset == parameters.size() && "blocks are read in their order");
  const auto values = in.tensor<float>(name, {block.rows, block.cols});
  if (!std::ranges::all_of(values.span(), [](float value) { return std::isfinite(value); })) {
    fail(ErrorCode::kCorruptFile, "the model file's network has a weight that is not finite");
  }
  parameters.insert(parameters.end(), values.span().begin(), values.span().end());
}

bool is_trivial(const RegressionData& data) {
  return data.x.cols() == 0 ||
         std::ranges::all_of(data.y, [&](double y) { return y == data.y[0]; });
}

Fitted constant_network(std::size_t parameters) {
  Fitted fitted;
  fitted.result.parameters.assign(parameters, 0.0F);
  return fitted;
}

}  // namespace tare::nn

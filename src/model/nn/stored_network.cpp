// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/stored_network.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>

#include "base/fail.h"
#include "base/strings.h"
#include "io/tensor_store.h"
#include "model/nn/layers.h"

namespace tare::nn {
namespace {

std::size_t units_together(std::span<const std::size_t> units) {
  return std::accumulate(units.begin(), units.end(), std::size_t{0});
}

}  // namespace

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
  if (units_together(units) > kMaxUnitsTogether) {
    fail_option(option, text, fmt::format("must have at most {} units in all", kMaxUnitsTogether));
  }
  return units;
}

std::vector<std::size_t> load_units(std::string_view name, const TensorReader& in) {
  std::vector<std::size_t> units = in.counts(name, kMaxUnits);
  // One layer more than the options allow: `embed` adds one.
  if (units.empty() || units.size() > kMaxLayers + 1 || std::ranges::count(units, 0U) > 0 ||
      units_together(units) > kMaxUnitsTogether) {
    fail(ErrorCode::kCorruptFile, "the model file's network has impossible layers");
  }
  return units;
}

void check_step_layers(std::size_t window, std::size_t layers, ErrorCode code) {
  if (window == 0 || layers <= kMaxStepLayers / window) return;
  fail(code, {.remedies = {{"a smaller", "window", "", ""}, {"fewer", "units", "", ""}}},
       "a recurrent network of {} layers on a window of {} steps has more than {} states", layers,
       window, kMaxStepLayers);
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
  const auto values = in.tensor<float>(name, {block.rows, block.cols}, Must::kBeFinite);
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

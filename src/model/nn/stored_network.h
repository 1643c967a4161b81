// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "model/nn/graph/parameters.h"
#include "model/nn/kernels/kernels.h"
#include "model/nn/regression.h"
#include "tare/base/error.h"
#include "tare/model/regressor.h"

namespace tare {
class TensorReader;
class TensorWriter;
}  // namespace tare

namespace tare::nn {

// What network regressors share when they read options and model files. Whatever does not fit is
// kCorruptFile in a file and kInvalidArgument in an option.

inline constexpr std::size_t kMaxUnits = 4096;
inline constexpr std::size_t kMaxLayers = 64;
/// Of all layers together: a network on levels is evaluated at 203 of them at once.
inline constexpr std::size_t kMaxUnitsTogether = 65'536;

/// "20,20": from one to kMaxLayers layers of 1 to kMaxUnits units.
std::vector<std::size_t> parse_units(std::string_view option, std::string_view text);
std::vector<std::size_t> load_units(std::string_view name, const TensorReader& in);
Unary load_activation(const TensorReader& in);

/// Steps times layers of a recurrent network, each of which takes memory of its own at prediction:
/// a window of 10,000 and the usual two layers, three times over. Throws an Error of this code
/// above that.
inline constexpr std::size_t kMaxStepLayers = 60'000;
void check_step_layers(std::size_t window, std::size_t layers, ErrorCode code);

/// The record of how a network was trained; its parameters go block by block.
void save_training(const Fitted& fitted, const TensorWriter& out);
Fitted load_training(const TensorReader& in);

void save_block(std::span<const float> parameters, const Block& block, std::string_view name,
                const TensorWriter& out);
/// Appends a block, whose tensor must have its shape and finite values. Memory grows with the
/// actual size of the file, not with the size it states.
void load_block(const TensorReader& in, std::string_view name, const Block& block,
                std::vector<float>& parameters);

/// Nothing to learn: no columns, or a target that does not vary.
bool is_trivial(const RegressionData& data);
/// All parameters 0: the answer is the mean of the target, exactly.
Fitted constant_network(std::size_t parameters);

}  // namespace tare::nn

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/error.h"
#include "tare/base/rng.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// Files that differ from `whole` by one bit of a tensor whose name begins with `prefix`: a file
/// can be wrong and have the right checksum. Each is refused as corrupt, or answers in order.
/// Returns how many were refused.
inline std::size_t expect_flipped_bits_survived(
    const TensorStore& whole, std::string_view prefix, int trials, const Rows& rows,
    std::span<const Level> levels,
    const std::function<std::unique_ptr<QuantileModel>(const TensorReader&)>& load) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : whole.tensors) {
    if (name.starts_with(prefix) && tensor.bytes.size() > 0) names.push_back(name);
  }
  EXPECT_GE(names.size(), 1U);
  if (names.empty()) return 0;
  Rng rng(Seed{9});
  std::size_t refused = 0;
  for (int trial = 0; trial < trials; ++trial) {
    TensorStore store = whole;
    Tensor& tensor = store.tensors[names[rng.below(names.size())]];
    std::vector<std::byte> bytes(tensor.bytes.span().begin(), tensor.bytes.span().end());
    bytes[rng.below(bytes.size())] ^= static_cast<std::byte>(1U << rng.below(8));
    tensor.bytes = Buffer<std::byte>(bytes);
    try {
      const Prediction p = load(TensorReader(store))->predict(rows, levels);
      for (std::size_t i = 0; i < p.quantiles.rows(); ++i) {
        EXPECT_TRUE(std::ranges::is_sorted(p.quantiles.row(i)));
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorruptFile) << error.what();
      ++refused;
    }
  }
  return refused;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"

namespace tare {

/// How x becomes fewer features. kEmbedding is the point model's own last hidden layer, which is
/// applied before the map.
enum class Reducer : std::uint8_t { kNone, kProjection, kCorrelation, kEmbedding };
Reducer parse_reducer(std::string_view name);

enum class Scale : std::uint8_t { kStandard, kNone };
Scale parse_scale(std::string_view name);

struct FeatureMapOptions {
  Reducer reducer = Reducer::kNone;
  std::size_t dims =
      4;  // d0: features left after reduction; nothing is reduced when there are no more than that
  Scale scale = Scale::kStandard;
  std::vector<std::size_t> columns;  // columns of x to start from; empty: all
};

/// From x to the features z on which the kernel measures distance: choose columns, standardise,
/// project. The model keeps one object for both calibration rows and queries, because two different
/// random projections are not comparable.
class FeatureMap {
 public:
  /// Learns scales, and for kCorrelation the columns, on the given rows of x.
  static FeatureMap fit(MatrixView x, std::span<const double> y, std::span<const std::size_t> rows,
                        const FeatureMapOptions& options, Seed seed);

  std::size_t inputs() const noexcept { return inputs_; }
  std::size_t dims() const noexcept {
    return projection_.cols() > 0 ? projection_.cols() : columns_.size();
  }
  /// Columns of x that it starts from, ascending.
  std::span<const std::size_t> columns() const noexcept { return columns_; }
  Matrix apply(MatrixView x) const;

  void save(const TensorWriter& out) const;
  static FeatureMap load(const TensorReader& in);

 private:
  std::size_t inputs_ = 0;            // columns of x
  std::vector<std::size_t> columns_;  // of x, ascending
  std::vector<double> center_;        // one per entry of columns_
  std::vector<double> scale_;
  Matrix projection_;  // columns_.size() x d0, or empty
};

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "calibrate/features/feature_map.h"
#include "index/brute_force.h"
#include "index/kd_tree.h"
#include "io/tensor_store.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/prediction.h"

namespace tare {

/// A sample of the standardised rows of a fit, and the distance to the nearest of them that 99 % of
/// new rows do not exceed (support_radius). For models whose kernel does not use all features on
/// which the answer depends.
class SupportRows {
 public:
  /// At most 2,048 rows, at equal steps.
  static SupportRows learn(MatrixView x, const Execution& how);

  std::size_t inputs() const noexcept { return map_.inputs(); }
  /// Sets Prediction::nearest and outside.
  void judge(MatrixView x, const Execution& how, Prediction& result) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static SupportRows load(const TensorReader& in);

 private:
  /// Made when it is first asked.
  struct Tree {
    std::once_flag once;
    std::unique_ptr<const KdTree> tree;
  };
  const KdTree& tree() const;

  FeatureMap map_;
  BruteForce rows_;
  double radius_ = 0.0;
  std::unique_ptr<Tree> tree_ = std::make_unique<Tree>();
};

}  // namespace tare

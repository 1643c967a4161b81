// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/data/problem.h"

namespace tare {

/// The quantiles a perfect forecaster gives at the rows of x.
inline Matrix true_quantiles(const Problem& problem, MatrixView x, std::span<const Level> levels) {
  Matrix q(x.rows(), levels.size());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const Law law = problem.law(x.row(i));
    for (std::size_t j = 0; j < levels.size(); ++j) q(i, j) = law.quantile(levels[j].value());
  }
  return q;
}

}  // namespace tare

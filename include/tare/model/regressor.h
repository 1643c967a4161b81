// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/matrix.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"

namespace TARE_PUBLIC tare {

class TensorReader;
class TensorWriter;

/// Training data of a point model. Values are finite; weights are positive, or there are none.
struct RegressionData {
  MatrixView x;
  std::span<const double> y;
  std::span<const double> weight;  // empty: equal weights
};

/// A fitted point model: x to an estimate of the mean of Y.
class Regressor {
 public:
  virtual ~Regressor() = default;

  virtual std::size_t features() const = 0;
  /// out[i] for row i of x, which has features() columns. May be called from several threads at
  /// once.
  virtual void predict(MatrixView x, std::span<double> out, const Execution& how) const = 0;
  virtual void save(const TensorWriter& out) const = 0;
};

/// A row of the table of regressors.
struct RegressorKind {
  std::string_view name;
  std::string_view summary;
  std::span<const ParamInfo> options;  // what `params` may hold
  std::unique_ptr<Regressor> (*fit)(const RegressionData&, const Params&, Seed, const Execution&);
  std::unique_ptr<Regressor> (*load)(const TensorReader&);
};

/// All regressors: `ridge`, `forest`, `extra_trees`, `boosting`, `gp`, `zero`, `mlp`, `lstm`.
std::span<const RegressorKind> regressors();

/// By name; case does not matter and - is read as _. kNotFound lists the known names.
const RegressorKind& find_regressor(std::string_view name);

}  // namespace tare

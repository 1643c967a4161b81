// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/rows/given_law.h"
#include "calibrate/rows/row_split.h"
#include "calibrate/rows/training_rows.h"
#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/model/regressor.h"

namespace tare {

/// f: the mean of one or more regressors on some columns of x, or, without a regressor, the given
/// prediction or distribution.
class PointModel {
 public:
  /// f is Rows::given.
  explicit PointModel(GivenLaw law = {}) : law_(std::move(law)) {}
  PointModel(std::string regressor, std::vector<std::unique_ptr<Regressor>> members,
             ModelColumns columns);

  bool is_given() const noexcept { return members_.empty(); }
  /// The regressor's name, or "given".
  std::string name() const { return is_given() ? "given" : regressor_; }
  /// How Rows::given is read, where is_given().
  const GivenLaw& law() const noexcept { return law_; }
  /// f at each row; the center of a law that is given.
  std::vector<double> predict(const Rows& rows, const Execution& how) const;
  /// Activations of the network's last hidden layer. Throws kInvalidArgument where f is not one
  /// network.
  Matrix embed(MatrixView x, const Execution& how) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile where the model would read outside `inputs` columns of x.
  static PointModel load(const TensorReader& in, std::size_t inputs);

 private:
  std::string regressor_;
  std::vector<std::unique_ptr<Regressor>> members_;
  ModelColumns columns_;
  GivenLaw law_;
};

/// A point model and the residuals of rows that it was not trained on.
struct TrainedPointModel {
  PointModel model;
  std::vector<std::size_t> training_rows;  // on which scales may be learned; ascending
  std::vector<std::size_t> calibration_rows;
  std::vector<double> residuals;  // y - f, or those of the given law; one per calibration row
  std::vector<double> predicted;  // f at each calibration row; empty where it is given
  std::vector<double> unit;       // of each residual in units of y; empty: all 1
};

/// Trains `regressor` as the rule says; or takes Rows::given, or the rows of
/// FitInput::calibrate_rows.
TrainedPointModel train_point_model(const FitInput& input, const Params& params,
                                    const SplitRule& rule, const Execution& how);

}  // namespace tare

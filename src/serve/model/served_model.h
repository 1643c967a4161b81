// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "calibrate/online/online_model.h"
#include "serve/rows/column_plan.h"
#include "tare/calibrate/model_file.h"

namespace tare::serve {

/// A model that answers requests, with cached replies about it. Immutable, but for what an online
/// model learns; a request keeps the one it began with.
class ServedModel {
 public:
  /// Reads the whole file into memory, so that overwriting the file does not affect the service,
  /// checks it as load_model does, and makes a test prediction. Throws what load_model throws, and
  /// kUnsupported for a model whose predictions come from a program.
  static std::shared_ptr<const ServedModel> load(const std::string& path);

  const FittedModel& fitted() const noexcept { return fitted_; }
  const Schema& schema() const noexcept { return *fitted_.schema; }
  /// The checksum of the file in hexadecimal digits: the same bytes give the same version.
  const std::string& version() const noexcept { return version_; }
  const ColumnPlan& features() const noexcept { return features_; }
  const ColumnPlan& features_and_target() const noexcept { return features_and_target_; }
  /// Numbers that a row of a request becomes for the model.
  std::size_t cells_per_row() const noexcept { return cells_per_row_; }
  /// The answer to GET /v1/model. That of an online model is of now.
  std::string card() const;
  /// The model to teach in place, or null for one that does not learn.
  const std::shared_ptr<OnlineModel>& online() const noexcept { return online_; }

 private:
  ServedModel(FittedModel fitted, std::string version);

  FittedModel fitted_;
  std::shared_ptr<OnlineModel> online_;
  std::string version_;
  ColumnPlan features_;
  ColumnPlan features_and_target_;
  std::size_t cells_per_row_;
  std::string card_;
};

}  // namespace tare::serve

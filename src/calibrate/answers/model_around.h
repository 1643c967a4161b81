// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "tare/calibrate/quantile_model.h"

namespace tare {

/// A model around another one that reads the same columns.
class ModelAround : public QuantileModel {
 public:
  std::size_t features() const final { return inner_->features(); }
  std::size_t given() const final { return inner_->given(); }
  GivenForm given_form() const final { return inner_->given_form(); }
  void describe(Description& description) const override { inner_->describe(description); }
  const QuantileModel& inner() const noexcept { return *inner_; }

 protected:
  explicit ModelAround(std::unique_ptr<const QuantileModel> inner) : inner_(std::move(inner)) {}

 private:
  std::unique_ptr<const QuantileModel> inner_;
};

/// A model around another one whose quantiles, guarantee included, it only adds to or cuts.
class TransparentModel : public ModelAround {
 public:
  Matrix delivered(const Rows& rows, std::span<const Level> levels) const final {
    return inner().delivered(rows, levels);
  }
  bool delivers_levels() const final { return inner().delivers_levels(); }
  bool delivers_by_row() const final { return inner().delivers_by_row(); }
  bool has_guarantee() const final { return inner().has_guarantee(); }
  Matrix own_quantiles(const Rows& rows, std::span<const Level> levels,
                       const Execution& how) const final {
    return inner().own_quantiles(rows, levels, how);
  }
  bool ranked_sets(const Rows& rows, std::span<const Level> coverages, const Execution& how,
                   ShortestSets& sets) const override {
    return inner().ranked_sets(rows, coverages, how, sets);
  }

 protected:
  using ModelAround::ModelAround;
};

}  // namespace tare

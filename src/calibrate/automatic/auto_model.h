// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/automatic/cross_fit/statistics.h"
#include "calibrate/automatic/local_law.h"
#include "calibrate/features/screening.h"
#include "calibrate/rows/given_law.h"
#include "calibrate/rows/training_rows.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/quantile_model.h"

namespace tare::automatic {

/// A robust linear map from the user's units of y to those of the method.
struct Units {
  double shift = 0.0;
  double scale = 1.0;

  /// The median and a range of quantiles. `y` has at least one entry.
  static Units of(std::span<const double> y);
};

/// What was tried: kept in the model and shown by `tare inspect`.
using Trial = AutoTrail::Step;

/// More members than this are never averaged in a round.
inline constexpr std::size_t kMostPicks = 10;

/// The guide for a target with masses: a conditional distribution of the target itself that decides
/// which quantiles equal a mass.
struct MassGuide {
  LocalLaw law;
  std::vector<double> masses;  // in units of the method, ascending
  std::vector<double> values;  // the same in units of y
  bool whole = false;          // targets are whole numbers, and so are answers
};

/// An average of calibrated candidates on shared statistics.
class AutoModel final : public QuantileModel {
 public:
  struct Member {
    LocalLaw law;
    double share = 0.0;
  };
  struct Parts {
    std::size_t features = 0;
    ModelColumns columns;  // that the models read
    bool has_law = false;
    GivenLaw law;
    Units units;
    Statistics statistics;
    std::vector<Member> members;
    std::optional<MassGuide> guide;
    std::vector<Trial> trail;
    std::vector<ScreenedColumn> screened;  // empty where nobody asked
    double loss = 0.0;                     // of the average, on rows left out, in units of y
    std::size_t loss_rows = 0;
    std::size_t rows = 0;      // that the fit learned from
    std::size_t eligible = 0;  // that it could have learned from: with many, a budget takes some
    std::size_t rounds = 1;    // of training, of which this is the average
    std::string budget;        // empty: not known, from an older file
  };
  explicit AutoModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override { return parts_.has_law ? given_form().columns() : 0; }
  GivenForm given_form() const override { return parts_.law.form(); }
  void describe(Description& description) const override;
  void save(const TensorWriter& out) const override;
  /// Throws kCorruptFile.
  static std::unique_ptr<AutoModel> load(const TensorReader& in);

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  Parts parts_;
};

/// What the given law of each row says, side by side; no columns where nothing is given.
Matrix given_features(const GivenLaw& law, MatrixView given);

}  // namespace tare::automatic

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "calibrate/online/own_model.h"
#include "online/stream/online_stream.h"
#include "tare/calibrate/model_file.h"

namespace tare {

/// The method's name in a model file.
inline constexpr std::string_view kOnline = "online";

/// A model that goes on learning: it answers every row as the next one of a stream. The prediction
/// whose errors are calibrated is the median of another model, a given column, or that of a model
/// of its own.
///
/// Quantiles at the levels of the stream are the stream's. Between them they are interpolated, and
/// outside them continued, linearly in the quantile of a normal distribution; nothing is proven for
/// these.
///
/// May be asked from several threads, also while one of them teaches.
class OnlineModel final : public QuantileModel {
 public:
  /// Around a model: errors are those of its median.
  OnlineModel(FittedModel base, StreamOptions options);
  /// With the predictions of a column, or, without one, with a model of its own.
  OnlineModel(std::size_t features, bool given, StreamOptions options);

  std::size_t features() const override { return stream_.options().features; }
  std::size_t given() const override;
  GivenForm given_form() const override;
  void describe(Description& description) const override;
  void save(const TensorWriter& out) const override;
  using LoadBase = std::function<FittedModel(const TensorReader&)>;
  static std::shared_ptr<OnlineModel> load(const TensorReader& in, const LoadBase& load_base);

  /// For the thread that teaches; others look().
  const OnlineStream& stream() const noexcept { return stream_; }
  /// Calls `see` while nobody teaches.
  void look(const std::function<void(const OnlineStream&)>& see) const;
  const FittedModel* base() const noexcept { return base_ ? &*base_ : nullptr; }

  /// Predictions of rows, for answer().
  std::vector<double> predictions(const Rows& rows, const Execution& how = {}) const;
  /// That of one row.
  double prediction(const Rows& row) const;
  /// As OnlineStream.
  PendingRow answer(double prediction, std::span<const double> x, std::uint64_t ahead = 0) const;
  void answer(double prediction, std::span<const double> x, std::uint64_t ahead,
              PendingRow& out) const;
  void learn(const PendingRow& row, std::span<const double> x, double target);
  void pass();
  void restart_drift();
  /// Answers and then learns each row in turn.
  void learn_rows(const Rows& rows, std::span<const double> targets);

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  OnlineModel(std::optional<FittedModel> base, std::optional<OwnModel> own, OnlineStream stream);
  std::vector<double> predictions_now(const Rows& rows, const Execution& how) const;
  std::shared_lock<std::shared_mutex> asking() const;
  std::unique_lock<std::shared_mutex> teaching() const;

  std::optional<FittedModel> base_;
  std::optional<OwnModel> own_;
  OnlineStream stream_;
  // Who waits to teach holds `turn_`, so that many who ask cannot keep it waiting for ever.
  mutable std::mutex turn_;
  mutable std::shared_mutex guard_;
};

/// A copy of an online model that may be taught, or a new one around any other model. The file or
/// the other owners of `fitted` do not change. `options` are for a new one; its levels may be empty
/// (kUsualStreamLevels).
std::shared_ptr<OnlineModel> teachable(const FittedModel& fitted, StreamOptions options);

/// The online model in `fitted`, to teach it in place, or null. The caller must be its only owner
/// that expects the same answers from it.
std::shared_ptr<OnlineModel> online_in(const FittedModel& fitted);

/// Levels of a stream where none are named: those of the intervals of 95, 90, 80 and 50 %, and 0.5.
std::vector<Level> usual_stream_levels();

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/idr.h"

#include <array>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "calibrate/nrc/point_model.h"
#include "calibrate/rows/row_split.h"
#include "model/input/fit_input.h"
#include "model/isotonic/isotonic_cdf.h"

namespace tare {
namespace {

constexpr std::size_t kIdrQueries = 256;
constexpr std::size_t kUsualKnots = 10'000;

constexpr std::array kIdrOptions = std::to_array<ParamInfo>({
    {"regressor", "boosting",
     "point model f: mlp, lstm, gp, forest, extra_trees, boosting, ridge, zero"},
    {"split", "cross", "rows that calibrate: a share, cross, time, or time:SHARE"},
    {"folds", "5", "number of folds of split=cross"},
    {"knots", "10000",
     "different predictions, and different targets, that are kept; of more, neighbours are joined"},
});

class IdrModel final : public QuantileModel {
 public:
  struct Parts {
    std::size_t features = 0;
    PointModel point;
    IsotonicCdf cdf;
  };
  explicit IdrModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override {
    return parts_.point.is_given() ? parts_.point.law().form().columns() : 0;
  }
  GivenForm given_form() const override {
    return parts_.point.is_given() ? parts_.point.law().form() : GivenForm{};
  }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    parts_.point.save(out.part("point"));
    parts_.cdf.save(out.part("cdf"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    if (parts_.point.is_given()) parts_.point.law().check(rows.given);
    const std::vector<double> prediction = parts_.point.predict(rows, how);
    Prediction result;
    result.quantiles = Matrix(prediction.size(), levels.size());
    parallel_blocks(how, prediction.size(), kIdrQueries, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        parts_.cdf.quantiles(prediction[i], levels, result.quantiles.row(i));
      }
    });
    return result;
  }

 private:
  Parts parts_;
};

/// The calibration rows that have a weight: predictions of a model that was not trained on them.
struct PredictedRows {
  std::vector<double> prediction, y, weight;
};

PredictedRows predicted_rows(const FitInput& input, const TrainedPointModel& trained,
                             const Execution& how) {
  // Not the target less the residual: equal predictions must stay equal.
  const std::vector<double> predicted =
      trained.model.is_given() ? trained.model.predict({.x = input.x, .given = input.given}, how)
                               : trained.predicted;
  PredictedRows rows;
  for (std::size_t k = 0; k < trained.calibration_rows.size(); ++k) {
    const std::size_t i = trained.calibration_rows[k];
    if (!input.weight.empty() && !(input.weight[i] > 0.0)) continue;
    rows.prediction.push_back(predicted[k]);
    rows.y.push_back(input.y[i]);
    if (!input.weight.empty()) rows.weight.push_back(input.weight[i]);
  }
  check_calibration_rows(rows.y.size());
  return rows;
}

}  // namespace

std::span<const ParamInfo> idr_options() { return kIdrOptions; }

std::unique_ptr<QuantileModel> fit_idr(const FitInput& input, const Params& given,
                                       const Execution& how) {
  const Params params = with_series_split(given, input);
  const std::size_t knots = params.count("knots", kUsualKnots, 2, 100'000);
  if (how.progress) how.progress("training the point model", 0.0);
  TrainedPointModel trained = train_point_model(input, params, parse_split(params), how);
  const PredictedRows rows = predicted_rows(input, trained, how);
  if (how.progress) how.progress("isotonic distributions", 0.0);
  IsotonicCdf cdf = IsotonicCdf::fit(rows.prediction, rows.y, rows.weight, knots, how);
  if (how.progress) how.progress("isotonic distributions", 1.0);
  return std::make_unique<IdrModel>(
      IdrModel::Parts{input.x.cols(), std::move(trained.model), std::move(cdf)});
}

std::unique_ptr<QuantileModel> load_idr(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatures);
  return std::make_unique<IdrModel>(IdrModel::Parts{
      features, PointModel::load(in.part("point"), features), IsotonicCdf::load(in.part("cdf"))});
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/cqr_boost.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/baseline/quantile/conformal_bands.h"
#include "calibrate/rows/row_split.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"
#include "math/normal.h"
#include "model/boosting/quantile_boosting.h"

namespace tare {
namespace {

constexpr std::size_t kQueryBlock = 256;
constexpr std::size_t kMaxFeatureCount = 1u << 30;

constexpr std::array kSplitOptions = std::to_array<ParamInfo>({
    {"split", "0.3", "rows that calibrate: a share, time, or time:SHARE"},
});
constexpr auto kCqrBoostOptions = join_options(kQuantileBoostingOptions, kSplitOptions);

/// Where trees are grown. Beyond 1 % too few rows are left to learn from; a denser set was not
/// tried.
constexpr double kTrainedLevels[] = {0.01, 0.025, 0.05, 0.1, 0.2,  0.3,   0.4, 0.5,
                                     0.6,  0.7,   0.8,  0.9, 0.95, 0.975, 0.99};
constexpr std::size_t kCount = std::size(kTrainedLevels);

std::vector<Level> grown_levels() {
  std::vector<Level> levels;
  for (const double tau : kTrainedLevels) levels.emplace_back(tau);
  return levels;
}

/// The straight line through two of the grown levels that gives a knot its quantile.
struct LevelLine {
  std::size_t from = 0, to = 0;
  double share = 0.0;  // of the way; outside [0, 1] at the ends
};

std::vector<LevelLine> lines() {
  std::vector<LevelLine> result;
  for (const Level& knot : knot_levels()) {
    const double tau = knot.value();
    std::size_t to = 1;
    while (to + 1 < kCount && kTrainedLevels[to] < tau) ++to;
    std::size_t from = to - 1;
    // The ends' slope is taken from levels further apart, where it is less of an accident.
    if (tau < kTrainedLevels[0]) to = 2;
    if (tau > kTrainedLevels[kCount - 1]) from = kCount - 3;
    const double low = normal_quantile(kTrainedLevels[from]);
    const double high = normal_quantile(kTrainedLevels[to]);
    result.push_back({from, to, (normal_quantile(tau) - low) / (high - low)});
  }
  return result;
}

/// From a row's quantiles at the grown levels, ascending, to those at the knots.
void spread(std::span<const double> grown, std::span<double> knots) {
  static const std::vector<LevelLine> kLines = lines();
  for (std::size_t j = 0; j < knots.size(); ++j) {
    const LevelLine& line = kLines[j];
    const double low = grown[line.from];
    knots[j] = low + line.share * (grown[line.to] - low);
  }
  // At the ends two different lines meet, and rounding is not monotone.
  std::ranges::sort(knots);
}

class CqrBoostModel final : public QuantileModel {
 public:
  struct Parts {
    std::size_t features = 0;
    ModelColumns columns;
    QuantileBoosting boosting;
    ConformalBands bands;
  };
  explicit CqrBoostModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    parts_.columns.save(out);
    parts_.boosting.save(out.part("boosting"));
    parts_.bands.save(out.part("bands"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    const MatrixView x = parts_.columns.select(rows.x, storage);
    Prediction result;
    result.quantiles = Matrix(x.rows(), levels.size());
    Matrix grown(x.rows(), kCount);
    parts_.boosting.predict(x, grown, how);
    parallel_blocks(how, x.rows(), kQueryBlock, [&](std::size_t first, std::size_t last) {
      std::vector<double> knots(knot_levels().size());
      for (std::size_t i = first; i < last; ++i) {
        spread(grown.row(i), knots);
        parts_.bands.answer(knots, levels, result.quantiles.row(i));
      }
    });
    return result;
  }

 private:
  Parts parts_;
};

ConformalBands calibrate(const QuantileBoosting& boosting, const FitInput& input,
                         std::span<const std::size_t> rows, const Execution& how) {
  const Matrix x = take_rows(input.x, rows, input.model_columns);
  Matrix grown(rows.size(), kCount);
  boosting.predict(x, grown, how);
  Matrix knots(rows.size(), knot_levels().size());
  for (std::size_t i = 0; i < rows.size(); ++i) spread(grown.row(i), knots.row(i));
  return {knots, take_rows(input.y, rows), take_rows(input.weight, rows)};
}

}  // namespace

std::span<const ParamInfo> cqr_boost_options() { return kCqrBoostOptions; }

std::unique_ptr<QuantileModel> fit_cqr_boost(const FitInput& input, const Params& given,
                                             const Execution& how) {
  const Params params = with_series_split(given, input);
  const QuantileBoostingOptions options = QuantileBoostingOptions::parse(params);
  const Partition parts = hold_out(input, parse_split(params));
  const TrainingRows training(input, parts.first);
  const std::vector<std::size_t> held_out = usable_rows(input, parts.second, kMostConformalRows);

  if (how.progress) how.progress("boosting quantiles", 0.0);
  QuantileBoosting boosting =
      QuantileBoosting::fit(training.data(), grown_levels(), options, split(input.seed, 1), how);
  if (how.progress) how.progress("calibrating", 0.9);
  ConformalBands bands = calibrate(boosting, input, held_out, how);
  if (how.progress) how.progress("calibrating", 1.0);
  return std::make_unique<CqrBoostModel>(CqrBoostModel::Parts{
      input.x.cols(), ModelColumns(input.model_columns), std::move(boosting), std::move(bands)});
}

std::unique_ptr<QuantileModel> load_cqr_boost(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatureCount);
  CqrBoostModel::Parts parts{features, ModelColumns::load(in, features),
                             QuantileBoosting::load(in.part("boosting")),
                             ConformalBands::load(in.part("bands"))};
  if (parts.boosting.features() != parts.columns.width(features) ||
      parts.boosting.levels() != kCount) {
    fail(ErrorCode::kCorruptFile,
         "the model file's trees are for {} features and {} levels, not {} and {}",
         parts.boosting.features(), parts.boosting.levels(), parts.columns.width(features), kCount);
  }
  return std::make_unique<CqrBoostModel>(std::move(parts));
}

}  // namespace tare

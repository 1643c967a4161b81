// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/distribution_calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "calibrate/rows/row_split.h"
#include "calibrate/rows/training_rows.h"
#include "math/bounded.h"
#include "model/gaussian/gaussian_training.h"
#include "model/gp/beta_link.h"

namespace tare {
namespace {

constexpr double kFarthestTargetScore = 1e3;
constexpr double kFarthestLaw = 1e3;  // in standard deviations of the predicted distributions
constexpr double kLinkRate = 0.01;
constexpr std::size_t kMostLinkRows = 20'000;

constexpr auto kDistributionCalibrationOptions = join_options(
    std::to_array<ParamInfo>({
        {"split", "0.3", "rows that recalibrate: a share, time, or time:SHARE"},
        {"inducing", "32", "inducing points of the link; fewer where there are fewer rows"},
        {"link_learning_rate", "0.01", "step size of Adam for the link"},
        {"link_batch", "128", "rows of a minibatch for the link"},
    }),
    nn::kBodyOptions, kGaussianDropout, kGaussianOptions, kGaussianTraining);

BetaLinkOptions link_options(const Params& given) {
  // Read here, so that a message has the names that the user wrote.
  given.number("link_learning_rate", kLinkRate, 1e-8, 10.0);
  given.count("link_batch", 128, 1, 1'000'000);
  Params params = given;
  params.set("learning_rate", given.text("link_learning_rate", "0.01"));
  params.set("batch", given.text("link_batch", "128"));
  params.set("grid", "none");
  return {given.count("inducing", 32, 1, BetaLink::kMaxPoints), nn::FitOptions(params, kLinkRate)};
}

/// What the link sees of a predicted distribution: mean and log sd, in units of their spread among
/// the held-out rows.
class LawFeatures {
 public:
  LawFeatures() = default;
  LawFeatures(const Gaussians& laws, std::span<const double> weight)
      : mean_(standardise(
            laws.mean.size(), [&](std::size_t i) { return laws.mean[i]; }, weight)),
        log_sd_(standardise(
            laws.sd.size(), [&](std::size_t i) { return log_of(laws.sd[i]); }, weight)) {}
  LawFeatures(const Standard& mean, const Standard& log_sd) : mean_(mean), log_sd_(log_sd) {}

  std::array<double, 2> of(double mean, double sd) const {
    return {clamped(standardised(mean, mean_)), clamped(standardised(log_of(sd), log_sd_))};
  }

  void save(const TensorWriter& out) const {
    out.tensor("law_mean", std::vector<double>{mean_.mean, log_sd_.mean});
    out.tensor("law_scale", std::vector<double>{mean_.scale, log_sd_.scale});
  }
  static LawFeatures load(const TensorReader& in) {
    const std::vector<double> mean = in.values<double>("law_mean", {2}, Must::kBeFinite);
    const std::vector<double> scale = in.values<double>("law_scale", {2}, Must::kBePositive);
    return {Standard{mean[0], scale[0]}, Standard{mean[1], scale[1]}};
  }

 private:
  static double log_of(double sd) {
    return std::log(std::max(sd, std::numeric_limits<double>::min()));
  }
  static double clamped(double value) { return std::clamp(value, -kFarthestLaw, kFarthestLaw); }

  Standard mean_, log_sd_;
};

class DistributionCalibrationModel final : public QuantileModel {
 public:
  struct Parts {
    std::size_t features = 0;
    ModelColumns columns;
    GaussianNetwork network;
    LawFeatures law;
    BetaLink link;
  };
  explicit DistributionCalibrationModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    parts_.columns.save(out.part("columns"));
    parts_.network.save(out.part("network"));
    parts_.law.save(out.part("link"));
    parts_.link.save(out.part("link"));
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    const MatrixView x = parts_.columns.select(rows.x, storage);
    const Gaussians laws = parts_.network.predict(x, how);
    Prediction result;
    result.quantiles = Matrix(x.rows(), levels.size());
    parallel_blocks(how, x.rows(), 64, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const MeanBetaMap map(
            BetaLink::draws(parts_.link.posterior(parts_.law.of(laws.mean[i], laws.sd[i]))));
        double before = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < levels.size(); ++j) {
          const double score = map.score_at(levels[j]);
          // Levels that differ in their last digits may come out in the wrong order by as little.
          before = std::max(before, bounded(laws.mean[i] + laws.sd[i] * score));
          result.quantiles(i, j) = before;
        }
      }
    });
    return result;
  }

 private:
  Parts parts_;
};

}  // namespace

std::span<const ParamInfo> distribution_calibration_options() {
  return kDistributionCalibrationOptions;
}

std::unique_ptr<QuantileModel> fit_distribution_calibration(const FitInput& input,
                                                            const Params& given,
                                                            const Execution& how) {
  const Params params = with_series_split(given, input);
  const GaussianOptions options = GaussianOptions::feed_forward(params);
  const BetaLinkOptions for_link = link_options(params);
  const Partition parts = hold_out(input, parse_split(params));
  const TrainingRows rows(input, parts.first);
  const TrainingRows held_out(input, usable_rows(input, parts.second, kMostLinkRows));

  GaussianNetwork network =
      fit_gaussian_network(rows.data(), options, split(input.seed, 1), part_of(how, 0, 2));
  LawFeatures law;
  BetaLink link;
  if (!network.is_constant()) {
    const Gaussians laws = network.predict(held_out.x, how);
    law = LawFeatures(laws, held_out.weight);
    Matrix seen(laws.mean.size(), 2);
    std::vector<double> score;
    for (std::size_t i = 0; i < laws.mean.size(); ++i) {
      std::ranges::copy(law.of(laws.mean[i], laws.sd[i]), seen.row(i).begin());
      const double gap = held_out.y[i] - laws.mean[i];
      // Of an sd of 0 the score is infinite.
      score.push_back(
          gap == 0.0 ? 0.0
                     : std::clamp(gap / laws.sd[i], -kFarthestTargetScore, kFarthestTargetScore));
    }
    link = BetaLink::fit({seen, score, held_out.weight}, for_link, split(input.seed, 2),
                         part_of(how, 1, 2));
  }
  return std::make_unique<DistributionCalibrationModel>(DistributionCalibrationModel::Parts{
      input.x.cols(), ModelColumns(input.model_columns), std::move(network), law, std::move(link)});
}

std::unique_ptr<QuantileModel> load_distribution_calibration(const TensorReader& in) {
  const std::size_t features = in.count("features", std::numeric_limits<std::uint32_t>::max());
  ModelColumns columns = ModelColumns::load(in.part("columns"), features);
  GaussianNetwork network = GaussianNetwork::load(in.part("network"));
  BetaLink link = BetaLink::load(in.part("link"));
  if (network.features() != columns.width(features) || link.inputs() != 2) {
    fail(ErrorCode::kCorruptFile,
         "the model file's network has {} inputs for {} columns, and its link {} in place of 2",
         network.features(), columns.width(features), link.inputs());
  }
  const LawFeatures law = LawFeatures::load(in.part("link"));
  return std::make_unique<DistributionCalibrationModel>(DistributionCalibrationModel::Parts{
      features, std::move(columns), std::move(network), law, std::move(link)});
}

}  // namespace tare

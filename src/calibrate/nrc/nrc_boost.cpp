// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc/nrc_boost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "calibrate/answers/each_level.h"
#include "calibrate/answers/row_blocks.h"
#include "calibrate/bandwidth/bandwidth.h"
#include "calibrate/nrc/frame_kernel.h"
#include "calibrate/nrc/point_model.h"
#include "calibrate/nrc/residual_trees.h"
#include "calibrate/nrc/support_rows.h"
#include "data/rows.h"
#include "math/bounded.h"

namespace tare {
namespace {

constexpr std::array kNrcBoostOptions = std::to_array<ParamInfo>({
    {"regressor", "boosting",
     "point model f: mlp, lstm, gp, forest, extra_trees, boosting, ridge, zero"},
    {"split", "cross", "rows that calibrate: a share, or cross"},
    {"folds", "5", "number of folds of split=cross"},
});

/// The features of the trees: the columns to calibrate on and, unless these are named, the
/// prediction of the point model.
class SeenColumns {
 public:
  SeenColumns() = default;
  SeenColumns(const std::vector<std::size_t>& named, std::size_t inputs, std::size_t of_point)
      : columns_(named),
        of_columns_(columns_.width(inputs)),
        of_point_(named.empty() ? of_point : 0) {}

  std::size_t width() const noexcept { return of_columns_ + of_point_; }

  Matrix of(const PointModel& point, const Rows& rows, std::span<const double> predicted) const {
    Matrix chosen;
    const MatrixView x = columns_.select(rows.x, chosen);
    Matrix seen(x.rows(), width());
    for (std::size_t i = 0; i < seen.rows(); ++i) {
      const auto row = seen.row(i);
      std::ranges::copy(x.row(i), row.begin());
      if (of_point_ == 0) continue;
      if (point.is_given()) {
        point.law().features(rows.given.row(i), row.subspan(of_columns_));
      } else {
        row.back() = predicted[i];
      }
    }
    return seen;
  }

  /// The kind of the kernel's feature if it is this column of with_sizes().
  void describe(std::size_t place, const Description& names, ResidualTreesDescription& out) const {
    if (place < of_columns_) {
      const auto named = columns_.columns();
      out.along = AlongKind::kColumn;
      out.along_column = names.feature_name(named.empty() ? place : named[place]);
    } else if (place < width()) {
      out.along = place == of_columns_ ? AlongKind::kPrediction : AlongKind::kGivenSpread;
    } else {
      out.along = AlongKind::kSize;
    }
  }

  void save(const TensorWriter& out) const {
    columns_.save(out);
    out.value("of_point", of_point_);
  }

  static SeenColumns load(const TensorReader& in, std::size_t inputs, std::size_t of_point) {
    SeenColumns seen;
    seen.columns_ = ModelColumns::load(in, inputs);
    seen.of_columns_ = seen.columns_.width(inputs);
    seen.of_point_ = in.count("of_point", of_point);
    if (seen.of_point_ != 0 && seen.of_point_ != of_point) {
      fail(ErrorCode::kCorruptFile, "the model file sees a part of its point model");
    }
    return seen;
  }

 private:
  ModelColumns columns_;  // of x
  std::size_t of_columns_ = 0;
  std::size_t of_point_ = 0;
};

std::size_t columns_of_point(const PointModel& point) {
  return point.is_given() ? point.law().feature_count() : 1;
}

/// The candidate features of the kernel: those of the trees, and the size that they estimate.
Matrix with_sizes(const Matrix& seen, std::span<const double> log_size) {
  Matrix joined(seen.rows(), seen.cols() + 1);
  for (std::size_t i = 0; i < joined.rows(); ++i) {
    const auto row = joined.row(i);
    std::ranges::copy(seen.row(i), row.begin());
    row.back() = log_size[i];
  }
  return joined;
}

class NrcBoostModel final : public QuantileModel, public EachLevelAlone {
 public:
  bool answers_each_level_alone() const override { return true; }  // as SNQ does

  struct Parts {
    std::size_t features = 0;
    PointModel point;
    SeenColumns seen;
    ResidualTrees trees;
    SupportRows support;  // of what the trees see
  };
  NrcBoostModel(Parts parts, FrameKernel kernel)
      : parts_(std::move(parts)), kernel_(std::move(kernel)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override {
    return parts_.point.is_given() ? given_form().columns() : 0;
  }
  GivenForm given_form() const override { return parts_.point.law().form(); }

  void describe(Description& description) const override {
    description.kernel = describe_kernel(kernel_.snq, kernel_.choice, parts_.point.name());
    ResidualTreesDescription trees{.center_trees = parts_.trees.center_trees(),
                                   .size_trees = parts_.trees.size_trees()};
    if (const auto columns = kernel_.map.columns(); columns.size() == 1) {
      parts_.seen.describe(columns.front(), description, trees);
    }
    description.residual_trees = std::move(trees);
  }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    parts_.point.save(out.part("point"));
    parts_.seen.save(out.part("seen"));
    parts_.trees.save(out.part("trees"));
    parts_.support.save(out.part("support"));
    kernel_.map.save(out.part("features"));
    kernel_.snq.save(out.part("snq"));
    save_choice(kernel_.choice, out);
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    const PointModel& point = parts_.point;
    std::vector<double> center;
    if (point.is_given()) {
      point.law().check(rows.given);
    } else {
      center = point.predict(rows, how);
    }
    // How near rows are on SNQ's line says little: the answer depends on all that the trees see.
    Execution without_nearest = how;
    without_nearest.diagnostics = false;
    Frame frame;
    Prediction result =
        kernel_.snq.predict(features_of(rows, center, how, frame), levels, without_nearest);
    if (how.diagnostics) parts_.support.judge(parts_.seen.of(point, rows, center), how, result);
    const bool is_law = point.is_given() && given_form().kind != GivenKind::kPoint;
    parallel_blocks(how, rows.x.rows(), kRowsOfABlock, [&](std::size_t first, std::size_t last) {
      RowLaw law;
      for (std::size_t i = first; i < last; ++i) {
        const double size = std::exp(frame.log_size[i]);
        const auto quantiles = result.quantiles.row(i);
        if (is_law) {
          point.law().read(rows.given.row(i), law);
          for (double& q : quantiles) q = law.answer(frame.center[i] + size * q);
        } else {
          const double start = (point.is_given() ? rows.given(i, 0) : center[i]) + frame.center[i];
          for (double& q : quantiles) q = bounded(start + size * q);
        }
      }
    });
    return result;
  }

 private:
  using Frame = ResidualTrees::Frame;
  static constexpr std::size_t kRowsOfABlock = 512;  // rows that a thread takes at a time

  /// The features of the kernel, and the frame of each row.
  Matrix features_of(const Rows& rows, std::span<const double> predicted, const Execution& how,
                     Frame& frame) const {
    Matrix all(rows.x.rows(), kernel_.map.dims());
    frame.center.resize(rows.x.rows());
    frame.log_size.resize(rows.x.rows());
    parallel_blocks(how, rows.x.rows(), kRowsOfABlock, [&](std::size_t first, std::size_t last) {
      const std::size_t size = last - first;
      const auto at = static_cast<std::ptrdiff_t>(first);
      const Matrix seen =
          parts_.seen.of(parts_.point, middle_of(rows, first, size),
                         predicted.empty() ? predicted : predicted.subspan(first, size));
      const Frame own = parts_.trees.frame(seen, one_thread());
      std::ranges::copy(own.center, frame.center.begin() + at);
      std::ranges::copy(own.log_size, frame.log_size.begin() + at);
      const Matrix features = kernel_.map.apply(with_sizes(seen, own.log_size));
      for (std::size_t k = 0; k < size; ++k) {
        std::ranges::copy(features.row(k), all.row(first + k).begin());
      }
    });
    return all;
  }

  Parts parts_;
  FrameKernel kernel_;
};

/// Calibration rows that have a weight.
struct CalibrationRows {
  std::vector<std::size_t> rows;
  std::vector<double> u;
  std::vector<double> unit;
  std::vector<double> weight;

  CalibrationRows(const FitInput& input, const TrainedPointModel& trained) {
    for (std::size_t k = 0; k < trained.calibration_rows.size(); ++k) {
      const std::size_t i = trained.calibration_rows[k];
      if (!input.weight.empty() && !(input.weight[i] > 0.0)) continue;
      rows.push_back(i);
      u.push_back(trained.residuals[k]);
      unit.push_back(trained.unit.empty() ? 1.0 : trained.unit[k]);
      if (!input.weight.empty()) weight.push_back(input.weight[i]);
    }
    check_calibration_rows(rows.size());
  }
};

SplitRule split_rule(const FitInput& input, const Params& params) {
  const SplitRule rule = parse_split(params);
  if (input.window > 1 || rule.kind == SplitRule::Kind::kTime) {
    fail(ErrorCode::kInvalidArgument,
         {.remedies = {use("method", "lstm_nrc"), use("method", "nrc")}},
         "nrc_boost does not support series");
  }
  return rule;
}

}  // namespace

std::span<const ParamInfo> nrc_boost_options() { return kNrcBoostOptions; }

std::unique_ptr<QuantileModel> fit_nrc_boost(const FitInput& input, const Params& params,
                                             const Execution& how) {
  const SplitRule rule = split_rule(input, params);
  const auto report = [&](std::string_view stage, double share) {
    if (how.progress) how.progress(stage, share);
  };
  report("training the point model", 0.0);
  TrainedPointModel trained = train_point_model(input, params, rule, how);
  const CalibrationRows own(input, trained);
  NrcBoostModel::Parts parts;
  parts.features = input.x.cols();
  parts.point = std::move(trained.model);
  parts.seen = SeenColumns(input.calibrate_columns, input.x.cols(), columns_of_point(parts.point));

  report("calibrating", 0.5);
  const Execution silent = quietly(how);
  const bool all = own.rows.size() == input.x.rows();
  const Matrix x = all ? Matrix() : take_rows(input.x, own.rows);
  const Matrix given = all ? Matrix() : take_rows(input.given, own.rows);
  const Rows calibrating{all ? input.x : x, all ? input.given : given};
  std::vector<double> predicted;  // out of fold
  if (!parts.point.is_given()) {
    for (std::size_t k = 0; k < own.rows.size(); ++k)
      predicted.push_back(input.y[own.rows[k]] - own.u[k]);
  }
  Matrix seen = parts.seen.of(parts.point, calibrating, predicted);
  ResidualTrees::Fitted fitted =
      ResidualTrees::fit(seen, own.u, own.weight, split(input.seed, 1005), silent);
  parts.trees = std::move(fitted.trees);
  parts.support = SupportRows::learn(seen, silent);
  report("calibrating", 0.7);
  std::vector<double> u = own.u;
  std::vector<double> unit = own.unit;
  for (std::size_t k = 0; k < u.size(); ++k) {
    const double size = std::exp(fitted.frame.log_size[k]);
    u[k] = (u[k] - fitted.frame.center[k]) / size;
    unit[k] *= size;
  }
  const Matrix features = with_sizes(std::exchange(seen, Matrix()), fitted.frame.log_size);
  FrameKernel kernel =
      choose_frame_kernel({features, u, unit, own.weight}, split(input.seed, 1006), silent);
  report("calibrating", 1.0);
  return std::make_unique<NrcBoostModel>(std::move(parts), std::move(kernel));
}

std::unique_ptr<QuantileModel> load_nrc_boost(const TensorReader& in) {
  constexpr std::size_t kMany = std::numeric_limits<std::uint32_t>::max();
  NrcBoostModel::Parts parts;
  parts.features = in.count("features", kMany);
  parts.point = PointModel::load(in.part("point"), parts.features);
  parts.seen = SeenColumns::load(in.part("seen"), parts.features, columns_of_point(parts.point));
  parts.trees = ResidualTrees::load(in.part("trees"), parts.seen.width());
  parts.support = SupportRows::load(in.part("support"));
  FrameKernel kernel{FeatureMap::load(in.part("features")), Snq::load(in.part("snq")), {}};
  if (kernel.map.inputs() != parts.seen.width() + 1 || kernel.snq.dims() != kernel.map.dims() ||
      parts.support.inputs() != parts.seen.width()) {
    fail(ErrorCode::kCorruptFile,
         "the model file's kernel, its features and its trees do not fit together");
  }
  kernel.choice = load_choice(in, kernel.snq.options().bandwidth);
  return std::make_unique<NrcBoostModel>(std::move(parts), std::move(kernel));
}

}  // namespace tare

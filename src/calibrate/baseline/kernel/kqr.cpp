// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/kernel/kqr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "base/strings.h"
#include "calibrate/baseline/kernel/kernel_quantile.h"
#include "calibrate/rows/training_rows.h"
#include "data/partition.h"
#include "data/rows.h"
#include "math/bounded.h"
#include "math/normal.h"
#include "math/pinball.h"
#include "model/input/fit_input.h"

namespace tare {
namespace {

constexpr std::array kKqrLevels = {0.01, 0.025, 0.05, 0.1, 0.2,  0.3,   0.4, 0.5,
                                   0.6,  0.7,   0.8,  0.9, 0.95, 0.975, 0.99};
constexpr std::size_t kKqrCount = kKqrLevels.size();
constexpr std::array kPenalties = {1e-2, 1e-3, 1e-4, 1e-5};
constexpr std::array kWidths = {0.25, 0.5, 1.0, 2.0};
constexpr std::array kScoredLevels = {0.1, 0.5, 0.9};
constexpr std::size_t kMostScoredRows = 500;
constexpr std::size_t kKqrFolds = 3;
constexpr double kFarthestFeature = 1e15;  // in standard deviations; its square is finite

constexpr std::array kKqrOptions = std::to_array<ParamInfo>({
    {"penalty", "auto",
     "weight of |g|^2 / 2 beside the mean loss; auto: of 0.01, 0.001, 0.0001 and 0.00001 by "
     "cross-validation",
     "0.01,0.001,0.0001,0.00001"},
    {"kernel_width", "auto",
     "width of the kernel in medians of the distance between rows; auto: of 0.25, 0.5, 1 and 2 by "
     "cross-validation",
     "0.25,0.5,1,2"},
    {"most_rows", "2000", "of more rows, a random sample of this many is learned from"},
    {"gap", "0.001", "relative duality gap at which a level is solved"},
});

struct KqrOptions {
  std::optional<double> penalty, width;
  std::size_t most_rows = 2000;
  double gap = 1e-3;
};

KqrOptions parse_kqr(const Params& params) {
  const auto number_or_auto = [&](const char* name, double low, double high) {
    const bool given = canonical_name(params.text(name, "auto")) != "auto";
    return given ? std::optional(params.number(name, low, low, high)) : std::nullopt;
  };
  return {number_or_auto("penalty", 1e-9, 1e3), number_or_auto("kernel_width", 1e-3, 1e3),
          params.count("most_rows", 2000, 10, 10'000), params.number("gap", 1e-3, 1e-8, 0.5)};
}

/// Rows in units of their columns' spread, and targets and weights in units of theirs.
struct KqrRows {
  Matrix x;
  std::vector<double> y;
  std::vector<double> cost;  // mean 1
};

std::vector<Standard> column_standards(MatrixView x, std::span<const double> weight) {
  std::vector<Standard> columns;
  for (std::size_t j = 0; j < x.cols(); ++j) {
    columns.push_back(standardise(
        x.rows(), [&](std::size_t i) { return x(i, j); }, weight));
  }
  return columns;
}

void standardise_row(std::span<const double> row, std::span<const Standard> columns,
                     std::span<double> out) {
  for (std::size_t j = 0; j < row.size(); ++j) {
    out[j] = std::clamp(standardised(row[j], columns[j]), -kFarthestFeature, kFarthestFeature);
  }
}

double kqr_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

Matrix kernel_matrix(MatrixView a, MatrixView b, double width, const Execution& how) {
  Matrix kernel(a.rows(), b.rows());
  const double factor = -0.5 / (width * width);
  parallel_blocks(how, a.rows(), 64, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t k = 0; k < b.rows(); ++k)
        kernel(i, k) = std::exp(factor * kqr_distance(a.row(i), b.row(k)));
    }
  });
  return kernel;
}

/// The median distance between rows that are at different places; 1 if there are none.
double median_distance(MatrixView x) {
  constexpr std::size_t kMost = 500;
  std::vector<double> distances;
  for (std::size_t i = 0; i < std::min(x.rows(), kMost); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double squared = kqr_distance(x.row(i), x.row(k));
      if (squared > 0.0) distances.push_back(squared);
    }
  }
  if (distances.empty()) return 1.0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return std::sqrt(*middle);
}

/// The cost of each row for a penalty of the mean loss.
std::vector<double> costs_for(std::span<const double> cost, double penalty) {
  std::vector<double> result;
  const double factor = 1.0 / (penalty * static_cast<double>(cost.size()));
  for (const double one : cost) result.push_back(factor * one);
  return result;
}

KqrRows take_kqr(const KqrRows& rows, std::span<const std::size_t> chosen) {
  return {take_rows(rows.x, chosen), take_rows(rows.y, chosen), take_rows(rows.cost, chosen)};
}

/// Penalty and width with the lowest pinball loss of left-out rows.
class KqrSearch {
 public:
  KqrSearch(const KqrRows& rows, const KqrOptions& options, double unit, Seed seed)
      : rows_(rows), unit_(unit), folds_(random_folds(rows.y.size(), kKqrFolds, seed)) {
    for (const double penalty : kPenalties) {
      for (const double width : kWidths) {
        if (options.penalty && penalty != kPenalties[0]) continue;
        if (options.width && width != kWidths[0]) continue;
        pairs_.emplace_back(options.penalty.value_or(penalty), options.width.value_or(width));
      }
    }
  }

  std::pair<double, double> best(const Execution& how) const {
    if (pairs_.size() == 1) return pairs_[0];
    std::vector<double> losses(pairs_.size() * kKqrFolds, 0.0);
    parallel_for(how, losses.size(),
                 [&](std::size_t k) { losses[k] = loss(pairs_[k / kKqrFolds], k % kKqrFolds); });
    std::size_t least = 0;
    double least_sum = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const auto first = losses.begin() + static_cast<std::ptrdiff_t>(p * kKqrFolds);
      const double sum = std::accumulate(first, first + kKqrFolds, 0.0);
      if (sum >= least_sum) continue;
      least_sum = sum;
      least = p;
    }
    return pairs_[least];
  }

 private:
  double loss(const std::pair<double, double>& pair, std::size_t fold) const {
    const Partition parts = fold_partition(folds_, fold);
    const KqrRows train = take_kqr(rows_, parts.first), test = take_kqr(rows_, parts.second);
    if (train.y.empty() || test.y.empty()) return 0.0;
    const double width = pair.second * unit_;
    const Matrix kernel = kernel_matrix(train.x, train.x, width, one_thread());
    const Matrix across = kernel_matrix(test.x, train.x, width, one_thread());
    const std::vector<double> cost = costs_for(train.cost, pair.first);
    double sum = 0.0;
    std::vector<double> start;
    for (const double tau : kScoredLevels) {
      const KernelQuantileFit fit = fit_kernel_quantile({kernel, train.y, cost, Level(tau)},
                                                        {.gap = 1e-2, .most_passes = 30}, start);
      start = fit.a;
      for (std::size_t i = 0; i < test.y.size(); ++i) {
        const std::span<const double> row = across.row(i);
        const double f = std::inner_product(row.begin(), row.end(), fit.a.begin(), fit.b);
        sum += test.cost[i] * pinball_of_error(test.y[i] - f, tau);
      }
    }
    return sum;
  }

  const KqrRows& rows_;
  double unit_;
  std::vector<std::size_t> folds_;
  std::vector<std::pair<double, double>> pairs_;
};

/// From the quantiles at the learned levels, ascending, to one at any level: linear in the normal
/// score between them; beyond the last, with the slope of levels further apart.
double kqr_quantile_at(std::span<const double> learned, Level level) {
  static const std::array<double, kKqrCount> kScores = [] {
    std::array<double, kKqrCount> scores{};
    for (std::size_t k = 0; k < kKqrCount; ++k) scores[k] = normal_quantile(kKqrLevels[k]);
    return scores;
  }();
  const double tau = level.value();
  const auto above = std::ranges::lower_bound(kKqrLevels, tau) - kKqrLevels.begin();
  const auto next = static_cast<std::size_t>(above);
  if (next < kKqrCount && kKqrLevels[next] == tau) return learned[next];
  const double score = normal_quantile(tau);
  if (next == 0 || next == kKqrCount) {
    const std::size_t at = next == 0 ? 0 : kKqrCount - 1;
    const std::size_t inner = next == 0 ? 2 : kKqrCount - 3;
    return learned[at] +
           (score - kScores[at]) * (learned[inner] - learned[at]) / (kScores[inner] - kScores[at]);
  }
  const double share = (score - kScores[next - 1]) / (kScores[next] - kScores[next - 1]);
  return std::min(learned[next - 1] + share * (learned[next] - learned[next - 1]), learned[next]);
}

class KqrModel final : public QuantileModel {
 public:
  struct Parts {
    std::size_t features = 0;
    ModelColumns columns;
    std::vector<Standard> standard;  // of each column that is read
    Standard target;
    double width = 1.0;     // in standard deviations
    Matrix x;               // rows, standardised
    Matrix a;               // coefficients: rows x levels
    std::vector<double> b;  // of each level
  };
  explicit KqrModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    parts_.columns.save(out);
    std::vector<double> mean, scale;
    for (const Standard& column : parts_.standard) {
      mean.push_back(column.mean);
      scale.push_back(column.scale);
    }
    out.tensor("mean", mean);
    out.tensor("scale", scale);
    out.tensor("target", std::vector<double>{parts_.target.mean, parts_.target.scale});
    out.value("width", parts_.width);
    out.tensor<double>("x", parts_.x.values(), {parts_.x.rows(), parts_.x.cols()});
    out.tensor<double>("a", parts_.a.values(), {parts_.a.rows(), parts_.a.cols()});
    out.tensor("b", parts_.b);
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    const MatrixView x = parts_.columns.select(rows.x, storage);
    Prediction result;
    result.quantiles = Matrix(x.rows(), levels.size());
    parallel_blocks(how, x.rows(), 64, [&](std::size_t first, std::size_t last) {
      std::vector<double> place(x.cols()), learned(kKqrCount);
      for (std::size_t i = first; i < last; ++i) {
        standardise_row(x.row(i), parts_.standard, place);
        learn_row(place, learned);
        for (std::size_t j = 0; j < levels.size(); ++j) {
          const double q = kqr_quantile_at(learned, levels[j]);
          result.quantiles(i, j) = bounded(parts_.target.mean + parts_.target.scale * q);
        }
        std::ranges::sort(result.quantiles.row(i));  // rounding is not monotone
      }
    });
    return result;
  }

 private:
  void learn_row(std::span<const double> place, std::span<double> learned) const {
    const double factor = -0.5 / (parts_.width * parts_.width);
    std::ranges::copy(parts_.b, learned.begin());
    for (std::size_t k = 0; k < parts_.x.rows(); ++k) {
      const double near = std::exp(factor * kqr_distance(place, parts_.x.row(k)));
      const std::span<const double> a = parts_.a.row(k);
      for (std::size_t t = 0; t < kKqrCount; ++t) learned[t] += near * a[t];
    }
    std::ranges::sort(learned);
  }

  Parts parts_;
};

}  // namespace

std::span<const ParamInfo> kqr_options() { return kKqrOptions; }

std::unique_ptr<QuantileModel> fit_kqr(const FitInput& input, const Params& params,
                                       const Execution& how) {
  const KqrOptions options = parse_kqr(params);
  const TrainingRows training(input, all_rows(input.x.rows()));
  Rng rng(split(input.seed, 1));
  std::vector<std::size_t> order = random_permutation(training.y.size(), rng);
  order.resize(std::min(order.size(), options.most_rows));

  KqrModel::Parts parts;
  parts.features = input.x.cols();
  parts.columns = ModelColumns(input.model_columns);
  parts.standard = column_standards(training.x, training.weight);
  parts.target = standardise(
      training.y.size(), [&](std::size_t i) { return training.y[i]; }, training.weight);
  KqrRows rows{Matrix(order.size(), training.x.cols()), {}, {}};
  double mean_cost = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    standardise_row(training.x.row(order[k]), parts.standard, rows.x.row(k));
    rows.y.push_back(standardised(training.y[order[k]], parts.target));
    rows.cost.push_back(training.weight.empty() ? 1.0 : training.weight[order[k]]);
    mean_cost += rows.cost.back() / static_cast<double>(order.size());
  }
  for (double& cost : rows.cost) cost /= mean_cost;

  if (how.progress) how.progress("cross-validation", 0.0);
  const double unit = median_distance(rows.x);
  const KqrRows some = take_kqr(rows, all_rows(std::min(order.size(), kMostScoredRows)));
  const auto [penalty, width] = KqrSearch(some, options, unit, split(input.seed, 2)).best(how);
  parts.width = width * unit;

  if (how.progress) how.progress("solving levels", 0.3);
  const Matrix kernel = kernel_matrix(rows.x, rows.x, parts.width, how);
  const std::vector<double> cost = costs_for(rows.cost, penalty);
  const auto stop = [&] {
    if (how.stop != nullptr && how.stop->load()) throw Stopped();
  };
  std::vector<KernelQuantileFit> fits(kKqrCount);
  parallel_for(how, kKqrCount, [&](std::size_t t) {
    fits[t] = fit_kernel_quantile({kernel, rows.y, cost, Level(kKqrLevels[t])},
                                  {.gap = options.gap, .stop = stop});
  });
  parts.x = std::move(rows.x);
  parts.a = Matrix(order.size(), kKqrCount);
  for (std::size_t t = 0; t < kKqrCount; ++t) {
    parts.b.push_back(fits[t].b);
    for (std::size_t k = 0; k < order.size(); ++k) parts.a(k, t) = fits[t].a[k];
  }
  if (how.progress) how.progress("solving levels", 1.0);
  return std::make_unique<KqrModel>(std::move(parts));
}

std::unique_ptr<QuantileModel> load_kqr(const TensorReader& in) {
  KqrModel::Parts parts;
  parts.features = in.count("features", std::numeric_limits<std::uint32_t>::max());
  parts.columns = ModelColumns::load(in, parts.features);
  const std::size_t read = parts.columns.width(parts.features);
  const std::vector<double> mean = in.values<double>("mean", {read}, Must::kBeFinite);
  const std::vector<double> scale = in.values<double>("scale", {read}, Must::kBePositive);
  for (std::size_t j = 0; j < read; ++j) parts.standard.push_back({mean[j], scale[j]});
  const std::vector<double> target = in.values<double>("target", {2}, Must::kBeFinite);
  parts.target = {target[0], target[1]};
  parts.width = in.get<double>("width");
  const Shape shape = in.shape("x");
  const std::size_t rows = shape.empty() ? 0 : shape[0];
  parts.a = Matrix(in.values<double>("a", {rows, kKqrCount}, Must::kBeFinite), rows, kKqrCount);
  parts.x = Matrix(in.values<double>("x", {rows, read}, Must::kBeFinite), rows, read);
  parts.b = in.values<double>("b", {kKqrCount}, Must::kBeFinite);
  const auto too_large = [](double value) { return std::abs(value) > 1e100; };
  if (std::ranges::any_of(parts.a.values(), too_large) || std::ranges::any_of(parts.b, too_large)) {
    fail(ErrorCode::kCorruptFile, "a coefficient of the model file's kernel is above 1e100");
  }
  if (!(parts.width > 0.0) || !(parts.target.scale > 0.0) || rows == 0) {
    fail(ErrorCode::kCorruptFile,
         "the model file's kernel has a width of {} and {} rows, and its target a scale of {}",
         parts.width, rows, parts.target.scale);
  }
  return std::make_unique<KqrModel>(std::move(parts));
}

}  // namespace tare

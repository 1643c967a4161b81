// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/kernel/kernel_density.h"

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
#include "base/strings.h"
#include "calibrate/baseline/kernel/conformal_set.h"
#include "calibrate/baseline/kernel/median_cells.h"
#include "calibrate/rows/row_split.h"
#include "calibrate/rows/training_rows.h"
#include "data/rows.h"

namespace tare {
namespace {

constexpr std::size_t kMostRankedRows = 50'000;
constexpr std::size_t kMostTuningRows = 500;  // of a cell
constexpr std::size_t kDeepest = 10;
constexpr double kTuningTolerance = 0.25;
constexpr std::array kFactors = {0.5, 0.7, 1.0, 1.4, 2.0};

constexpr std::array kKernelDensityOptions = std::to_array<ParamInfo>({
    {"split", "0.5", "rows that are ranked: a share, time, or time:SHARE"},
    {"cells", "auto",
     "number of cells of the features' space, a power of 2; auto: the shortest intervals on the "
     "training rows"},
    {"min_cell", "40", "least number of training rows in a cell"},
    {"bandwidth", "auto",
     "bandwidth of the density in units of the rule for a normal distribution in each cell; auto: "
     "the shortest intervals on the training rows"},
});

struct KernelDensityOptions {
  std::optional<std::size_t> depth;
  std::optional<double> factor;
  std::size_t least = 40;
};

KernelDensityOptions parse_kernel_density(const Params& params) {
  KernelDensityOptions options;
  options.least = params.count("min_cell", 40, 1, 1'000'000);
  if (const std::string text = params.text("cells", "auto"); canonical_name(text) != "auto") {
    const auto cells = parse_number(text);
    std::size_t depth = 0;
    while (depth < kDeepest && cells && *cells > static_cast<double>(1U << depth)) ++depth;
    if (!cells || *cells != static_cast<double>(1U << depth)) {
      fail_option("cells", text, "must be auto or a power of 2 from 1 to 1024");
    }
    options.depth = depth;
  }
  if (canonical_name(params.text("bandwidth", "auto")) != "auto") {
    options.factor = params.number("bandwidth", 1.0, 1e-3, 1e3);
  }
  return options;
}

/// Targets of one cell.
struct CellRows {
  std::vector<double> y;
  std::vector<double> weight;
};

std::vector<CellRows> rows_by_cell(const MedianCells& cells, MatrixView x,
                                   std::span<const double> y, std::span<const double> weight,
                                   std::span<const std::size_t> order, std::size_t most) {
  std::vector<CellRows> result(cells.cells());
  for (const std::size_t i : order) {
    CellRows& rows = result[cells.cell_of(x.row(i))];
    if (rows.y.size() == most) continue;
    rows.y.push_back(y[i]);
    if (!weight.empty()) rows.weight.push_back(weight[i]);
  }
  return result;
}

/// Center and spread of the targets of training rows.
struct TargetSpread {
  double center = 0.0;
  double scale = 0.0;  // of a normal distribution with these quartiles; 0: they are equal
};

TargetSpread spread_of(std::vector<double> y) {
  std::ranges::sort(y);
  const auto at = [&](double share) {
    return y[static_cast<std::size_t>(share * static_cast<double>(y.size() - 1))];
  };
  TargetSpread spread{at(0.5), (at(0.75) - at(0.25)) / 1.349};
  if (spread.scale > 0.0) return spread;
  // Many are equal: the mean distance from the median, as a normal distribution has it.
  for (const double value : y) {
    spread.scale += 1.2533 * std::abs(value - spread.center) / static_cast<double>(y.size());
  }
  return spread;
}

/// The normal rule, times a factor. A cell whose training targets are all equal has the spread of
/// all; where these are equal too, any bandwidth does.
SetKernel kernel_of(const CellRows& training, const TargetSpread& all, double factor) {
  TargetSpread own = training.y.empty() ? all : spread_of(training.y);
  if (!(own.scale > 0.0)) own.scale = all.scale;
  if (!(own.scale > 0.0)) own.scale = all.center == 0.0 ? 1.0 : std::abs(all.center);
  const auto rows = static_cast<double>(std::max<std::size_t>(training.y.size(), 1));
  const double bandwidth = factor * 1.06 * own.scale * std::pow(rows, -0.2);
  return {own.center, std::max(bandwidth, std::numeric_limits<double>::min())};
}

class KernelDensityModel final : public QuantileModel {
 public:
  struct Parts {
    std::size_t features = 0;
    ModelColumns columns;
    MedianCells cells;
    std::vector<ConformalSet> sets;
  };
  explicit KernelDensityModel(Parts parts) : parts_(std::move(parts)) {}

  std::size_t features() const override { return parts_.features; }
  std::size_t given() const override { return 0; }

  void save(const TensorWriter& out) const override {
    out.value("features", parts_.features);
    parts_.columns.save(out);
    parts_.cells.save(out.part("cells"));
    for (std::size_t k = 0; k < parts_.sets.size(); ++k) {
      parts_.sets[k].save(out.part("set" + std::to_string(k)));
    }
  }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override {
    Matrix storage;
    const MatrixView x = parts_.columns.select(rows.x, storage);
    Matrix by_cell(parts_.sets.size(), levels.size());
    for (std::size_t k = 0; k < parts_.sets.size(); ++k) {
      for (std::size_t j = 0; j < levels.size(); ++j)
        by_cell(k, j) = parts_.sets[k].answer(levels[j]);
    }
    Prediction result;
    result.quantiles = Matrix(x.rows(), levels.size());
    parallel_blocks(how, x.rows(), 1024, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        std::ranges::copy(by_cell.row(parts_.cells.cell_of(x.row(i))),
                          result.quantiles.row(i).begin());
      }
    });
    return result;
  }

 private:
  Parts parts_;
};

/// Of the training rows: chooses how many cells, and then the bandwidth, by the mean length of the
/// 90 % and 50 % intervals that the training rows give when they are ranked themselves.
class KernelDensityTuning {
 public:
  KernelDensityTuning(const TrainingRows& rows, const KernelDensityOptions& options, Seed seed,
                      const Execution& how)
      : rows_(rows), options_(options), how_(how), all_(spread_of(rows.y)) {
    Rng rng(seed);
    order_ = random_permutation(rows.y.size(), rng);
  }

  const TargetSpread& all() const { return all_; }

  MedianCells cells() const {
    if (options_.depth) return at_depth(*options_.depth);
    MedianCells best;
    double least = mean_length(best, 1.0);
    std::size_t count = 1;
    for (std::size_t depth = 1; depth <= kDeepest; ++depth) {
      MedianCells cells = at_depth(depth);
      if (cells.cells() == count) break;  // no box was halved
      count = cells.cells();
      const double length = mean_length(cells, 1.0);
      if (length >= least) continue;
      least = length;
      best = std::move(cells);
    }
    return best;
  }

  double factor(const MedianCells& cells) const {
    if (options_.factor) return *options_.factor;
    double best = 1.0;
    double least = std::numeric_limits<double>::infinity();
    for (const double factor : kFactors) {
      const double length = mean_length(cells, factor);
      if (length >= least) continue;
      least = length;
      best = factor;
    }
    return best;
  }

  std::vector<CellRows> by_cell(const MedianCells& cells, std::size_t most) const {
    return rows_by_cell(cells, rows_.x, rows_.y, rows_.weight, order_, most);
  }

 private:
  MedianCells at_depth(std::size_t depth) const {
    return {rows_.x, rows_.y, depth, options_.least, how_};
  }

  /// In units of the spread, so that the mean is finite.
  double mean_length(const MedianCells& cells, double factor) const {
    const double unit = all_.scale > 0.0 ? all_.scale : 1.0;
    const std::vector<CellRows> rows = by_cell(cells, kMostTuningRows);
    std::vector<double> share(cells.cells(), 0.0);
    for (std::size_t i = 0; i < rows_.y.size(); ++i) share[cells.cell_of(rows_.x.row(i))] += 1.0;
    std::vector<double> length(cells.cells(), 0.0);
    parallel_for(how_, cells.cells(), [&](std::size_t k) {
      if (rows[k].y.empty()) return;
      SetKernel kernel = kernel_of(rows[k], all_, factor);
      kernel.tolerance = kTuningTolerance;
      const ConformalSet set(rows[k].y, rows[k].weight, kernel);
      for (const double tau : {0.05, 0.25})
        length[k] += set.answer(Level(1.0 - tau)) / unit - set.answer(Level(tau)) / unit;
    });
    double sum = 0.0;
    for (std::size_t k = 0; k < cells.cells(); ++k) sum += share[k] * length[k];
    return sum / static_cast<double>(rows_.y.size());
  }

  const TrainingRows& rows_;
  const KernelDensityOptions& options_;
  const Execution& how_;
  TargetSpread all_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::span<const ParamInfo> kernel_density_options() { return kKernelDensityOptions; }

std::unique_ptr<QuantileModel> fit_kernel_density(const FitInput& input, const Params& given,
                                                  const Execution& how) {
  Params params = with_series_split(given, input);
  if (!params.has("split")) params.set("split", "0.5");
  const KernelDensityOptions options = parse_kernel_density(params);
  const Partition parts = hold_out(input, parse_split(params));
  const std::vector<std::size_t> ranked = usable_rows(input, parts.second, kMostRankedRows);
  const TrainingRows training(input, parts.first);

  if (how.progress) how.progress("choosing cells", 0.0);
  const KernelDensityTuning tuning(training, options, split(input.seed, 1), how);
  MedianCells cells = tuning.cells();
  const double factor = tuning.factor(cells);
  const std::vector<CellRows> trained = tuning.by_cell(cells, kMostSetRows);

  if (how.progress) how.progress("ranking densities", 0.7);
  const Matrix x = take_rows(input.x, ranked, input.model_columns);
  Rng rng(split(input.seed, 3));
  const std::vector<CellRows> held_out =
      rows_by_cell(cells, x, take_rows(input.y, ranked), take_rows(input.weight, ranked),
                   random_permutation(ranked.size(), rng), kMostSetRows);
  std::vector<std::optional<ConformalSet>> made(cells.cells());
  parallel_for(how, cells.cells(), [&](std::size_t k) {
    // A cell without a held-out row, for which nothing is promised, has its training rows ranked.
    const CellRows& rows = held_out[k].y.empty() ? trained[k] : held_out[k];
    made[k].emplace(rows.y, rows.weight, kernel_of(trained[k], tuning.all(), factor));
  });
  std::vector<ConformalSet> sets;
  for (auto& set : made) sets.push_back(*std::move(set));
  if (how.progress) how.progress("ranking densities", 1.0);
  return std::make_unique<KernelDensityModel>(KernelDensityModel::Parts{
      input.x.cols(), ModelColumns(input.model_columns), std::move(cells), std::move(sets)});
}

std::unique_ptr<QuantileModel> load_kernel_density(const TensorReader& in) {
  const std::size_t features = in.count("features", std::numeric_limits<std::uint32_t>::max());
  ModelColumns columns = ModelColumns::load(in, features);
  MedianCells cells = MedianCells::load(in.part("cells"), columns.width(features));
  std::vector<ConformalSet> sets;
  for (std::size_t k = 0; k < cells.cells(); ++k) {
    sets.push_back(ConformalSet::load(in.part("set" + std::to_string(k))));
  }
  return std::make_unique<KernelDensityModel>(
      KernelDensityModel::Parts{features, std::move(columns), std::move(cells), std::move(sets)});
}

}  // namespace tare

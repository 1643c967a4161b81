// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bandwidth/bandwidth_search.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "index/dense/dense_kernels.h"
#include "math/kernel.h"

namespace tare {
namespace {

constexpr std::size_t kPathLength = 24;
constexpr std::size_t kPathGrowth = 8;    // values added at an end that wins
constexpr std::size_t kMaxGrowths = 8;    // times; 64 more values span many orders of magnitude
constexpr double kFlat = 1e-9;            // relative difference of losses that is only rounding
constexpr double kMarginalReach = 1e4;    // times the widest window: all rows weigh alike
constexpr double kMostBandwidth = 1e100;  // that a model may have; the least is its inverse
constexpr std::size_t kScaleRows = 128;   // rows whose distances set the path's first ends

struct Range {
  double low = 1.0;
  double high = 1.0;
};

/// From half the distance of a near neighbour to twice that of the farthest row, medians over some
/// rows.
Range distance_range(const LocalSample& sample, std::span<const std::size_t> places) {
  LocalSample::Scratch scratch;
  std::vector<double> near;
  std::vector<double> far;
  const std::size_t step = std::max<std::size_t>(1, places.size() / kScaleRows);
  for (std::size_t p = 0; p < places.size(); p += step) {
    sample.measure(sample.features().row(places[p]), scratch);
    auto& r2 = scratch.squared_distance;
    far.push_back(std::sqrt(*std::max_element(r2.begin(), r2.end())));
    // Duplicates of the row are ignored, because a distance of 0 is not a useful bandwidth.
    const auto positive = std::partition(r2.begin(), r2.end(), [](double r) { return r <= 0.0; });
    if (positive == r2.end()) continue;
    const auto left = static_cast<std::size_t>(r2.end() - positive);
    const auto fifth = positive + static_cast<std::ptrdiff_t>(std::min<std::size_t>(4, left - 1));
    std::nth_element(positive, fifth, r2.end());
    near.push_back(std::sqrt(*fifth));
  }
  if (near.empty()) return {};
  const auto median = [](std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  // Within the bandwidths that a model may have, with room for the path to grow.
  constexpr double kLeast = 1e-90;
  constexpr double kMost = 1e90;
  const double low = std::clamp(0.5 * median(near), kLeast, kMost);
  return {low, std::max(std::min(2.0 * median(far), kMost), 4.0 * low)};
}

std::vector<double> geometric(double low, double high, std::size_t count) {
  std::vector<double> path(count);
  for (std::size_t i = 0; i < count; ++i) {
    path[i] = low * std::pow(high / low, static_cast<double>(i) / static_cast<double>(count - 1));
  }
  return path;
}

/// Numbers of neighbours: whole and distinct, so a small sample has fewer than 24.
std::vector<double> neighbour_path(std::size_t rows) {
  const double most = static_cast<double>(std::max<std::size_t>(1, rows - 1));
  std::vector<double> path = geometric(std::min(2.0, most), most, 2 * kPathLength);
  for (double& k : path) k = std::round(k);
  path.erase(std::unique(path.begin(), path.end()), path.end());
  return path;
}

/// The best trial; on a plateau the one nearest the middle of the path.
std::size_t winner(std::span<const BandwidthTrial> path) {
  double best = path[0].loss;
  for (const BandwidthTrial& trial : path) best = std::min(best, trial.loss);
  const auto distance_to_middle = [&](std::size_t i) {
    return std::abs(2.0 * static_cast<double>(i) - static_cast<double>(path.size() - 1));
  };
  std::size_t chosen = path.size();
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i].loss > best + kFlat * std::abs(best)) continue;
    if (chosen == path.size() || distance_to_middle(i) < distance_to_middle(chosen)) chosen = i;
  }
  return chosen;
}

/// Weighted means of the columns over the rows that `in` accepts, added up in the order of the
/// rows.
template <class In>
std::vector<double> column_means(const Matrix& losses, const LocalSample& sample,
                                 std::span<const double> unit, std::span<const std::size_t> places,
                                 In in) {
  std::vector<double> means(losses.cols(), 0.0);
  double total = 0.0;
  for (std::size_t p = 0; p < places.size(); ++p) {
    if (!in(places[p])) continue;
    const double w = weight_of(sample, places[p]);
    total += w;
    const double scale = unit.empty() ? w : w * unit[places[p]];
    for (std::size_t b = 0; b < losses.cols(); ++b) means[b] += scale * losses(p, b);
  }
  for (double& mean : means) mean = total > 0.0 ? finite_loss(mean / total) : 0.0;
  return means;
}

/// A window that all rows share alike, as wide as single precision serves or wider.
double marginal_bandwidth(double widest) {
  return std::min(std::max(kMarginalReach * widest, kWidestDense), kMostBandwidth);
}

/// Mean loss of each bandwidth in each block: a row of numbers per bandwidth.
using BlockLosses = std::map<double, std::vector<double>>;

/// The widest bandwidth whose losses over the blocks cannot be told from those of the best.
double widest_as_good(const BlockLosses& losses, double best) {
  const std::vector<double>& reference = losses.at(best);
  const auto blocks = static_cast<double>(reference.size());
  double widest = best;
  for (const auto& [bandwidth, loss] : losses) {
    if (bandwidth <= best) continue;
    double mean = 0.0;
    double squares = 0.0;
    for (std::size_t k = 0; k < reference.size(); ++k) mean += (loss[k] - reference[k]) / blocks;
    for (std::size_t k = 0; k < reference.size(); ++k) {
      squares += (loss[k] - reference[k] - mean) * (loss[k] - reference[k] - mean);
    }
    if (mean > std::sqrt(squares / (blocks - 1.0) / blocks)) break;
    widest = bandwidth;
  }
  return widest;
}

}  // namespace

double weight_of(const LocalSample& sample, std::size_t place) {
  return sample.weights().empty() ? 1.0 : sample.weights()[place];
}

void keep_rows(const Matrix& losses, std::span<const double> bandwidths, const LocalSample& sample,
               std::span<const double> unit, std::span<const std::size_t> places, RowLosses& kept) {
  for (std::size_t b = 0; b < bandwidths.size(); ++b) {
    std::vector<double>& column = kept[bandwidths[b]];
    for (std::size_t p = 0; p < places.size(); ++p) {
      const double scale = unit.empty() ? 1.0 : unit[places[p]];
      column.push_back(weight_of(sample, places[p]) * scale * losses(p, b));
    }
  }
}

BandwidthChoice search_bandwidth(const LocalSample& sample, const RowNotes& notes,
                                 const SnqOptions& options, std::span<const std::size_t> places,
                                 const Execution& how, RowLosses* kept) {
  const std::span<const std::size_t> block = notes.block;
  BandwidthChoice choice;
  choice.rule = "auto";
  choice.rows_left_out = places.size();
  BlockLosses block_losses;
  std::set<std::size_t> blocks;
  for (const std::size_t i : places) {
    if (!block.empty()) blocks.insert(block[i]);
  }
  const auto try_all = [&](const std::vector<double>& bandwidths) {
    const Matrix losses = leave_one_out_losses(sample, block, options, bandwidths, places, how);
    const auto means =
        column_means(losses, sample, notes.unit, places, [](std::size_t) { return true; });
    if (kept != nullptr) keep_rows(losses, bandwidths, sample, notes.unit, places, *kept);
    for (const std::size_t one : blocks) {
      const auto in_block = column_means(losses, sample, notes.unit, places,
                                         [&](std::size_t i) { return block[i] == one; });
      for (std::size_t b = 0; b < bandwidths.size(); ++b)
        block_losses[bandwidths[b]].push_back(in_block[b]);
    }
    for (std::size_t b = 0; b < bandwidths.size(); ++b)
      choice.path.push_back({bandwidths[b], means[b]});
    std::sort(choice.path.begin(), choice.path.end(),
              [](const auto& one, const auto& other) { return one.bandwidth < other.bandwidth; });
  };
  const auto choose = [&] {
    choice.bandwidth = choice.path[winner(choice.path)].bandwidth;
    if (blocks.size() < 2) return;
    choice.rule = "auto, widest within one standard error over blocks in time";
    choice.bandwidth = widest_as_good(block_losses, choice.bandwidth);
  };

  if (options.kernel == KernelKind::kKnn) {
    // From two neighbours to all: there is nothing beyond either end to grow into.
    try_all(neighbour_path(sample.rows()));
    choose();
    return choice;
  }
  const Range range = distance_range(sample, places);
  const double factor = kernel_width_factor(options.kernel);
  try_all(
      geometric(range.low * factor, std::max(range.high, 4.0 * range.low) * factor, kPathLength));
  const double ratio = choice.path[1].bandwidth / choice.path[0].bandwidth;
  for (std::size_t growth = 0; growth < kMaxGrowths; ++growth) {
    const std::size_t best = winner(choice.path);
    if (best > 0 && best + 1 < choice.path.size()) break;
    std::vector<double> more;
    for (std::size_t i = 1; i <= kPathGrowth; ++i) {
      const double step = std::pow(ratio, static_cast<double>(i));
      const double next =
          best == 0 ? choice.path.front().bandwidth / step : choice.path.back().bandwidth * step;
      if (next >= 1.0 / kMostBandwidth && next <= kMostBandwidth) more.push_back(next);
    }
    if (more.empty()) break;
    try_all(more);
  }
  if (notes.marginal) try_all({marginal_bandwidth(choice.path.back().bandwidth)});
  choose();
  return choice;
}

}  // namespace tare

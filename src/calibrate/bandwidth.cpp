// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bandwidth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "calibrate/dense_losses.h"
#include "index/dense_kernels.h"
#include "math/kernel.h"

namespace tare {
namespace {

constexpr std::size_t kPathLength = 24;
constexpr std::size_t kPathGrowth = 8;  // values added at an end that wins
constexpr std::size_t kMaxGrowths = 8;  // times; 64 more values span many orders of magnitude
constexpr double kFlat = 1e-9;          // relative difference of losses that is only rounding
constexpr std::size_t kDoublePairs = 100'000'000;  // where every pair is taken in double precision
constexpr std::size_t kMinLeftOut = 1'000;
constexpr std::size_t kFirstBlocks =
    3;  // of rows in time order: only there for later ones to be predicted from
constexpr std::size_t kDenseRows = 1'000;  // from here on one sweep for all bandwidths pays
constexpr double kMarginalReach = 1e4;     // times the widest window: all rows weigh alike
constexpr std::size_t kScaleRows = 128;    // rows whose distances set the path's first ends

/// How much of a sample is used: above `rows` a random part of that size stands for it, and of that
/// part `left_out` rows are predicted. Below, all rows are, or as many as `pairs` allows.
struct SearchSize {
  std::size_t rows;
  std::size_t left_out;
  std::size_t pairs;
};

SearchSize search_size(KernelKind kernel) {
  // For knn every number of neighbours selects among all rows again, in double precision.
  if (kernel == KernelKind::kKnn) return {4'000, 1'000, 4'000'000};
  return {20'000, 4'000, 400'000'000};
}

std::vector<std::size_t> random_places(std::size_t rows, std::size_t count, Seed seed) {
  Rng rng(seed);
  std::vector<std::size_t> places = random_permutation(rows, rng);
  places.resize(std::min(rows, count));
  std::sort(places.begin(), places.end());
  return places;
}

DenseRows dense_rows(const LocalSample& sample) {
  return {sample.features().columns(), sample.rows(), sample.dims(), sample.weights()};
}

/// Some places as a sample of their own. They are ascending, so the order of residuals stays.
LocalSample part_of(const LocalSample& sample, std::span<const std::size_t> places) {
  const auto taken = [&](std::span<const double> values) {
    std::vector<double> part;
    part.reserve(places.size());
    for (const std::size_t place : places) part.push_back(values[place]);
    return part;
  };
  const std::span<const double> all = sample.features().columns();
  std::vector<double> columns;
  for (std::size_t j = 0; j < sample.dims(); ++j) {
    const auto column = taken(all.subspan(j * sample.rows(), sample.rows()));
    columns.insert(columns.end(), column.begin(), column.end());
  }
  Buffer<double> weights;
  if (!sample.weights().empty()) weights = Buffer<double>(taken(sample.weights()));
  return {BruteForce(Buffer<double>(std::move(columns)), places.size(), sample.dims()),
          Buffer<double>(taken(sample.residuals())), std::move(weights)};
}

/// A bandwidth for `part` rows as one for `whole` rows, by the rate of Theorem 1.
double carried_over(KernelKind kernel, double bandwidth, std::size_t dims, std::size_t part,
                    std::size_t whole) {
  const double growth = static_cast<double>(whole) / static_cast<double>(part);
  const double root = static_cast<double>(dims) + 2.0;
  if (kernel != KernelKind::kKnn) return bandwidth * std::pow(growth, -1.0 / root);
  const double most = static_cast<double>(whole - 1);
  return std::clamp(std::round(bandwidth * std::pow(growth, 2.0 / root)), 1.0, most);
}

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
    // Duplicates of the row itself say nothing about a distance worth smoothing over.
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
  const double low = 0.5 * median(near);
  return {low, std::max(2.0 * median(far), 4.0 * low)};
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
    const double w = sample.weights().empty() ? 1.0 : sample.weights()[places[p]];
    total += w;
    const double scale = unit.empty() ? w : w * unit[places[p]];
    for (std::size_t b = 0; b < losses.cols(); ++b) means[b] += scale * losses(p, b);
  }
  for (double& mean : means) mean = total > 0.0 ? mean / total : 0.0;
  return means;
}

/// A window that all rows share alike, as wide as single precision serves or wider.
double marginal_bandwidth(double widest) {
  constexpr double kMost = 1e100;  // that a model may have
  return std::min(std::max(kMarginalReach * widest, kWidestDense), kMost);
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

double rate_bandwidth(KernelKind kernel, std::size_t rows, std::size_t dims, double scale) {
  const auto n = static_cast<double>(rows);
  const auto d = static_cast<double>(dims);
  if (kernel == KernelKind::kKnn) {
    const double k = std::round((scale > 0.0 ? scale : 1.0) * std::pow(n, 2.0 / (d + 2.0)));
    return std::clamp(k, 1.0, n);
  }
  const double c = scale > 0.0 ? scale : std::sqrt(std::max(d, 1.0)) * kernel_width_factor(kernel);
  return c * std::pow(n, -1.0 / (d + 2.0));
}

Matrix leave_one_out_losses(const LocalSample& sample, std::span<const std::size_t> block,
                            const SnqOptions& options, std::span<const double> bandwidths,
                            std::span<const std::size_t> places, const Execution& how) {
  if (block.empty() && sample.rows() >= kDenseRows && options.kernel != KernelKind::kKnn) {
    const DenseRows rows = dense_rows(sample);
    if (dense_losses_serve(rows, options.kernel, bandwidths)) {
      return dense_losses(sample, rows, options, bandwidths, places, how);
    }
  }
  return exact_leave_one_out_losses(sample, block, options, bandwidths, places, how);
}

Matrix exact_leave_one_out_losses(const LocalSample& sample, std::span<const std::size_t> block,
                                  const SnqOptions& options, std::span<const double> bandwidths,
                                  std::span<const std::size_t> places, const Execution& how) {
  const std::vector<Level> levels = metric_levels();
  Matrix losses(places.size(), bandwidths.size());
  parallel_for(how, places.size(), [&](std::size_t p) {
    thread_local LocalSample::Scratch scratch;
    thread_local std::vector<double> quantiles;
    quantiles.resize(levels.size());
    const double u = sample.residuals()[places[p]];
    sample.measure(sample.features().row(places[p]), scratch);
    sample.leave_out(places[p], scratch);
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (block[i] >= block[places[p]]) sample.leave_out(i, scratch);
    }
    for (std::size_t b = 0; b < bandwidths.size(); ++b) {
      SnqOptions trial = options;
      trial.bandwidth = bandwidths[b];
      sample.weigh(trial, scratch);
      sample.quantiles(levels, scratch, quantiles);
      double loss = 0.0;
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const double error = u - quantiles[j];
        loss += std::max(levels[j].value() * error, (levels[j].value() - 1.0) * error);
      }
      losses(p, b) = loss / static_cast<double>(levels.size());
    }
  });
  return losses;
}

namespace {

/// The search itself: each of `places` is predicted from all other rows.
BandwidthChoice search(const LocalSample& sample, const PlaceNotes& notes,
                       const SnqOptions& options, std::span<const std::size_t> places,
                       const Execution& how) {
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
      more.push_back(best == 0 ? choice.path.front().bandwidth / step
                               : choice.path.back().bandwidth * step);
    }
    try_all(more);
  }
  if (notes.marginal) try_all({marginal_bandwidth(choice.path.back().bandwidth)});
  choose();
  return choice;
}

/// The search on a random part of the rows, carried over to all.
BandwidthChoice search_part(const LocalSample& sample, const PlaceNotes& notes,
                            const SnqOptions& options, Seed seed, const Execution& how) {
  const SearchSize size = search_size(options.kernel);
  const auto kept = random_places(sample.rows(), size.rows, split(seed, 0));
  const LocalSample part = part_of(sample, kept);
  std::vector<double> unit;
  for (const std::size_t i : kept) {
    if (!notes.unit.empty()) unit.push_back(notes.unit[i]);
  }
  const auto places = random_places(part.rows(), size.left_out, split(seed, 1));
  BandwidthChoice choice =
      search(part, {.unit = unit, .marginal = notes.marginal}, options, places, how);
  const auto carry = [&](double& bandwidth) {
    bandwidth = carried_over(options.kernel, bandwidth, sample.dims(), part.rows(), sample.rows());
  };
  carry(choice.bandwidth);
  for (BandwidthTrial& trial : choice.path) carry(trial.bandwidth);
  return choice;
}

}  // namespace

BandwidthChoice choose_bandwidth(const LocalSample& sample, const PlaceNotes& notes,
                                 const SnqOptions& options, Seed seed, const Execution& how) {
  const std::span<const std::size_t> block = notes.block;
  const std::size_t rows = sample.rows();
  if (rows < 2) {
    fail(ErrorCode::kBadData, "a bandwidth cannot be chosen from {} calibration rows", rows);
  }
  const SearchSize size = search_size(options.kernel);
  if (block.empty() && rows > size.rows) return search_part(sample, notes, options, seed, how);
  const bool in_double = !block.empty() || (rows >= kDenseRows && !dense_rows(sample).usable());
  const std::size_t pairs = in_double ? std::min(size.pairs, kDoublePairs) : size.pairs;
  auto places = random_places(rows, std::max(kMinLeftOut, pairs / rows), split(seed, 0));
  if (!block.empty()) std::erase_if(places, [&](std::size_t i) { return block[i] < kFirstBlocks; });
  return search(sample, notes, options, places, how);
}

BandwidthChoice choose_bandwidth(MatrixView z, std::span<const double> u,
                                 std::span<const double> weight, const SnqOptions& options,
                                 Seed seed, const Execution& how) {
  const Snq checked(z, u, weight, options);  // for its checks
  return choose_bandwidth(LocalSample(z, u, weight), {}, options, seed, how);
}

}  // namespace tare

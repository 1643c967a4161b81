// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/brute_answer.h"

#include <utility>

#include "base/parallel.h"
#include "calibrate/snq/engine/exact_losses.h"

namespace tare {
namespace {

constexpr std::size_t kBlockQueries = 64;  // that a thread takes at a time
constexpr RowCost kOneByOne{1.5, 0.3};
constexpr RowCost kMasks{0.05, 0.125};
constexpr RowCost kCoarseMasks{0.05, 0.02};

double brute_cost(const LocalSample& sample, const SnqOptions& options) {
  const auto rows = static_cast<double>(sample.rows());
  const auto dims = static_cast<double>(sample.dims());
  if (!MaskAnswer::serves(sample, options)) return rows * kOneByOne(dims);
  const auto grid = coarse_grid(sample.features().columns(), sample.rows(), sample.dims());
  return rows * (grid.serves(options.bandwidth) ? kCoarseMasks(dims) : kMasks(dims));
}

}  // namespace

SnqEngineInfo BruteAnswer::info() {
  return {.name = "brute",
          .made_for = "every kernel",
          .takes_kernel = [](KernelKind) { return true; },
          .serves = [](const LocalSample&, const SnqOptions&) { return true; },
          .cost = brute_cost,
          .make = [](const std::shared_ptr<const LocalSample>& sample,
                     const SnqOptions& options) -> std::unique_ptr<const SnqEngine> {
            return std::make_unique<const BruteAnswer>(sample, options);
          },
          .losses = [](const LocalSample& sample, const SnqOptions& options,
                       std::span<const double> bandwidths, std::span<const std::size_t> places,
                       const Execution& how) -> std::optional<Matrix> {
            return exact_leave_one_out_losses(sample, {}, options, bandwidths, places, how);
          }};
}

BruteAnswer::BruteAnswer(std::shared_ptr<const LocalSample> sample, const SnqOptions& options)
    : sample_(std::move(sample)), query_cost_(brute_cost(*sample_, options)) {
  if (MaskAnswer::serves(*sample_, options)) {
    masks_ = std::make_unique<const MaskAnswer>(*sample_, options);
  }
}

void BruteAnswer::predict(MatrixView z, std::span<const Level> levels, const SnqOptions& options,
                          const Execution& how, Prediction& result) const {
  if (masks_) return masks_->predict(z, levels, options, how, result);
  parallel_blocks(how, z.rows(), kBlockQueries, [&](std::size_t first, std::size_t last) {
    RankRule rule(options.ranks, levels);
    for (std::size_t i = first; i < last; ++i) {
      answer_in_double(*sample_, z.row(i), i, options, rule, result);
    }
  });
}

void answer_in_double(const LocalSample& sample, std::span<const double> query, std::size_t i,
                      const SnqOptions& options, RankRule& rule, Prediction& result) {
  thread_local LocalSample::Scratch scratch;
  const double nearest = sample.measure(query, scratch);
  if (!result.nearest.empty()) result.nearest[i] = nearest;
  const auto support = sample.weigh(options, scratch);
  result.window_n[i] = support.effective_n;
  result.fallback[i] = support.fallback ? 1 : 0;
  sample.quantiles(rule, scratch, result.quantiles.row(i));
}

}  // namespace tare

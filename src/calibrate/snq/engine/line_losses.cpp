// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/line_losses.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "calibrate/snq/engine/sorted_line.h"
#include "calibrate/snq/window/rank_rule.h"

namespace tare {
namespace {

/// One row left out, by its feature and its place.
struct Query {
  double z;
  std::uint32_t place;
  std::size_t row;  // of the losses
};

/// The window with the row itself inside, though only the others answer; each of the bandwidths
/// finds it again among them.
SortedLine::Window window_of(const SortedLine& line, double z, const SnqOptions& options,
                             double bandwidth, const SortedLine::Window& guess) {
  if (std::isinf(bandwidth)) return line.all();
  if (options.kernel == KernelKind::kKnn) {
    return line.nearest(z, static_cast<std::size_t>(bandwidth) + 1, options.tie_tolerance, guess);
  }
  const SortedLine::Window window = line.within(z, bandwidth * bandwidth, guess);
  if (window.rows() > 1) return window;
  return options.fallback == Fallback::kMarginal
             ? line.all()
             : line.nearest(z, options.min_support + 1, options.tie_tolerance, guess);
}

}  // namespace

bool line_losses_serve(const LocalSample& sample, const SnqOptions& options) {
  return sample.dims() == 1 && sample.weights().empty() && sample.rows() > 1 &&
         (options.kernel == KernelKind::kNaive || options.kernel == KernelKind::kKnn);
}

Matrix line_losses(const LocalSample& sample, const SnqOptions& options,
                   std::span<const double> bandwidths, std::span<const std::size_t> places,
                   const Execution& how) {
  const std::span<const double> feature = sample.features().columns();
  const SortedLine line(feature);
  const std::vector<Level> levels = metric_levels();
  std::vector<Query> queries;
  for (std::size_t p = 0; p < places.size(); ++p) {
    queries.push_back({feature[places[p]], static_cast<std::uint32_t>(places[p]), p});
  }
  std::ranges::sort(queries, {}, [](const Query& query) { return std::pair(query.z, query.row); });
  Matrix losses(places.size(), bandwidths.size());
  parallel_for(how, bandwidths.size(), [&](std::size_t b) {
    LineSweep sweep(line);
    RankRule rule(Ranks::kPaper, levels);
    std::vector<std::uint32_t> found(levels.size());
    for (const Query& query : queries) {
      sweep.move_to(window_of(line, query.z, options, bandwidths[b], sweep.window()));
      sweep.take_out(query.place);
      sweep.select(rule.ranks(sweep.rows()), found);
      sweep.put_back(query.place);
      const double u = sample.residuals()[query.place];
      double loss = 0.0;
      for (std::size_t j = 0; j < levels.size(); ++j) {
        const double error = u - sample.residuals()[found[j]];
        loss += std::max(levels[j].value() * error, (levels[j].value() - 1.0) * error);
      }
      losses(query.row, b) = loss / static_cast<double>(levels.size());
    }
  });
  return losses;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/exact_losses.h"

#include <vector>

#include "base/parallel.h"
#include "math/pinball.h"

namespace tare {

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
        loss += pinball_of_error(u - quantiles[j], levels[j].value());
      }
      losses(p, b) = loss / static_cast<double>(levels.size());
    }
  });
  return losses;
}

}  // namespace tare

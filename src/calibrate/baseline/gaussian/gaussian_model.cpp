// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/gaussian_model.h"

#include "math/bounded.h"
#include "math/normal.h"

namespace tare {

std::vector<double> normal_scores(std::span<const Level> levels) {
  std::vector<double> scores;
  for (const Level level : levels) scores.push_back(normal_quantile(level.value()));
  return scores;
}

Prediction gaussian_quantiles(const Gaussians& laws, std::span<const double> scores) {
  Prediction result;
  result.quantiles = Matrix(laws.mean.size(), scores.size());
  for (std::size_t i = 0; i < laws.mean.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j)
      result.quantiles(i, j) = bounded(laws.mean[i] + laws.sd[i] * scores[j]);
  }
  return result;
}

}  // namespace tare

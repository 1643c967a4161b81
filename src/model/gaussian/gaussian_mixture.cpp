// SPDX-License-Identifier: BSD-3-Clause
#include "model/gaussian/gaussian_mixture.h"

#include <cmath>

#include "model/nn/scaling.h"

namespace tare {

void MixtureMoments::add(std::size_t row, double mean, double sd) {
  // Welford's update: no difference of large squares.
  Moments& m = moments_[row];
  m.count += 1.0;
  const double before = mean - m.mean;
  m.mean += m.count == 1.0 ? before : before / m.count;
  const double after = mean - m.mean;
  m.between += (before / unit_) * (after / unit_);
  m.within += (sd / unit_) * (sd / unit_);
}

Gaussians MixtureMoments::result() const {
  Gaussians result;
  for (const Moments& m : moments_) {
    result.mean.push_back(m.mean);
    result.sd.push_back(nn::bounded(unit_ * std::sqrt((m.between + m.within) / m.count)));
  }
  return result;
}

}  // namespace tare

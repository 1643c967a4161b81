// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace tare {

/// A mean and a standard deviation for each row, in the user's units.
struct Gaussians {
  std::vector<double> mean;
  std::vector<double> sd;  // 0 or more
};

/// The first two moments of equal mixtures of normal distributions, one mixture for each row: its
/// variance is the mean of the variances plus the variance of the means. If all components are
/// equal, the mean is exactly theirs. Rows may be added to from different threads, each from one.
class MixtureMoments {
 public:
  /// `unit` is the order of magnitude of the sds, so that no square overflows; above 0.
  MixtureMoments(std::size_t rows, double unit) : unit_(unit), moments_(rows) {}

  void add(std::size_t row, double mean, double sd);
  Gaussians result() const;

 private:
  struct Moments {
    double count = 0.0;
    double mean = 0.0;
    double between = 0.0;  // sum of squared differences from the mean, in unit^2
    double within = 0.0;   // sum of the variances, in unit^2
  };

  double unit_;
  std::vector<Moments> moments_;
};

}  // namespace tare

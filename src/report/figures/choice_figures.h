// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/html/page.h"

namespace tare {

/// The bandwidths that a fit tried, and the one it chose.
struct BandwidthPath {
  struct Trial {
    double bandwidth = 0.0;
    double loss = 0.0;
  };
  std::vector<Trial> trials;  // ascending
  double taken = 0.0;         // may be infinite
  std::size_t rows = 0;       // that were left out
  std::string remark;         // whose path it is, where a model has several
};

/// The candidates that `auto` tried, and those it kept.
struct AutoTrail {
  struct Step {
    std::string name;
    double loss = 0.0;
    double bandwidth = 0.0;
    double share = 0.0;  // of the average
  };
  std::vector<Step> steps;
  double average_loss = 0.0;
  std::size_t rows = 0;  // that were left out
  // Values that many rows share, and the candidate that tells which quantiles lie there.
  std::vector<double> masses;
  std::string guide;
};

/// "0, 1.5 and 3 more are kept as they are (...)", or nothing where no value is kept.
std::string mass_words(const AutoTrail& trail);

Card bandwidth_card(const BandwidthPath& path);
Card trail_card(const AutoTrail& trail);

}  // namespace tare

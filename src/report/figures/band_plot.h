// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tare {

/// One feature, its data, the truth where it is known, and what a model predicts.
///
/// The grid `x` is ascending (kInvalidArgument otherwise); every non-empty vector below it is as
/// long (else kShapeMismatch), and an empty one is not drawn. A band needs both of its edges, or
/// neither.
struct BandPlot {
  std::string title{};
  std::string x_label{};
  std::string y_label{};

  std::vector<double> point_x{};  // the data shown; the caller picks how many
  std::vector<double> point_y{};

  std::vector<double> x{};
  std::vector<double> true_mean{};
  std::vector<double> true_lower{};  // of the true 95 % band
  std::vector<double> true_upper{};
  std::vector<double> median{};  // predicted
  std::vector<double> lower{};   // of the predicted 95 % band
  std::vector<double> upper{};
};

/// An SVG chart of 900 x 520 pixels: dots for the data, a filled area and a line for the predicted
/// band and median, a line and dashed lines for the true mean and band. Values that are not finite
/// leave gaps.
std::string band_plot(const BandPlot& plot);

}  // namespace tare

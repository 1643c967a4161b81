// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "evaluate/experiment/study/figure_data.h"

namespace tare {

/// The paper's Figures 1 and 2 as one SVG element: a panel for each method with its 95 % band, all
/// on the same axes; for a known-law problem with the true mean and band, for a series with the
/// observed targets. A figure without panels says so.
std::string band_figure(const FigureData& figure);

}  // namespace tare

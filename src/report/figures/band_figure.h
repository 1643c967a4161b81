// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "evaluate/experiment/study/figure_data.h"

namespace tare {

/// The paper's Figures 1 and 2 as one SVG element: a panel for each method with its 95 % band, all
/// on the same axes; beside a known law its mean and band, and in a series what was observed. A
/// figure without panels says so.
std::string band_figure(const FigureData& figure);

}  // namespace tare

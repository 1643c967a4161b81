// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "report/svg/svg.h"

namespace tare {

/// A named value with its error bar. An infinite end is drawn up to the edge of the plot; a value
/// that is not finite is printed as text.
struct NamedValue {
  std::string name;
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
  Ink ink = Ink::kBlue;
  std::string tip = {};
};

struct RowChartOptions {
  std::string label;                 // what the picture is called where it cannot be seen
  std::string x_label;               // below the axis
  std::vector<double> marks = {};    // upright dashed lines: what the values are held against
  std::vector<double> reached = {};  // values that the axis spans in any case
  bool names_above = false;          // for long ones: each on a line of its own
  int width = 440;
};

/// Names from top to bottom, each with a dot and an error bar from left to right: an SVG element
/// for a page that has the style. Long names are cut; the tip has the full name.
std::string row_chart(const RowChartOptions& options, const std::vector<NamedValue>& rows);

}  // namespace tare

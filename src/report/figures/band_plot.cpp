// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/band_plot.h"

#include <algorithm>

#include "base/fail.h"
#include "report/svg/svg.h"

namespace tare {
namespace {

void check_column(const char* name, const std::vector<double>& column, std::size_t rows) {
  if (!column.empty() && column.size() != rows) {
    fail(ErrorCode::kShapeMismatch, "band_plot: {} has {} values for {} grid points", name,
         column.size(), rows);
  }
}

void check_edges(const char* name, const std::vector<double>& lower,
                 const std::vector<double>& upper) {
  if (lower.empty() != upper.empty()) {
    fail(ErrorCode::kShapeMismatch, "band_plot: the {} band has only one of its edges", name);
  }
}

}  // namespace

std::string band_plot(const BandPlot& plot) {
  if (!std::is_sorted(plot.x.begin(), plot.x.end())) {
    fail(ErrorCode::kInvalidArgument, "band_plot: the grid x must be ascending");
  }
  const std::size_t rows = plot.x.size();
  check_column("true_mean", plot.true_mean, rows);
  check_column("true_lower", plot.true_lower, rows);
  check_column("true_upper", plot.true_upper, rows);
  check_column("median", plot.median, rows);
  check_column("lower", plot.lower, rows);
  check_column("upper", plot.upper, rows);
  check_edges("true", plot.true_lower, plot.true_upper);
  check_edges("predicted", plot.lower, plot.upper);

  Chart chart({.title = plot.title, .x_label = plot.x_label, .y_label = plot.y_label});
  // The dots are drawn first, below the lines: there are many of them, and the lines matter more.
  if (!plot.point_x.empty() || !plot.point_y.empty()) {
    chart.scatter(plot.point_x, plot.point_y, Ink::kGrey, "data");
  }
  if (!plot.lower.empty()) {
    chart.band(plot.x, plot.lower, plot.upper, Ink::kBlue, "predicted 95 % band");
  }
  if (!plot.median.empty()) {
    chart.line(plot.x, plot.median, Ink::kBlue, Stroke::kSolid, "predicted median");
  }
  if (!plot.true_mean.empty()) {
    chart.line(plot.x, plot.true_mean, Ink::kOrange, Stroke::kSolid, "true mean");
  }
  if (!plot.true_lower.empty()) {
    chart.line(plot.x, plot.true_lower, Ink::kOrange, Stroke::kDashed, "true 95 % band");
    chart.line(plot.x, plot.true_upper, Ink::kOrange, Stroke::kDashed, "");
  }
  return chart.render();
}

}  // namespace tare

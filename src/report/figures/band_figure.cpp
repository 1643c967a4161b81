// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/band_figure.h"

#include <algorithm>
#include <limits>

#include "report/svg/svg.h"

namespace tare {
namespace {

ChartOptions panel_options(const FigureData& figure, const std::string& name) {
  ChartOptions options;
  options.title = name;
  options.x_label = figure.x_label;
  options.y_label = figure.y_label;
  options.legend = LegendPlace::kNone;
  // Two known-law panels side by side fill the width of a page; so does one series.
  const bool law = figure.kind == FigureKind::kLaw;
  options.width = law ? 560 : 1120;
  options.height = law ? 400 : 300;
  return options;
}

Chart law_chart(const FigureData& figure, const FigurePanel& panel) {
  Chart chart(panel_options(figure, panel.name));
  chart.scatter(panel.observed_x, panel.observed_y, Ink::kGrey, "data");
  chart.band(panel.x, panel.lower, panel.upper, Ink::kBlue, "predicted 95 % band");
  chart.line(panel.x, panel.median, Ink::kBlue, Stroke::kSolid, "predicted median");
  chart.line(panel.x, figure.true_mean, Ink::kOrange, Stroke::kSolid, "true mean");
  chart.line(panel.x, figure.true_lower, Ink::kOrange, Stroke::kDashed, "true 95 % band");
  chart.line(panel.x, figure.true_upper, Ink::kOrange, Stroke::kDashed, "");
  return chart;
}

Chart series_chart(const FigureData& figure, const FigurePanel& panel) {
  Chart chart(panel_options(figure, panel.name));
  chart.band(panel.x, panel.lower, panel.upper, Ink::kBlue, "predicted 95 % band");
  chart.line(panel.x, panel.median, Ink::kBlue, Stroke::kSolid, "predicted median");
  chart.scatter(panel.observed_x, panel.observed_y, Ink::kOrange, "observed");
  return chart;
}

/// The same axes for all panels, so that a band that is too wide is visible as such. A band far
/// outside the range of the rows (a failed training) gets an axis of its own.
void share_axes(const FigureData& figure, std::vector<Chart>& charts) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const FigurePanel& panel : figure.panels) {
    for (const double y : panel.observed_y) {
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  const double room = high - low;
  for (Chart& chart : charts) {
    for (const FigurePanel& panel : figure.panels) {
      for (std::size_t i = 0; i < panel.x.size(); ++i) {
        for (const double y : {panel.lower[i], panel.upper[i]}) {
          if (y > low - room && y < high + room) chart.reach(panel.x[i], y);
        }
      }
    }
    chart.reach(figure.panels.front().x.front(), low);
    chart.reach(figure.panels.front().x.back(), high);
  }
}

}  // namespace

std::string band_figure(const FigureData& figure) {
  const bool law = figure.kind == FigureKind::kLaw;
  std::vector<Chart> charts;
  for (const FigurePanel& panel : figure.panels) {
    charts.push_back(law ? law_chart(figure, panel) : series_chart(figure, panel));
  }
  if (charts.empty()) {
    charts.emplace_back(panel_options(figure, "no method could be fitted"));
  } else {
    share_axes(figure, charts);
  }
  return render_panels({figure.title, law ? std::size_t{2} : std::size_t{1}}, charts);
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/fail.h"
#include "report/svg/svg.h"
#include "report/svg/svg_parts.h"

namespace tare {

std::string render_panels(const PanelOptions& options, std::span<const Chart> charts) {
  if (charts.empty() || options.columns == 0) {
    fail(ErrorCode::kInvalidArgument, "panels: {} charts in {} columns; both must be at least 1",
         charts.size(), options.columns);
  }
  int width = 0;
  int height = 0;
  for (const Chart& chart : charts) {
    width = std::max(width, chart.options_.width);
    height = std::max(height, chart.options_.height);
  }
  const int columns = static_cast<int>(std::min(options.columns, charts.size()));
  const int rows = (static_cast<int>(charts.size()) + columns - 1) / columns;
  Chart::LegendMarks legend;
  if (charts.front().options_.legend == LegendPlace::kNone) {
    legend = charts.front().legend(columns * width, 0.0);
  }
  const double top = kTitleLine + 12.0 + kLineHeight * legend.lines;
  std::string out = title_text(options.title) + legend.svg;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const int at = static_cast<int>(i);
    fmt::format_to(std::back_inserter(out), "<g transform=\"translate({} {:.2f})\">\n{}</g>\n",
                   at % columns * width, top + at / columns * height, charts[i].contents());
  }
  return svg_element({options.title, columns * width, static_cast<int>(top) + rows * height}, out);
}

}  // namespace tare

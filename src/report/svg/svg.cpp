// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg/svg.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "report/svg/chart_frame.h"
#include "report/svg/escape.h"
#include "report/svg/svg_parts.h"

namespace tare {
namespace {

std::vector<double> copy(std::span<const double> values) { return {values.begin(), values.end()}; }

void check_lengths(const char* where, std::size_t x, std::size_t y) {
  if (x != y) fail(ErrorCode::kShapeMismatch, "chart {}: {} x but {} y", where, x, y);
}

}  // namespace

Chart::Chart(ChartOptions options) : options_(std::move(options)) {
  if (options_.width < 240 || options_.height < 160) {
    fail(ErrorCode::kInvalidArgument, "chart: {} x {} pixels; at least 240 x 160 are needed",
         options_.width, options_.height);
  }
}

void Chart::band(std::span<const double> x, std::span<const double> lower,
                 std::span<const double> upper, Ink ink, const std::string& legend) {
  check_lengths("band", x.size(), lower.size());
  check_lengths("band", x.size(), upper.size());
  series_.push_back({Kind::kBand, ink, Stroke::kSolid, legend, copy(x), copy(lower), copy(upper)});
}

void Chart::line(std::span<const double> x, std::span<const double> y, Ink ink, Stroke stroke,
                 const std::string& legend) {
  check_lengths("line", x.size(), y.size());
  series_.push_back({Kind::kLine, ink, stroke, legend, copy(x), copy(y), {}});
}

void Chart::scatter(std::span<const double> x, std::span<const double> y, Ink ink,
                    const std::string& legend, DotSize size) {
  check_lengths("scatter", x.size(), y.size());
  series_.push_back({Kind::kScatter, ink, Stroke::kSolid, legend, copy(x), copy(y), {}, size});
}

void Chart::bars(std::span<const double> from, std::span<const double> to,
                 std::span<const double> height, Ink ink, const std::string& legend) {
  check_lengths("bars", from.size(), to.size());
  check_lengths("bars", from.size(), height.size());
  series_.push_back({Kind::kBars, ink, Stroke::kSolid, legend, copy(from), copy(height), copy(to)});
}

void Chart::whiskers(std::span<const double> x, std::span<const double> low,
                     std::span<const double> high, Ink ink, const std::string& legend) {
  check_lengths("whiskers", x.size(), low.size());
  check_lengths("whiskers", x.size(), high.size());
  series_.push_back({Kind::kWhiskers, ink, Stroke::kSolid, legend, copy(x), copy(low), copy(high)});
}

void Chart::tips(std::vector<std::string> texts) {
  if (series_.empty()) fail(ErrorCode::kInvalidArgument, "chart: tips for no series");
  check_lengths("tips", series_.back().x.size(), texts.size());
  series_.back().tips = std::move(texts);
}

bool Chart::fits(const Series& s, std::size_t i, const Frame& f) const {
  if (!f.x.takes(s.x[i]) || !f.y.takes(s.y[i])) return false;
  if (s.kind == Kind::kBars) return f.x.takes(s.upper[i]);
  return !s.has_upper_y() || f.y.takes(s.upper[i]);
}

Chart::Frame Chart::frame() const {
  Frame f;
  f.x = Axis(options_.x_scale);
  f.y = Axis(options_.y_scale);
  for (const auto& [x, y] : reached_) {
    f.x.include(x);
    f.y.include(y);
  }
  for (const Series& s : series_) {
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!fits(s, i, f)) continue;
      f.x.include(s.x[i]);
      f.y.include(s.y[i]);
      if (s.has_upper_y()) f.y.include(s.upper[i]);
      if (s.kind != Kind::kBars) continue;
      f.x.include(s.upper[i]);
      f.y.include(0.0);
    }
  }
  f.x.finish(std::max(2, options_.width / 90));
  f.y.finish(std::max(2, options_.height / 56));

  double widest = 0.0;
  for (const Axis::Tick& tick : f.y.ticks()) widest = std::max(widest, text_width(tick.label));
  const int lines = options_.legend == LegendPlace::kTop ? legend(options_.width, 0.0).lines : 0;
  f.left = kEdge + (options_.y_label.empty() ? 0.0 : kLineHeight) + widest + 10.0;
  f.right = options_.width - kEdge;
  f.top = (options_.title.empty() ? kEdge : kTitleLine + 16.0) + kLineHeight * lines;
  f.bottom = options_.height - kEdge - (options_.x_label.empty() ? 0.0 : kLineHeight) - 10.0;
  return f;
}

std::string Chart::axes(const Frame& f) const {
  std::string out;
  const auto put = std::back_inserter(out);
  for (const Axis::Tick& tick : f.y.ticks()) {
    const double y = f.y.place(tick.value, f.bottom, f.top);
    fmt::format_to(put, "<path class=\"grid\" d=\"M{:.2f} {:.2f}H{:.2f}\"/>\n", f.left, y, f.right);
    fmt::format_to(
        put, "<text class=\"minor\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"end\">{}</text>\n",
        f.left - 9.0, y + 4.5, tick.label);
  }
  for (const Axis::Tick& tick : f.x.ticks()) {
    const double x = f.x.place(tick.value, f.left, f.right);
    fmt::format_to(put, "<path class=\"axis\" d=\"M{:.2f} {:.2f}v5\"/>\n", x, f.bottom);
    fmt::format_to(
        put, "<text class=\"minor\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\">{}</text>\n",
        x, f.bottom + 20.0, tick.label);
  }
  fmt::format_to(put, "<path class=\"axis\" d=\"M{:.2f} {:.2f}H{:.2f}\"/>\n", f.left, f.bottom,
                 f.right);
  const double centre_x = (f.left + f.right) / 2.0;
  const double centre_y = (f.top + f.bottom) / 2.0;
  if (!options_.x_label.empty()) {
    fmt::format_to(put, "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\">{}</text>\n",
                   centre_x, options_.height - 14.0,
                   escape_xml(fitting_text(options_.x_label, f.right - f.left)));
  }
  if (!options_.y_label.empty()) {
    fmt::format_to(put,
                   "<text transform=\"translate({:.2f} {:.2f}) rotate(-90)\" "
                   "text-anchor=\"middle\">{}</text>\n",
                   kEdge + 4.0, centre_y,
                   escape_xml(fitting_text(options_.y_label, f.bottom - f.top)));
  }
  if (f.x.empty()) {
    fmt::format_to(
        put, "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\">nothing to draw</text>\n",
        centre_x, centre_y);
  }
  return out;
}

Chart::LegendMarks Chart::legend(int width, double lift) const {
  std::vector<std::string> texts;
  for (const Series& s : series_) texts.push_back(s.legend);
  LegendMarks marks;
  marks.lines = lay_out_legend(texts, width, [&](std::size_t i, double x, double y) {
    marks.svg += swatch(series_[i], x, y - lift);
    fmt::format_to(std::back_inserter(marks.svg), "<text x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n",
                   x + kSwatch + 8.0, y - lift, escape_xml(texts[i]));
  });
  return marks;
}

std::string Chart::contents() const {
  const Frame f = frame();
  std::string out = title_text(options_.title);
  if (options_.legend == LegendPlace::kTop) {
    out += legend(options_.width, options_.title.empty() ? kTitleLine - 6.0 : 0.0).svg;
  }
  out += axes(f);
  for (const Series& s : series_) out += shape(s, f);
  return out;
}

std::string Chart::render() const {
  return svg_element({options_.title, options_.width, options_.height}, contents());
}

std::string Chart::render_in_page(const std::string& label) const {
  return page_svg({label, options_.width, options_.height}, contents());
}

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

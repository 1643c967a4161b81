// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/row_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/html/numbers.h"
#include "report/svg/escape.h"
#include "report/svg/svg_parts.h"

namespace tare {
namespace {

constexpr double kRowHeight = 26.0;
constexpr double kNameLine = 18.0;  // if names are above their dots
constexpr double kRowsTop = 12.0;
constexpr double kAxisRoom = 48.0;   // ticks and label
constexpr double kNameShare = 0.42;  // of the width, at most

struct RowFrame {
  Axis x;
  double left = 0.0;
  double right = 0.0;
  double bottom = 0.0;
  double row_height = kRowHeight;

  double at(double value) const { return x.place(value, left, right); }
  /// The same, clamped to the plot.
  double kept(double value) const {
    if (std::isnan(value)) return left;
    if (!x.takes(value)) return value < 0.0 ? left : right;
    return std::clamp(at(value), left, right);
  }
};

RowFrame frame_of(const RowChartOptions& options, const std::vector<NamedValue>& rows) {
  RowFrame f;
  double widest = 0.0;
  for (const NamedValue& row : rows) {
    widest = std::max(widest, text_width(row.name));
    for (const double v : {row.value, row.low, row.high}) f.x.include(v);
  }
  for (const double v : options.marks) f.x.include(v);
  for (const double v : options.reached) f.x.include(v);
  const double names = std::min(widest, kNameShare * options.width);
  f.left = options.names_above ? 14.0 : names + 16.0;
  f.right = options.width - 14.0;
  f.x.finish(std::max(2, static_cast<int>((f.right - f.left) / 70.0)));
  if (options.names_above) f.row_height += kNameLine;
  f.bottom = kRowsTop + f.row_height * static_cast<double>(rows.size());
  return f;
}

std::string axis_of(const RowChartOptions& options, const RowFrame& f) {
  std::string out;
  const auto put = std::back_inserter(out);
  for (const Axis::Tick& tick : f.x.ticks()) {
    fmt::format_to(put,
                   "<path class=\"grid\" d=\"M{0:.2f} {1}V{2:.2f}\"/>\n<text class=\"minor\" "
                   "x=\"{0:.2f}\" y=\"{3:.2f}\" text-anchor=\"middle\">{4}</text>\n",
                   f.at(tick.value), kRowsTop, f.bottom, f.bottom + 18.0, tick.label);
  }
  for (const double mark : options.marks) {
    if (!f.x.takes(mark)) continue;
    fmt::format_to(put, "<path class=\"line grey dashed\" d=\"M{:.2f} {}V{:.2f}\"/>\n", f.at(mark),
                   kRowsTop, f.bottom);
  }
  const bool fits = text_width(options.x_label) <= f.right - f.left;
  fmt::format_to(put, "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\">{}</text>\n",
                 fits ? (f.left + f.right) / 2.0 : options.width / 2.0, f.bottom + 38.0,
                 escape_xml(fitting_text(options.x_label, options.width)));
  return out;
}

std::string name_of(const NamedValue& row, const RowFrame& f, double y, bool above) {
  const double x = above ? f.left : f.left - 10.0;
  const double room = above ? f.right - f.left : f.left - 16.0;
  return fmt::format(
      "<text class=\"halo\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\">{}</text>\n", x,
      above ? y - 12.0 : y + 4.5, above ? "start" : "end",
      escape_xml(fitting_text(row.name, room)));
}

std::string mark_of(const NamedValue& row, const RowFrame& f, double y) {
  const std::string_view ink = ink_name(row.ink);
  if (!f.x.takes(row.value)) {
    return fmt::format("<text class=\"minor\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", f.left + 6.0,
                       y + 4.5, number_text(row.value));
  }
  return fmt::format(
      "<g class=\"whiskers {0}\"><path d=\"M{1:.2f} {2:.2f}H{3:.2f}\"/></g>\n"
      "<g class=\"dots strong fill-{0}\"><circle cx=\"{4:.2f}\" cy=\"{2:.2f}\" "
      "r=\"4.6\"><title>{5}</title></circle></g>\n",
      ink, f.kept(row.low), y, f.kept(row.high), f.at(row.value),
      escape_xml(row.tip.empty() ? row.name : row.tip));
}

}  // namespace

std::string row_chart(const RowChartOptions& options, const std::vector<NamedValue>& rows) {
  const RowFrame f = frame_of(options, rows);
  std::string out = axis_of(options, f);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double end = kRowsTop + f.row_height * static_cast<double>(k + 1);
    const double y = end - kRowHeight / 2.0;
    out += name_of(rows[k], f, y, options.names_above) + mark_of(rows[k], f, y);
  }
  const int height = static_cast<int>(std::ceil(f.bottom + kAxisRoom));
  return page_svg({options.label, options.width, height}, out);
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "report/escape.h"
#include "report/svg_parts.h"

namespace tare {
namespace {

std::string_view ink_name(Ink ink) {
  switch (ink) {
    case Ink::kGrey:
      return "grey";
    case Ink::kBlue:
      return "blue";
    case Ink::kOrange:
      return "orange";
    case Ink::kGreen:
      return "green";
  }
  return "grey";
}

std::string line_class(Ink ink, Stroke stroke) {
  return fmt::format("line {}{}", ink_name(ink), stroke == Stroke::kDashed ? " dashed" : "");
}

std::vector<double> copy(std::span<const double> values) { return {values.begin(), values.end()}; }

void check_lengths(const char* where, std::size_t x, std::size_t y) {
  if (x != y) fail(ErrorCode::kShapeMismatch, "chart {}: {} x but {} y", where, x, y);
}

struct Point {
  double x = 0.0;
  double y = 0.0;
};

void append_points(std::string& path, std::span<const Point> points, char first) {
  for (const Point& p : points) {
    fmt::format_to(std::back_inserter(path), "{}{:.2f} {:.2f}", first, p.x, p.y);
    first = 'L';
  }
}

// Calls body(begin, end) for each run of consecutive indices that keep() accepts.
template <class Keep, class Body>
void for_runs(std::size_t count, const Keep& keep, const Body& body) {
  for (std::size_t begin = 0; begin < count;) {
    std::size_t end = begin;
    while (end < count && keep(end)) ++end;
    if (end > begin) body(begin, end);
    begin = end + 1;
  }
}

}  // namespace

struct Chart::Frame {
  Axis x;
  Axis y;
  double left = 0.0;
  double right = 0.0;
  double top = 0.0;
  double bottom = 0.0;

  Point at(double vx, double vy) const {
    return {x.place(vx, left, right), y.place(vy, bottom, top)};
  }
};

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
                    const std::string& legend) {
  check_lengths("scatter", x.size(), y.size());
  series_.push_back({Kind::kScatter, ink, Stroke::kSolid, legend, copy(x), copy(y), {}});
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
      if (!f.x.takes(s.x[i]) || !f.y.takes(s.y[i])) continue;
      if (s.kind == Kind::kBand && !f.y.takes(s.upper[i])) continue;
      f.x.include(s.x[i]);
      f.y.include(s.y[i]);
      if (s.kind == Kind::kBand) f.y.include(s.upper[i]);
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
                   centre_x, options_.height - 14.0, escape_xml(options_.x_label));
  }
  if (!options_.y_label.empty()) {
    fmt::format_to(put,
                   "<text transform=\"translate({:.2f} {:.2f}) rotate(-90)\" "
                   "text-anchor=\"middle\">{}</text>\n",
                   kEdge + 4.0, centre_y, escape_xml(options_.y_label));
  }
  if (f.x.empty()) {
    fmt::format_to(
        put, "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\">nothing to draw</text>\n",
        centre_x, centre_y);
  }
  return out;
}

std::string Chart::shape(const Series& s, const Frame& f) const {
  const bool is_band = s.kind == Kind::kBand;
  const auto keep = [&](std::size_t i) {
    return f.x.takes(s.x[i]) && f.y.takes(s.y[i]) && (!is_band || f.y.takes(s.upper[i]));
  };
  std::string marks;
  for_runs(s.x.size(), keep, [&](std::size_t begin, std::size_t end) {
    std::vector<Point> points;
    for (std::size_t i = begin; i < end; ++i) points.push_back(f.at(s.x[i], s.y[i]));
    if (s.kind == Kind::kScatter) {
      for (const Point& p : points) {
        fmt::format_to(std::back_inserter(marks),
                       "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"2.2\"/>\n", p.x, p.y);
      }
      return;
    }
    for (std::size_t i = end; is_band && i-- > begin;) points.push_back(f.at(s.x[i], s.upper[i]));
    append_points(marks, points, 'M');
    if (is_band) marks += 'Z';
    if (points.size() == 1) marks += "h0";  // a lone point shows as the round end of its line
  });
  if (marks.empty()) return {};
  if (s.kind == Kind::kScatter) {
    return fmt::format("<g class=\"dots fill-{}\">\n{}</g>\n", ink_name(s.ink), marks);
  }
  const std::string style =
      is_band ? fmt::format("area fill-{}", ink_name(s.ink)) : line_class(s.ink, s.stroke);
  return fmt::format("<path class=\"{}\" d=\"{}\"/>\n", style, marks);
}

std::string Chart::swatch(const Series& s, double x, double y) const {
  const double middle = y - 4.5;
  if (s.kind == Kind::kScatter) {
    return fmt::format(
        "<g class=\"dots fill-{}\"><circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3.4\"/></g>",
        ink_name(s.ink), x + kSwatch / 2.0, middle);
  }
  if (s.kind == Kind::kBand) {
    return fmt::format(
        "<rect class=\"area fill-{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{}\" height=\"12\" "
        "rx=\"2\"/>",
        ink_name(s.ink), x, middle - 6.0, kSwatch);
  }
  return fmt::format("<path class=\"{}\" d=\"M{:.2f} {:.2f}h{}\"/>", line_class(s.ink, s.stroke), x,
                     middle, kSwatch);
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

}  // namespace tare

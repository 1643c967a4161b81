// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/svg/chart_frame.h"
#include "report/svg/escape.h"
#include "report/svg/svg.h"
#include "report/svg/svg_parts.h"

namespace tare {
namespace {

double radius_of(DotSize size) {
  return size == DotSize::kSmall ? 2.2 : size == DotSize::kMedium ? 3.2 : 4.4;
}

/// Few large dots are opaque; many small ones are not, so that their number can be seen.
std::string_view dots_class(DotSize size) {
  return size == DotSize::kSmall ? "dots" : "dots strong";
}

std::string line_class(Ink ink, Stroke stroke) {
  return fmt::format("line {}{}", ink_name(ink), stroke == Stroke::kDashed ? " dashed" : "");
}

void append_points(std::string& path, std::span<const PicturePoint> points, char first) {
  for (const PicturePoint& p : points) {
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

/// A mark's element from its start, "<circle ... ", and what it says when it is pointed at.
std::string with_tip(const std::string& start, const std::string& element,
                     const std::vector<std::string>& tips, std::size_t i) {
  if (tips.empty() || tips[i].empty()) return start + "/>\n";
  return fmt::format("{}><title>{}</title></{}>\n", start, escape_xml(tips[i]), element);
}

}  // namespace

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

/// Marks that stand for themselves: dots, bars, whiskers.
std::string Chart::marks(const Series& s, const Frame& f) const {
  std::string out;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!fits(s, i, f)) continue;
    const PicturePoint p = f.at(s.x[i], s.y[i]);
    if (s.kind == Kind::kScatter) {
      out += with_tip(
          fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\"", p.x, p.y, radius_of(s.size)),
          "circle", s.tips, i);
    } else if (s.kind == Kind::kWhiskers) {
      const PicturePoint end = f.at(s.x[i], s.upper[i]);
      out += with_tip(fmt::format("<path d=\"M{:.2f} {:.2f}V{:.2f}\"", p.x, p.y, end.y), "path",
                      s.tips, i);
    } else {
      const PicturePoint foot = f.at(s.upper[i], 0.0);
      out +=
          with_tip(fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"",
                               p.x, std::min(p.y, foot.y), std::max(0.5, foot.x - p.x - 1.0),
                               std::max(0.5, std::max(p.y, foot.y) - std::min(p.y, foot.y))),
                   "rect", s.tips, i);
    }
  }
  if (out.empty()) return {};
  const std::string_view kind = s.kind == Kind::kScatter ? dots_class(s.size)
                                : s.kind == Kind::kBars  ? "bars"
                                                         : "whiskers";
  const std::string_view paint = s.kind == Kind::kWhiskers ? "" : "fill-";
  return fmt::format("<g class=\"{} {}{}\">\n{}</g>\n", kind, paint, ink_name(s.ink), out);
}

std::string Chart::shape(const Series& s, const Frame& f) const {
  const bool is_band = s.kind == Kind::kBand;
  if (!is_band && s.kind != Kind::kLine) return marks(s, f);
  std::string path;
  const auto keep = [&](std::size_t i) { return fits(s, i, f); };
  for_runs(s.x.size(), keep, [&](std::size_t begin, std::size_t end) {
    std::vector<PicturePoint> points;
    for (std::size_t i = begin; i < end; ++i) points.push_back(f.at(s.x[i], s.y[i]));
    for (std::size_t i = end; is_band && i-- > begin;) points.push_back(f.at(s.x[i], s.upper[i]));
    append_points(path, points, 'M');
    if (is_band) path += 'Z';
    if (points.size() == 1) path += "h0";  // a lone point shows as the round end of its line
  });
  if (path.empty()) return {};
  const std::string style =
      is_band ? fmt::format("area fill-{}", ink_name(s.ink)) : line_class(s.ink, s.stroke);
  return fmt::format("<path class=\"{}\" d=\"{}\"/>\n", style, path);
}

std::string Chart::swatch(const Series& s, double x, double y) const {
  const double middle = y - 4.5;
  if (s.kind == Kind::kScatter) {
    return fmt::format(
        "<g class=\"{} fill-{}\"><circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3.4\"/></g>",
        dots_class(s.size), ink_name(s.ink), x + kSwatch / 2.0, middle);
  }
  if (s.kind == Kind::kBand || s.kind == Kind::kBars) {
    return fmt::format(
        "<rect class=\"{} fill-{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{}\" height=\"12\" "
        "rx=\"2\"/>",
        s.kind == Kind::kBand ? "area" : "bars", ink_name(s.ink), x, middle - 6.0, kSwatch);
  }
  return fmt::format("<path class=\"{}\" d=\"M{:.2f} {:.2f}h{}\"/>", line_class(s.ink, s.stroke), x,
                     middle, kSwatch);
}

}  // namespace tare

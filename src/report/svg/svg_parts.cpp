// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg/svg_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/svg/chart_style.h"
#include "report/svg/escape.h"

namespace tare {

double text_width(std::string_view text) {
  // Continuation bytes of UTF-8 do not make a text wider.
  const auto chars = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  });
  return kCharWidth * static_cast<double>(chars);
}

std::string title_text(const std::string& title) {
  if (title.empty()) return {};
  return fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>\n", kEdge, kTitleLine,
                     escape_xml(title));
}

std::string svg_element(const Picture& picture, const std::string& contents) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tare-chart\" role=\"img\" "
      "viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n<title>{2}</title>\n",
      picture.width, picture.height, escape_xml(picture.title));
  out += kChartStyle;
  fmt::format_to(std::back_inserter(out), "<rect class=\"page\" width=\"{}\" height=\"{}\"/>\n",
                 picture.width, picture.height);
  return out + contents + "</svg>\n";
}

std::string page_svg(const Picture& picture, const std::string& contents) {
  return fmt::format(
      "<svg class=\"tare-chart\" role=\"img\" tabindex=\"0\" aria-label=\"{2}\" "
      "viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n{3}</svg>\n",
      picture.width, picture.height, escape_xml(picture.title), contents);
}

std::string fitting_text(const std::string& text, double width) {
  if (text_width(text) <= width) return text;
  std::string out;
  double used = kCharWidth;  // of the mark
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
    if (starts && used + kCharWidth > width) break;
    if (starts) used += kCharWidth;
    out += c;
  }
  return out + "…";
}

}  // namespace tare

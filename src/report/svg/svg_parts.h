// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tare {

// Measures and parts that a chart and a picture of several charts have in common.

inline constexpr double kEdge = 24.0;        // from the picture's border to its contents
inline constexpr double kTitleLine = 30.0;   // baseline of the title
inline constexpr double kLegendLine = 56.0;  // baseline of the first line of the legend
inline constexpr double kLineHeight = 20.0;
inline constexpr double kCharWidth = 7.2;  // a generous mean of 13-pixel sans-serif faces
inline constexpr double kSwatch = 26.0;

/// About how many pixels a text takes.
double text_width(std::string_view text);

/// Lays out legend entries from left to right, and onto a new line where one would not fit. Calls
/// visit(i, x, y) for each text that is not empty; returns the number of lines.
template <class Visit>
int lay_out_legend(std::span<const std::string> texts, int width, const Visit& visit) {
  double x = kEdge;
  int line = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    const double needed = kSwatch + 8.0 + text_width(texts[i]);
    if (x > kEdge && x + needed > width - kEdge) {
      x = kEdge;
      ++line;
    }
    visit(i, x, kLegendLine + kLineHeight * line);
    x += needed + 18.0;
  }
  return x > kEdge ? line + 1 : 0;
}

/// A title at its place, or nothing where it is empty.
std::string title_text(const std::string& title);

struct Picture {
  std::string title;
  int width = 0;  // pixels
  int height = 0;
};

/// The SVG element with style and background around `contents`.
std::string svg_element(const Picture& picture, const std::string& contents);
/// The same inside of a page that has the style: the picture's title is its name for those who
/// cannot see it, and the keyboard reaches it.
std::string page_svg(const Picture& picture, const std::string& contents);

/// The text, or as much of it as fits into `width` pixels, with a mark of what is missing.
std::string fitting_text(const std::string& text, double width);

}  // namespace tare

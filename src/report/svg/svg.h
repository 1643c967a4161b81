// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/svg/axis.h"

namespace tare {

/// The roles a series can play; each has a colour for light and one for dark pages, and
/// colour-blind readers can distinguish them.
enum class Ink : std::uint8_t { kGrey, kBlue, kOrange, kGreen };
enum class Stroke : std::uint8_t { kSolid, kDashed };
enum class LegendPlace : std::uint8_t { kTop, kNone };
enum class DotSize : std::uint8_t { kSmall, kMedium, kLarge };

struct ChartOptions {
  std::string title{};
  std::string x_label{};
  std::string y_label{};
  int width = 900;  // pixels; at least 240 x 160
  int height = 520;
  AxisScale x_scale = AxisScale::kLinear;
  AxisScale y_scale = AxisScale::kLinear;
  LegendPlace legend = LegendPlace::kTop;
};

/// Charts side by side: a title over all of them, and how many fit in a row.
struct PanelOptions {
  std::string title{};
  std::size_t columns = 1;
};

/// A chart that is filled series by series, later ones on top, and written as one SVG element
/// without scripts, fonts or links. It follows the reader's light or dark setting.
///
/// Series of unequal lengths are kShapeMismatch. A point with a coordinate that is NaN, infinite or
/// beyond 1e150, or not above 0 on a log scale, is left out: it leaves a gap in a line or band.
/// Both axes span what is drawn. A series with an empty legend text is not in the legend.
class Chart {
 public:
  explicit Chart(ChartOptions options);

  void band(std::span<const double> x, std::span<const double> lower, std::span<const double> upper,
            Ink ink, const std::string& legend);
  void line(std::span<const double> x, std::span<const double> y, Ink ink, Stroke stroke,
            const std::string& legend);
  void scatter(std::span<const double> x, std::span<const double> y, Ink ink,
               const std::string& legend, DotSize size = DotSize::kSmall);
  /// Upright bars from 0 to `height`, over from[i] to to[i].
  void bars(std::span<const double> from, std::span<const double> to,
            std::span<const double> height, Ink ink, const std::string& legend);
  /// Upright lines from `low` to `high`.
  void whiskers(std::span<const double> x, std::span<const double> low,
                std::span<const double> high, Ink ink, const std::string& legend);

  /// What the marks of the series that was added last say when they are pointed at, one text for
  /// each; of dots, bars and whiskers.
  void tips(std::vector<std::string> texts);

  /// Makes the axes reach this point, so that charts side by side can share them.
  void reach(double x, double y) { reached_.emplace_back(x, y); }

  /// The SVG element, ready to be a file of its own or part of a page.
  std::string render() const;
  /// The same as a part of a page that has the style, in its colours: can be reached with the
  /// keyboard, and is called `label` where it cannot be seen.
  std::string render_in_page(const std::string& label) const;

  /// Several charts in one SVG element, in rows from left to right, each in a cell as large as the
  /// largest. The first chart's legend is shown for all if the charts have none of their own. No
  /// charts are kInvalidArgument, and so are no columns.
  friend std::string render_panels(const PanelOptions& options, std::span<const Chart> charts);

 private:
  enum class Kind : std::uint8_t { kBand, kLine, kScatter, kBars, kWhiskers };
  struct Series {
    Kind kind = Kind::kLine;
    Ink ink = Ink::kGrey;
    Stroke stroke = Stroke::kSolid;
    std::string legend;
    std::vector<double> x;
    std::vector<double> y;      // of a band or whiskers the lower end
    std::vector<double> upper;  // of bars the right side
    DotSize size = DotSize::kSmall;
    std::vector<std::string> tips = {};

    bool has_upper_y() const { return kind == Kind::kBand || kind == Kind::kWhiskers; }
  };
  struct Frame;  // where the plot lies in the picture
  struct LegendMarks {
    std::string svg;
    int lines = 0;
  };

  Frame frame() const;
  std::string contents() const;  // all but the element itself and the style
  std::string axes(const Frame& frame) const;
  bool fits(const Series& series, std::size_t i, const Frame& frame) const;
  std::string shape(const Series& series, const Frame& frame) const;
  std::string marks(const Series& series, const Frame& frame) const;
  LegendMarks legend(int width, double lift) const;
  std::string swatch(const Series& series, double x, double y) const;

  ChartOptions options_;
  std::vector<Series> series_;
  std::vector<std::pair<double, double>> reached_;
};

std::string render_panels(const PanelOptions& options, std::span<const Chart> charts);

/// The name of an ink in the style's classes.
std::string_view ink_name(Ink ink);

}  // namespace tare

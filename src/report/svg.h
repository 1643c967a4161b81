// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tare {

/// The roles a series can play; each has a colour for light and one for dark pages, told apart by
/// the colour-blind as well.
enum class Ink : std::uint8_t { kGrey, kBlue, kOrange, kGreen };
enum class Stroke : std::uint8_t { kSolid, kDashed };

struct ChartOptions {
  std::string title{};
  std::string x_label{};
  std::string y_label{};
  int width = 900;  // pixels; at least 240 x 160
  int height = 520;
};

/// A chart that is filled series by series, later ones on top, and written as one SVG element
/// without scripts, fonts or links. It follows the reader's light or dark setting.
///
/// Series of unequal lengths are kShapeMismatch. A point with a coordinate that is NaN, infinite or
/// beyond 1e150 is left out: it leaves a gap in a line or band. Both axes span what is drawn. A
/// series with an empty legend text is not in the legend.
class Chart {
 public:
  explicit Chart(ChartOptions options);

  void band(std::span<const double> x, std::span<const double> lower, std::span<const double> upper,
            Ink ink, const std::string& legend);
  void line(std::span<const double> x, std::span<const double> y, Ink ink, Stroke stroke,
            const std::string& legend);
  void scatter(std::span<const double> x, std::span<const double> y, Ink ink,
               const std::string& legend);

  /// The SVG element, ready to be a file of its own or part of a page.
  std::string render() const;

 private:
  enum class Kind : std::uint8_t { kBand, kLine, kScatter };
  struct Series {
    Kind kind = Kind::kLine;
    Ink ink = Ink::kGrey;
    Stroke stroke = Stroke::kSolid;
    std::string legend;
    std::vector<double> x;
    std::vector<double> y;  // of a band the lower edge
    std::vector<double> upper;
  };
  struct Frame;  // where the plot lies in the picture

  Frame frame() const;
  std::string axes(const Frame& frame) const;
  std::string shape(const Series& series, const Frame& frame) const;
  std::string legend() const;
  std::string swatch(const Series& series, double x, double y) const;

  ChartOptions options_;
  std::vector<Series> series_;
};

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/slice_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/figures/row_chart.h"
#include "report/html/numbers.h"
#include "report/svg/svg.h"
#include "report/svg/svg_parts.h"

namespace tare {
namespace {

constexpr int kWidth = 440;
constexpr int kHeight = 250;
constexpr double kAlwaysShown[] = {85.0, 95.0};  // so that small errors do not look large

std::string range_text(double from, double to) {
  return from == to ? number_text(from)
                    : fmt::format("{} to {}", number_text(from), number_text(to));
}

std::string part_text(const Cut::Part& part) {
  return part.name.empty() ? range_text(part.from, part.to) : part.name;
}

/// Whether the error bar of a slice does not contain 90 %.
bool off(const Slice& slice) { return covers_too_little(slice) || covers_too_much(slice); }

bool any_width_to_draw(const std::vector<Slice>& slices) {
  return std::ranges::any_of(slices, [](const Slice& s) { return drawable(s.width); });
}

std::string coverage_tip(const Slice& slice) {
  return fmt::format(
      "{}\ncovers {}\n{}: {} below, {} above{}", part_text(slice.part),
      percent_text(slice.coverage, slice.coverage_low, slice.coverage_high), rows_text(slice.rows),
      count_text(slice.below), count_text(slice.above),
      slice.on_end > 0 ? fmt::format(", {} at an end", count_text(slice.on_end)) : "");
}

std::string width_tip(const Slice& slice) {
  return fmt::format("{}\nmedian width {} (95 % interval {} to {})", part_text(slice.part),
                     number_text(slice.width), number_text(slice.width_low),
                     number_text(slice.width_high));
}

/// Dots with error bars over the middles of the slices, those that are off in orange.
struct Dots {
  std::vector<double> x, y, low, high;
  std::vector<std::string> tips;

  void add(double at, double value, double from, double to, std::string tip) {
    x.push_back(at);
    y.push_back(value);
    low.push_back(from);
    high.push_back(to);
    tips.push_back(std::move(tip));
  }
  void draw(Chart& chart, Ink ink, const std::string& legend) {
    if (x.empty()) return;
    chart.whiskers(x, low, high, ink, "");
    chart.scatter(x, y, ink, legend, DotSize::kLarge);
    chart.tips(std::move(tips));
  }
};

std::string number_pictures(const ReportColumn& column, const std::vector<Slice>& slices) {
  Chart coverage(
      {.x_label = column.name, .y_label = "% covered", .width = kWidth, .height = kHeight});
  Chart width({.x_label = column.name, .y_label = "width", .width = kWidth, .height = kHeight});
  Dots right, wrong, widths;
  for (const Slice& s : slices) {
    (off(s) ? wrong : right)
        .add(s.part.middle, 100.0 * s.coverage, 100.0 * s.coverage_low, 100.0 * s.coverage_high,
             coverage_tip(s));
    widths.add(s.part.middle, s.width, s.width_low, s.width_high, width_tip(s));
  }
  const std::vector<double> ends = {slices.front().part.middle, slices.back().part.middle};
  const std::vector<double> wanted(2, 100.0 * Outcomes::kConfidence);
  coverage.line(ends, wanted, Ink::kGrey, Stroke::kDashed, "90 %, nominal");
  for (const double percent : kAlwaysShown) coverage.reach(ends[0], percent);
  right.draw(coverage, Ink::kBlue, wrong.x.empty() ? "covered" : "within chance");
  wrong.draw(coverage, Ink::kOrange, "off");
  width.reach(ends[0], 0.0);
  width.reach(ends[1], 0.0);
  widths.draw(width, Ink::kGreen, "");
  std::string pictures =
      coverage.render_in_page("Coverage of the 90 % interval along " + column.name);
  const bool itself = column.origin == ColumnOrigin::kDerived && column.name == kWidthColumn;
  if (any_width_to_draw(slices) && !itself) {
    pictures += width.render_in_page("Width of the 90 % interval along " + column.name);
  }
  return pictures;
}

std::string name_pictures(const ReportColumn& column, const std::vector<Slice>& slices) {
  std::vector<NamedValue> coverage, width;
  for (const Slice& s : slices) {
    coverage.push_back({s.part.name, 100.0 * s.coverage, 100.0 * s.coverage_low,
                        100.0 * s.coverage_high, off(s) ? Ink::kOrange : Ink::kBlue,
                        coverage_tip(s)});
    width.push_back({s.part.name, s.width, s.width_low, s.width_high, Ink::kGreen, width_tip(s)});
  }
  std::string pictures = row_chart({.label = "Coverage of the 90 % interval by " + column.name,
                                    .x_label = "% covered; dashed: 90 %, nominal",
                                    .marks = {100.0 * Outcomes::kConfidence},
                                    .reached = {kAlwaysShown[0], kAlwaysShown[1]}},
                                   coverage);
  if (any_width_to_draw(slices)) {
    pictures += row_chart({.label = "Width of the 90 % interval by " + column.name,
                           .x_label = "median width",
                           .reached = {0.0}},
                          width);
  }
  return pictures;
}

Cells slice_table(const ReportColumn& column, const std::vector<Slice>& slices) {
  Cells rows = {{column.name, "rows", "below", "above", "at an end", "% covered", "from", "to",
                 "median width", "from", "to"}};
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100.0 * share); };
  for (const Slice& s : slices) {
    rows.push_back({part_text(s.part), count_text(s.rows), count_text(s.below), count_text(s.above),
                    count_text(s.on_end), percent(s.coverage), percent(s.coverage_low),
                    percent(s.coverage_high), number_text(s.width), number_text(s.width_low),
                    number_text(s.width_high)});
  }
  return rows;
}

std::string slice_words(const ReportColumn& column, const std::vector<Slice>& slices) {
  if (slices.size() == 1) {
    return fmt::format(
        "All rows have the same value, or there are too few rows to cut: {} covered.",
        percent_text(slices[0].coverage, slices[0].coverage_low, slices[0].coverage_high));
  }
  const auto wrong = static_cast<std::size_t>(std::ranges::count_if(slices, off));
  if (wrong == 0) {
    return "Every error bar contains 90 %: no error was found along this column.";
  }
  const auto worst = std::ranges::min_element(slices, {}, [](const Slice& s) {
    return off(s) ? -std::fabs(s.coverage - Outcomes::kConfidence) : 1.0;
  });
  return fmt::format(
      "{} of {} error bars do not contain 90 %; by chance about one in twenty would not. The "
      "largest error is at {}: {}.{}",
      wrong, slices.size(), part_text(worst->part),
      percent_text(worst->coverage, worst->coverage_low, worst->coverage_high),
      column.origin == ColumnOrigin::kFeature && wrong > 1
          ? " Add this column to the kernel (`fit --calibrate-on`)."
          : "");
}

std::string condition_text(const RegionCondition& c, const ReportColumn& column, double room) {
  const std::string name = fitting_text(column.name, room);
  if (column.categorical) return fmt::format("{} = {}", name, fitting_text(c.name, room));
  if (c.from == c.to) return fmt::format("{} = {}", name, number_text(c.from));
  return fmt::format("{} from {} to {}", name, number_text(c.from), number_text(c.to));
}

/// The region's conditions, with names cut to `room` pixels each.
std::string conditions_text(const Region& region, std::span<const ReportColumn> columns,
                            double room) {
  if (region.where.empty()) return "all rows";
  std::string text;
  for (const RegionCondition& c : region.where) {
    if (!text.empty()) text += " and ";
    text += condition_text(c, columns[c.column], room);
  }
  return text;
}

/// Short enough for the figure: the end of each condition matters most.
std::string region_label(const Region& region, std::span<const ReportColumn> columns) {
  return conditions_text(region, columns, region.where.size() > 1 ? 80.0 : 190.0);
}

}  // namespace

Card column_card(const ReportColumn& column, const std::vector<Slice>& slices) {
  return {.title = column.name,
          .pictures =
              column.categorical ? name_pictures(column, slices) : number_pictures(column, slices),
          .words = {slice_words(column, slices),
                    any_width_to_draw(slices)
                        ? ""
                        : "No width is drawn: the intervals are infinite, or too wide to draw."},
          .table = slice_table(column, slices)};
}

std::string region_text(const Region& region, std::span<const ReportColumn> columns) {
  return conditions_text(region, columns, std::numeric_limits<double>::infinity());
}

std::string region_fault(const Region& region) {
  if (region.event == CalibrationEvent::kCovered) {
    return region.too_low() ? "intervals too short or misplaced" : "intervals too wide";
  }
  return region.too_low() ? "predictions too small" : "predictions too large";
}

Card worst_regions_card(const RegionSearch& search, std::span<const ReportColumn> columns) {
  std::vector<NamedValue> rows;
  Cells table = {{"region", "rows", "event", "observed", "nominal", "95 % from", "to",
                  "p, corrected", "certain error"}};
  for (const Region& region : search.worst) {
    const double nominal = nominal_share(region.event);
    const bool sure = region.adjusted <= RegionSearch::kLevel;
    const std::string where = region_text(region, columns);
    const std::string what =
        region.event == CalibrationEvent::kCovered ? "in the interval" : "below the median";
    rows.push_back({region_label(region, columns), 100.0 * (region.share - nominal),
                    100.0 * (region.low - nominal), 100.0 * (region.high - nominal),
                    sure ? Ink::kOrange : Ink::kGrey,
                    fmt::format("{}\n{}: {} {}, {} nominal\n{}", where, rows_text(region.rows),
                                percent_text(region.share), what, percent_text(nominal),
                                sure ? region_fault(region) : "within chance")});
    table.push_back({where, count_text(region.rows), what, percent_text(region.share),
                     percent_text(nominal), percent_text(region.low), percent_text(region.high),
                     region.adjusted < 0.0001 ? "< 0.0001" : fmt::format("{:.4f}", region.adjusted),
                     region.sure_error > 0.0 ? percent_text(region.sure_error) : ""});
  }
  const std::string verdict =
      search.found == 0
          ? "None of them differs by more than chance, given the number of tests (grey)."
          : fmt::format(
                "{} of these differ by more than chance (orange), after the correction for all "
                "tests (Holm, 5 %).",
                count_text(search.found));
  const std::string advice =
      search.found == 0 ? ""
                        : "What to do: calibrate with more rows from these regions, add the "
                          "columns named here to the kernel (`fit --calibrate-on`), or, for a "
                          "category, add a guarantee within it (`fit --guarantee split --group`).";
  return {
      .title = "The regions with the largest errors",
      .pictures = row_chart({.label = "Regions where calibration is worst: observed minus nominal "
                                      "share, with 95 % error bars",
                             .x_label = "observed minus nominal, in % of the region's rows",
                             .marks = {0.0},
                             .names_above = true},
                            rows),
      .words = {fmt::format("Tested: all rows, ranges of every column, categories, groups and "
                            "pairs of features, each for coverage and for the median: {} tests. {}",
                            count_text(search.looked_at), verdict),
                advice},
      .table = std::move(table),
      .full_width = true};
}

}  // namespace tare

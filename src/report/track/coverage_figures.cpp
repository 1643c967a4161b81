// SPDX-License-Identifier: BSD-3-Clause
#include "report/track/coverage_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "report/html/numbers.h"
#include "report/svg/svg.h"
#include "report/track/thinned.h"

namespace tare {
namespace {

constexpr int kTrackWidth = 440;  // pixels: still legible on a phone
constexpr int kTrackHeight = 320;
constexpr std::size_t kTrackMarks = 60;    // with a text that pointing shows
constexpr std::size_t kTrackNumbers = 40;  // rows of a table
constexpr std::string_view kLineAxis = "line of the file";

ChartOptions track_chart(const std::string& y_label) {
  return {.x_label = std::string(kLineAxis),
          .y_label = y_label,
          .width = kTrackWidth,
          .height = kTrackHeight};
}

std::string line_text(double line) { return count_text(static_cast<std::size_t>(line)); }

std::vector<double> times(std::vector<double> values, double factor) {
  for (double& v : values) v *= factor;
  return values;
}

/// A thinned line in per cent or in its own unit, with the area of its parts.
void draw_thinned(Chart& chart, const Thinned& t, Ink ink, const std::string& legend) {
  if (t.rows > 1) chart.band(t.x, t.low, t.high, ink, "");
  chart.line(t.x, t.middle, ink, Stroke::kSolid, legend);
}

/// A level line from the first to the last place.
void draw_level(Chart& chart, const std::vector<double>& x, double y, const std::string& legend) {
  const std::array ends = {x.front(), x.back()};
  const std::array at = {y, y};
  chart.line(ends, at, Ink::kGrey, Stroke::kDashed, legend);
}

struct MovingShare {
  std::string title;   // of the card
  std::string label;   // of the picture
  std::string counts;  // what is counted: "covered targets"
  std::string advice;
  double wanted = 0.0;
  Tracked::ChanceRange chance;
};

Card moving_card(const TrackRows& rows, const std::vector<unsigned char>& inside,
                 const MovingShare& of) {
  const std::vector<double> share = moving_share(inside, TrackRows::kStretch);
  const std::vector<double> x(rows.known_lines.begin() + TrackRows::kStretch - 1,
                              rows.known_lines.end());
  const Thinned t = thin(x, times(share, 100.0));
  Chart chart(track_chart("% of 100 rows"));
  const std::array ends = {x.front(), x.back()};
  const std::array low = {100.0 * of.chance.low, 100.0 * of.chance.low};
  const std::array high = {100.0 * of.chance.high, 100.0 * of.chance.high};
  chart.band(ends, low, high, Ink::kGrey, "95 % of stretches by chance");
  draw_level(chart, x, 100.0 * of.wanted, "asked for");
  draw_thinned(chart, t, Ink::kBlue, "last 100 rows");
  // Dots on the part's value that is farthest from what was asked.
  std::array<std::vector<double>, 2> dot_x, dot_y;
  std::array<std::vector<std::string>, 2> tips;
  Cells table = {{"up to line", of.counts + ", % of the last 100 rows", "lowest", "highest"}};
  for (const std::size_t k : spaced(t.x.size(), kTrackMarks)) {
    const double below = 100.0 * of.wanted - t.low[k];
    const double above = t.high[k] - 100.0 * of.wanted;
    const double y = below > above ? t.low[k] : t.high[k];
    const std::size_t out = y < low[0] - 1e-9 || y > high[0] + 1e-9 ? 1 : 0;
    dot_x[out].push_back(t.x[k]);
    dot_y[out].push_back(y);
    tips[out].push_back(t.rows == 1
                            ? fmt::format("100 rows up to line {}: {:.0f} %", line_text(t.x[k]), y)
                            : fmt::format("stretches of 100 rows up to line {}: {:.0f} to {:.0f} %",
                                          line_text(t.x[k]), t.low[k], t.high[k]));
  }
  for (const std::size_t k : spaced(t.x.size(), kTrackNumbers)) {
    table.push_back({line_text(t.x[k]), fmt::format("{:.0f}", t.middle[k]),
                     fmt::format("{:.0f}", t.low[k]), fmt::format("{:.0f}", t.high[k])});
  }
  for (const std::size_t out : {0U, 1U}) {
    chart.scatter(dot_x[out], dot_y[out], out == 0 ? Ink::kBlue : Ink::kOrange, "");
    chart.tips(std::move(tips[out]));
  }
  std::size_t outside = 0;
  for (const double s : share) outside += s < of.chance.low || s > of.chance.high ? 1U : 0U;
  return {
      .title = of.title,
      .pictures = chart.render_in_page(of.label),
      .words = {fmt::format("The share of {} in each stretch of 100 rows. Of independent rows "
                            "that count with a probability of {}, 95 % of the stretches are "
                            "in the grey area, {:.0f} to {:.0f} %. Dots outside of it are "
                            "orange. {}",
                            of.counts, percent_text(of.wanted), low[0], high[0], thinned_words(t)),
                fmt::format(
                    "{} of the stretches are outside of the grey area; the lowest "
                    "share is {:.0f} %. {}",
                    percent_text(static_cast<double>(outside) / static_cast<double>(share.size())),
                    100.0 * *std::ranges::min_element(share), of.advice)},
      .table = std::move(table)};
}

std::vector<unsigned char> covered(const TrackRows& rows, const Tracked::Interval& interval) {
  std::vector<unsigned char> inside;
  for (const std::size_t i : rows.known) {
    const double y = rows.tracked.targets[i];
    inside.push_back(rows.tracked.values(i, interval.lower) <= y &&
                             y <= rows.tracked.values(i, interval.upper)
                         ? 1
                         : 0);
  }
  return inside;
}

std::string interval_name(const Tracked::Interval& interval) {
  return fmt::format("{:.6g} % interval", 100.0 * interval.confidence);
}

}  // namespace

Card moving_coverage_card(const TrackRows& rows, const Tracked::Interval& interval) {
  const std::string name = interval_name(interval);
  return moving_card(
      rows, covered(rows, interval),
      {.title = "Coverage over time, " + name,
       .label = "Coverage of the " + name + " in stretches of 100 rows, over the lines of the file",
       .counts = "covered targets",
       .advice = "After a sudden change a stretch falls, and answers then adapt.",
       .wanted = interval.confidence,
       .chance = interval.chance});
}

Card moving_level_card(const TrackRows& rows, const Tracked::LevelShare& share) {
  std::vector<unsigned char> inside;
  for (const std::size_t i : rows.known) {
    inside.push_back(rows.tracked.targets[i] <= rows.tracked.values(i, share.column) ? 1 : 0);
  }
  return moving_card(
      rows, inside,
      {.title = fmt::format("Targets below the answer over time, level {}", share.level),
       .label = fmt::format("Share of targets at or below the answer of level {} in "
                            "stretches of 100 rows, over the lines of the file",
                            share.level),
       .counts = "targets at or below the answer",
       .advice = "Above the grey area answers are too high, below it too low.",
       .wanted = share.level,
       .chance = share.chance});
}

Card coverage_so_far_card(const TrackRows& rows, const Tracked::Interval& interval) {
  const std::string name = interval_name(interval);
  const std::vector<unsigned char> inside = covered(rows, interval);
  std::vector<double> so_far, low, high;
  double count = 0.0;
  for (std::size_t k = 0; k < inside.size(); ++k) {
    count += inside[k];
    so_far.push_back(100.0 * count / static_cast<double>(k + 1));
    const double bound = interval.bounds[rows.known[k]];
    low.push_back(100.0 * std::max(0.0, interval.confidence - bound));
    high.push_back(100.0 * std::min(1.0, interval.confidence + bound));
  }
  const std::vector<double>& x = rows.known_lines;
  const Thinned t = thin(x, so_far);
  const Thinned t_low = thin(x, low);
  const Thinned t_high = thin(x, high);
  const bool proven = interval.bound < 1.0;
  Chart chart(track_chart("% of all rows so far"));
  if (proven) chart.band(t.x, t_low.low, t_high.high, Ink::kGrey, "proven");
  draw_level(chart, x, 100.0 * interval.confidence, "asked for");
  chart.line(t.x, t.middle, Ink::kBlue, Stroke::kSolid, "so far");
  std::vector<double> dot_x, dot_y;
  std::vector<std::string> tips;
  Cells table = {{"up to line", "coverage, %", "proven: at least", "at most"}};
  for (const std::size_t k : spaced(t.x.size(), kTrackMarks)) {
    dot_x.push_back(t.x[k]);
    dot_y.push_back(t.middle[k]);
    tips.push_back(fmt::format("up to line {}: {:.1f} %\nproven: {:.1f} to {:.1f} %",
                               line_text(t.x[k]), t.middle[k], t_low.low[k], t_high.high[k]));
  }
  for (const std::size_t k : spaced(t.x.size(), kTrackNumbers)) {
    table.push_back({line_text(t.x[k]), fmt::format("{:.1f}", t.middle[k]),
                     fmt::format("{:.1f}", t_low.low[k]), fmt::format("{:.1f}", t_high.high[k])});
  }
  chart.scatter(dot_x, dot_y, Ink::kBlue, "");
  chart.tips(std::move(tips));
  return {.title = "Coverage so far, " + name,
          .pictures = chart.render_in_page("Coverage of the " + name +
                                           " over all rows so far, over the lines of the file"),
          .words = {fmt::format("The share of covered targets among all answered rows up to a "
                                "line: {} in the end.",
                                percent_text(interval.coverage)),
                    proven ? fmt::format(
                                 "The line cannot leave the grey area, whatever the targets are: "
                                 "after the last row, coverage is proven to be within {:.1f} "
                                 "percentage points of {}. The area narrows as 1 / rows.",
                                 100.0 * interval.bound, percent_text(interval.confidence))
                           : "Nothing is proven yet about this coverage: the method proves nothing "
                             "for this interval, or there are too few rows."},
          .table = std::move(table)};
}

Card width_card(const TrackRows& rows, const Tracked::Interval& interval) {
  const std::string name = interval_name(interval);
  std::vector<double> width;
  std::size_t infinite = 0;
  for (std::size_t i = 0; i < rows.lines.size(); ++i) {
    width.push_back(rows.tracked.values(i, interval.upper) -
                    rows.tracked.values(i, interval.lower));
    infinite += std::isfinite(width.back()) ? 0U : 1U;
  }
  const Thinned t = thin(rows.lines, width);
  Chart chart(track_chart("width"));
  draw_thinned(chart, t, Ink::kBlue, "");
  std::vector<double> dot_x, dot_y;
  std::vector<std::string> tips;
  Cells table = {{"up to line", "width", "smallest", "largest"}};
  for (const std::size_t k : spaced(t.x.size(), kTrackMarks)) {
    dot_x.push_back(t.x[k]);
    dot_y.push_back(t.middle[k]);
    tips.push_back(t.rows == 1
                       ? fmt::format("line {}: {}", line_text(t.x[k]), number_text(t.middle[k]))
                       : fmt::format("{} up to line {}: {} to {}, median {}", rows_text(t.rows),
                                     line_text(t.x[k]), number_text(t.low[k]),
                                     number_text(t.high[k]), number_text(t.middle[k])));
  }
  for (const std::size_t k : spaced(t.x.size(), kTrackNumbers)) {
    table.push_back({line_text(t.x[k]), number_text(t.middle[k]), number_text(t.low[k]),
                     number_text(t.high[k])});
  }
  chart.scatter(dot_x, dot_y, Ink::kBlue, "");
  chart.tips(std::move(tips));
  std::string words = "The width of each answered interval. " + thinned_words(t);
  if (infinite > 0) {
    words += fmt::format(" The intervals of {} are infinite and not drawn.", rows_text(infinite));
  }
  return {.title = "Width over time, " + name,
          .pictures = chart.render_in_page("Width of the " + name + " over the lines of the file"),
          .words = {words,
                    "A width that changes from row to row is the purpose of local "
                    "calibration; a lasting change means that errors have another size."},
          .table = std::move(table)};
}

Card needed_level_card(const TrackRows& rows, double low, double high) {
  std::vector<double> levels;
  for (const std::size_t i : rows.known) levels.push_back(rows.tracked.target_levels[i]);
  const std::vector<double> x(rows.known_lines.begin() + TrackRows::kStretch - 1,
                              rows.known_lines.end());
  std::string pictures;
  std::array<Thinned, 2> thinned;
  for (const std::size_t side : {0U, 1U}) {  // the higher level above the lower one
    const double level = side == 0 ? high : low;
    Thinned& t = thinned[side];
    t = thin(x, times(moving_quantile(levels, TrackRows::kStretch, level), 100.0));
    ChartOptions options = track_chart("level, %");
    options.height = 240;
    Chart chart(options);
    draw_level(chart, x, 100.0 * level, "asked for");
    draw_thinned(chart, t, Ink::kBlue, fmt::format("needed for {:.6g} %", 100.0 * level));
    std::vector<double> dot_x, dot_y;
    std::vector<std::string> tips;
    for (const std::size_t k : spaced(t.x.size(), kTrackMarks)) {
      dot_x.push_back(t.x[k]);
      dot_y.push_back(t.middle[k]);
      tips.push_back(fmt::format("100 rows up to line {}:\n{:.1f} % was needed for {:.6g} %",
                                 line_text(t.x[k]), t.middle[k], 100.0 * level));
    }
    chart.scatter(dot_x, dot_y, Ink::kBlue, "");
    chart.tips(std::move(tips));
    pictures += chart.render_in_page(
        fmt::format("Level that the answers of the last 100 rows needed for {:.6g} %, over the "
                    "lines of the file",
                    100.0 * level));
  }
  Cells table = {{"up to line", fmt::format("for {:.6g} %", 100.0 * low),
                  fmt::format("for {:.6g} %", 100.0 * high)}};
  for (const std::size_t k : spaced(thinned[0].x.size(), kTrackNumbers)) {
    table.push_back({line_text(thinned[0].x[k]), fmt::format("{:.1f}", thinned[1].middle[k]),
                     fmt::format("{:.1f}", thinned[0].middle[k])});
  }
  return {.title = "The level that was needed",
          .pictures = std::move(pictures),
          .words = {fmt::format("The level at which the answers of the last 100 rows would have "
                                "had {:.6g} % and {:.6g} % of their targets below them. Each "
                                "target has a level among the quantiles of its own row, "
                                "interpolated between them; drawn are quantiles of these levels. "
                                "{}",
                                100.0 * high, 100.0 * low, thinned_words(thinned[0])),
                    "On the dashed lines answers were right as they were. The upper line above "
                    "its mark and the lower one below its own mean intervals that were too "
                    "narrow, the other way round too wide ones. Both above, or both below, mean "
                    "a bias of the predictions."},
          .table = std::move(table)};
}

}  // namespace tare

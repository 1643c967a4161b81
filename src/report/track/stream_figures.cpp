// SPDX-License-Identifier: BSD-3-Clause
#include "report/track/stream_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "report/html/numbers.h"
#include "report/svg/svg.h"
#include "report/track/thinned.h"

namespace tare {
namespace {

constexpr std::size_t kDriftMarks = 60;
constexpr std::size_t kDriftNumbers = 40;

std::string at_line(std::size_t line) { return count_text(line); }

/// Upright lines at the change and at the alarm.
void draw_alarms(Chart& chart, const std::vector<TrackAlarm>& alarms,
                 std::span<const std::size_t> lines, double low, double high) {
  for (const bool alarm_itself : {false, true}) {
    std::vector<double> x, from, to;
    std::vector<std::string> tips;
    for (const TrackAlarm& alarm : alarms) {
      const std::size_t line = lines[alarm_itself ? alarm.row : alarm.change];
      x.push_back(static_cast<double>(line));
      from.push_back(low);
      to.push_back(high);
      tips.push_back((alarm_itself ? "alarm at line " : "change from about line ") + at_line(line));
    }
    chart.whiskers(x, from, to, alarm_itself ? Ink::kOrange : Ink::kGreen,
                   alarm_itself ? "alarm" : "estimated change");
    chart.tips(std::move(tips));
  }
}

struct SeenTargets {
  std::vector<double> x, y;
  std::vector<std::string> tips;
};

}  // namespace

std::string alarm_text(const TrackAlarm& alarm, std::span<const std::size_t> lines) {
  std::string text = fmt::format(
      "alarm at line {}; the change began at about line {}; the spread of errors is about {:.2g} "
      "times as large, and they moved by about {:.2g} standard deviations",
      at_line(lines[alarm.row]), at_line(lines[alarm.change]), alarm.scale, alarm.shift);
  for (const std::string& cause : alarm.causes) text += "; mostly where " + cause;
  return text;
}

Card drift_card(const TrackRows& rows, std::span<const std::size_t> lines_of_table,
                double drift_rate) {
  std::vector<double> evidence;
  for (const std::size_t i : rows.known) evidence.push_back(rows.tracked.drift_log_e[i]);
  const Thinned t = thin(rows.known_lines, evidence);
  const double threshold = std::log(1.0 / drift_rate);
  const std::vector<TrackAlarm>& alarms = rows.tracked.alarms;
  Chart chart(
      {.x_label = "line of the file", .y_label = "evidence, log e", .width = 440, .height = 320});
  const std::array ends = {rows.known_lines.front(), rows.known_lines.back()};
  const std::array level = {threshold, threshold};
  chart.line(ends, level, Ink::kOrange, Stroke::kDashed, "alarm from here on");
  const double lowest = *std::ranges::min_element(evidence);
  if (!alarms.empty()) {
    draw_alarms(chart, alarms, lines_of_table, std::min(0.0, lowest), threshold);
  }
  if (t.rows > 1) chart.band(t.x, t.low, t.high, Ink::kBlue, "");
  chart.line(t.x, t.middle, Ink::kBlue, Stroke::kSolid, "evidence");
  std::vector<double> dot_x, dot_y;
  std::vector<std::string> tips;
  for (const std::size_t k : spaced(t.x.size(), kDriftMarks)) {
    dot_x.push_back(t.x[k]);
    dot_y.push_back(t.high[k]);
    tips.push_back(fmt::format("up to line {}: log e {:.2f}\nalarm at {:.2f}",
                               at_line(static_cast<std::size_t>(t.x[k])), t.high[k], threshold));
  }
  chart.scatter(dot_x, dot_y, Ink::kBlue, "");
  chart.tips(std::move(tips));
  Cells table = {{"up to line", "log e", "largest"}};
  for (const std::size_t k : spaced(t.x.size(), kDriftNumbers)) {
    table.push_back({at_line(static_cast<std::size_t>(t.x[k])), fmt::format("{:.2f}", t.middle[k]),
                     fmt::format("{:.2f}", t.high[k])});
  }
  std::string verdict = "No alarm: nothing speaks for a change of the errors.";
  if (!alarms.empty()) {
    verdict = "Drift: ";
    for (std::size_t k = 0; k < alarms.size(); ++k) {
      verdict += (k > 0 ? ". " : "") + alarm_text(alarms[k], lines_of_table);
    }
    verdict +=
        ". Parts of columns are named where errors changed otherwise than elsewhere; without one "
        "the change is the same everywhere, or in nothing that the columns show.";
  }
  return {.title = "Evidence of drift",
          .pictures = chart.render_in_page("Evidence of drift over the lines of the file, with the "
                                           "threshold of the alarm"),
          .words = {fmt::format("How strongly the order of the errors speaks against a stream that "
                                "stays the same. If they are exchangeable, this line ever "
                                "reaches the threshold with a probability of at most {}, over the "
                                "whole stream. After an alarm it stays where it was.",
                                percent_text(drift_rate)),
                    verdict},
          .table = std::move(table)};
}

Card last_rows_card(const TrackRows& rows, const std::string& target, const DrawnInterval& drawn) {
  const Tracked& of = rows.tracked;
  const std::size_t count = std::min(kLastRows, rows.lines.size());
  const std::size_t first = rows.lines.size() - count;
  std::vector<double> x, low, high, prediction;
  SeenTargets inside, outside, open;
  std::size_t infinite = 0;
  Cells table = {{"line", "lower", "prediction", "upper", "target", ""}};
  for (std::size_t i = first; i < rows.lines.size(); ++i) {
    x.push_back(rows.lines[i]);
    low.push_back(of.values(i, drawn.lower));
    high.push_back(of.values(i, drawn.upper));
    prediction.push_back(of.predictions[i]);
    infinite += std::isfinite(high.back() - low.back()) ? 0U : 1U;
    const double y = of.targets[i];
    const bool known = !std::isnan(y);
    const bool covered = low.back() <= y && y <= high.back();
    SeenTargets& seen = !known ? open : covered ? inside : outside;
    seen.x.push_back(x.back());
    seen.y.push_back(known ? y : prediction.back());
    seen.tips.push_back(fmt::format(
        "line {}: {}\n{} {} to {}\nprediction {}", at_line(static_cast<std::size_t>(x.back())),
        known ? number_text(y) + " observed" : "no target yet", drawn.name, number_text(low.back()),
        number_text(high.back()), number_text(prediction.back())));
    if (i + kDriftNumbers >= rows.lines.size()) {
      table.push_back({at_line(static_cast<std::size_t>(x.back())), number_text(low.back()),
                       number_text(prediction.back()), number_text(high.back()),
                       known ? number_text(y) : "",
                       !known            ? "no target"
                       : y < low.back()  ? "below"
                       : y > high.back() ? "above"
                                         : ""});
    }
  }
  Chart chart({.x_label = "line of the file", .y_label = target, .width = 480, .height = 360});
  chart.band(x, low, high, Ink::kBlue, drawn.name);
  chart.line(x, prediction, Ink::kGrey, Stroke::kSolid, "prediction");
  const auto put = [&](SeenTargets& seen, Ink ink, const std::string& legend) {
    if (seen.x.empty()) return;
    chart.scatter(seen.x, seen.y, ink, legend);
    chart.tips(std::move(seen.tips));
  };
  put(inside, Ink::kBlue, "observed, inside");
  put(outside, Ink::kOrange, "observed, outside");
  put(open, Ink::kGreen, "no target yet");
  std::string words = fmt::format(
      "The last {} answered rows: each interval was given before its target was known. ",
      count == 1 ? "one of the" : count_text(count));
  if (infinite > 0) {
    words += fmt::format("The intervals of {} are infinite and not drawn. ", rows_text(infinite));
  }
  return {.title = "The last rows",
          .pictures = chart.render_in_page("Targets and intervals of the last rows"),
          .words = {words,
                    "Intervals are wide where errors were large in rows like this one, and "
                    "narrow elsewhere. Orange dots in a row mean a change that answers "
                    "have not yet followed."},
          .table = std::move(table),
          .full_width = true};
}

}  // namespace tare

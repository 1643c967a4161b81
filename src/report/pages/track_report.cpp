// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/track_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html/numbers.h"
#include "report/html/page.h"
#include "report/track/coverage_figures.h"
#include "report/track/stream_figures.h"

namespace tare {
namespace {

constexpr double kStretchRows = 100.0;

std::string share_text(double share) { return std::isnan(share) ? "-" : percent_text(share); }

std::string bound_text(double bound) {
  return bound < 1.0 ? fmt::format("{:.1f}", 100.0 * bound) : "nothing";
}

/// What is called a bad stretch: below what 100 independent rows have once in 30,000 times.
double low_stretch(double confidence) {
  return confidence - 4.0 * std::sqrt(confidence * (1.0 - confidence) / kStretchRows);
}

std::string interval_words(double confidence) {
  return fmt::format("{:.6g} % interval", 100.0 * confidence);
}

std::vector<Tile> track_tiles(const Tracked& tracked, std::span<const std::size_t> lines) {
  std::vector<Tile> tiles = {{"rows", count_text(tracked.rows.size()), "answered"}};
  if (!tracked.intervals.empty()) {
    const Tracked::Interval& main = tracked.intervals[0];
    tiles.push_back({"coverage", share_text(main.coverage),
                     fmt::format("of the {}", interval_words(main.confidence))});
    tiles.push_back({"mean width", number_text(main.mean_width), "of these intervals"});
    tiles.push_back({"Winkler score", number_text(main.winkler),
                     "mean of width and penalty for misses; smaller is better"});
    if (!std::isnan(main.worst_stretch)) {
      tiles.push_back({"worst stretch", percent_text(main.worst_stretch),
                       "lowest coverage of 100 consecutive rows"});
    }
  }
  tiles.push_back({"drift", tracked.alarms.empty() ? "no alarm" : "alarm",
                   tracked.alarms.empty()
                       ? "over the whole stream"
                       : fmt::format("at line {}", count_text(lines[tracked.alarms[0].row]))});
  return tiles;
}

void add_interval_findings(const Tracked::Interval& interval, std::size_t known,
                           std::vector<Finding>& findings) {
  const std::string name = interval_words(interval.confidence);
  const double p = interval.confidence;
  const double off = std::abs(interval.coverage - p);
  const double by_chance = 1.96 * std::sqrt(p * (1.0 - p) / static_cast<double>(known));
  const bool fine = off <= std::max(by_chance, 0.02);
  findings.push_back(
      {fine, fmt::format("{} of the targets are in the {}", percent_text(interval.coverage), name),
       interval.bound < 1.0
           ? fmt::format("Proven, whatever the targets are: within {:.1f} percentage points of {}.",
                         100.0 * interval.bound, percent_text(p))
           : "Nothing is proven about it for these rows."});
  if (!std::isnan(interval.worst_stretch)) {
    const bool steady = interval.worst_stretch >= low_stretch(p);
    findings.push_back(
        {steady,
         steady ? fmt::format("no bad stretch of the {}", name)
                : fmt::format("a bad stretch of the {}", name),
         fmt::format("Of all stretches of 100 rows the lowest coverage is {}; below {} is called "
                     "bad.",
                     percent_text(interval.worst_stretch), percent_text(low_stretch(p)))});
  }
}

std::vector<Finding> track_findings(const TrackReport& report, const TrackRows& rows,
                                    std::span<const std::size_t> lines) {
  constexpr std::size_t kFewKnown = 100;
  const Tracked& tracked = rows.tracked;
  std::vector<Finding> findings;
  if (rows.known.size() < kFewKnown) {
    findings.push_back({false, "few rows",
                        fmt::format("{} with a target are answered; shares of them are uncertain, "
                                    "and stretches of 100 rows cannot be shown.",
                                    rows_text(rows.known.size()))});
  }
  if (!rows.known.empty()) {
    for (const Tracked::Interval& interval : tracked.intervals) {
      add_interval_findings(interval, rows.known.size(), findings);
    }
    for (const TrackAlarm& alarm : tracked.alarms) {
      findings.push_back({false, "drift", "The errors changed: " + alarm_text(alarm, lines) + "."});
    }
    if (tracked.alarms.empty()) {
      findings.push_back(
          {true, "no alarm of drift",
           fmt::format("A stream that stays the same has a false alarm with a probability of at "
                       "most {}.",
                       percent_text(report.drift_rate))});
    }
  }
  std::size_t infinite = 0;
  for (std::size_t i = 0; i < tracked.rows.size(); ++i) {
    for (const Tracked::Interval& interval : tracked.intervals) {
      if (std::isfinite(tracked.values(i, interval.lower)) &&
          std::isfinite(tracked.values(i, interval.upper))) {
        continue;
      }
      ++infinite;
      break;
    }
  }
  if (infinite > 0) {
    findings.push_back({false, "infinite intervals",
                        fmt::format("{} have an infinite interval, so mean widths are infinite.",
                                    rows_text(infinite))});
  }
  return findings;
}

std::string numbers_body(const Tracked& tracked, std::size_t known) {
  std::string body;
  if (!tracked.intervals.empty()) {
    Cells cells = {{"interval", "coverage", "proven within, % points", "mean width",
                    "mean Winkler score", "worst stretch of 100", "rows with a target"}};
    for (const Tracked::Interval& of : tracked.intervals) {
      cells.push_back({fmt::format("{:.6g} %", 100.0 * of.confidence), share_text(of.coverage),
                       bound_text(of.bound), number_text(of.mean_width), number_text(of.winkler),
                       share_text(of.worst_stretch), count_text(known)});
    }
    body += html_table(cells, "Intervals");
  }
  if (!tracked.levels.empty()) {
    Cells cells = {
        {"level", "targets at or below", "proven within, % points", "rows with a target"}};
    for (const Tracked::LevelShare& of : tracked.levels) {
      cells.push_back({fmt::format("{}", of.level), share_text(of.share_below),
                       bound_text(of.bound), count_text(known)});
    }
    body += html_table(cells, "Levels");
  }
  return box_html(body);
}

/// The first interval, or the lowest and the highest level.
struct Outer {
  DrawnInterval drawn;
  double low = 0.5;
  double high = 0.5;
};

Outer outer_of(const Tracked& tracked) {
  if (!tracked.intervals.empty()) {
    const Tracked::Interval& main = tracked.intervals[0];
    return {{interval_words(main.confidence), main.lower, main.upper},
            0.5 - 0.5 * main.confidence,
            0.5 + 0.5 * main.confidence};
  }
  const auto [low, high] =
      std::ranges::minmax_element(tracked.levels, {}, &Tracked::LevelShare::level);
  return {{fmt::format("from level {} to {}", low->level, high->level), low->column, high->column},
          low->level,
          high->level};
}

void add_time_sections(const TrackReport& report, const TrackRows& rows,
                       std::span<const std::size_t> lines, std::vector<Section>& sections) {
  const Tracked& tracked = rows.tracked;
  const bool moving = rows.known.size() >= TrackRows::kStretch;
  const Outer outer = outer_of(tracked);
  std::vector<Card> coverage, adapting;
  for (std::size_t k = 0; k < std::min(kDrawnIntervals, tracked.intervals.size()); ++k) {
    if (moving) coverage.push_back(moving_coverage_card(rows, tracked.intervals[k]));
    coverage.push_back(coverage_so_far_card(rows, tracked.intervals[k]));
    adapting.push_back(width_card(rows, tracked.intervals[k]));
  }
  if (moving && tracked.intervals.empty()) {
    for (std::size_t k = 0; k < std::min(kDrawnIntervals, tracked.levels.size()); ++k) {
      coverage.push_back(moving_level_card(rows, tracked.levels[k]));
    }
  }
  if (moving && outer.low < outer.high) {
    adapting.push_back(needed_level_card(rows, outer.low, outer.high));
  }
  if (!coverage.empty()) {
    sections.push_back({"coverage", "Coverage over time", cards_html(coverage)});
  }
  if (!adapting.empty()) {
    sections.push_back({"width", "Width, and the level that was needed", cards_html(adapting)});
  }
  Card drift = drift_card(rows, lines, report.drift_rate);
  drift.full_width = true;
  sections.push_back({"drift", "Drift", cards_html({drift})});
}

}  // namespace

std::string track_report_html(const TrackReport& report, const Tracked& tracked,
                              std::span<const std::size_t> lines) {
  const TrackRows rows(tracked, lines);
  Page page;
  page.title = fmt::format("{}, answered row by row", report.data_name);
  page.provenance = report.provenance;
  page.lead = tiles_html(track_tiles(tracked, lines)) + "<h2>In short</h2>\n" +
              findings_html(track_findings(report, rows, lines));
  if (!rows.known.empty()) add_time_sections(report, rows, lines, page.sections);
  page.sections.push_back(
      {"rows", "The stream",
       cards_html({last_rows_card(rows, report.target, outer_of(tracked).drawn)})});
  page.sections.push_back({"numbers", "Numbers", numbers_body(tracked, rows.known.size())});
  page.sections.push_back(
      {"model", "The model after the last row", box_html(facts_html(report.facts, "The model"))});
  return page_html(page);
}

}  // namespace tare

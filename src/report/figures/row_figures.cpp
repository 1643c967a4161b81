// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/row_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/html/numbers.h"
#include "report/svg/svg.h"

namespace tare {
namespace {

constexpr int kRowSide = 440;  // pixels: still legible on a phone

/// Row numbers in the order of their predicted medians, thinned to those that are drawn.
std::vector<std::size_t> drawn_rows(const Outcomes& o) {
  std::vector<std::size_t> order(o.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return o.median[i]; });
  if (order.size() <= kDrawnRows) return order;
  std::vector<std::size_t> drawn;
  for (std::size_t k = 0; k < kDrawnRows; ++k) {
    drawn.push_back(order[k * (order.size() - 1) / (kDrawnRows - 1)]);
  }
  return drawn;
}

struct DrawnPoints {
  std::vector<double> x, y;
  std::vector<std::string> tips;
};

std::string row_tip(const Outcomes& o, std::size_t i) {
  return fmt::format("row {}: {} observed\n90 % interval {} to {}\nmedian {}", count_text(i + 1),
                     number_text(o.y[i]), number_text(o.lower[i]), number_text(o.upper[i]),
                     number_text(o.median[i]));
}

void draw_intervals(const Outcomes& o, const std::vector<std::size_t>& rows, Chart& chart) {
  std::vector<double> x, low, high;
  DrawnPoints inside, outside;
  for (const std::size_t i : rows) {
    x.push_back(o.median[i]);
    low.push_back(o.lower[i]);
    high.push_back(o.upper[i]);
    const bool covered = o.lower[i] <= o.y[i] && o.y[i] <= o.upper[i];
    DrawnPoints& points = covered ? inside : outside;
    points.x.push_back(o.median[i]);
    points.y.push_back(o.y[i]);
    points.tips.push_back(row_tip(o, i));
  }
  chart.whiskers(x, low, high, Ink::kGrey, "90 % interval");
  chart.scatter(inside.x, inside.y, Ink::kBlue, "observed, inside", DotSize::kMedium);
  chart.tips(std::move(inside.tips));
  chart.scatter(outside.x, outside.y, Ink::kOrange, "observed, outside", DotSize::kMedium);
  chart.tips(std::move(outside.tips));
}

Cells interval_table(const Outcomes& o, const std::vector<std::size_t>& rows) {
  Cells cells = {{"row", "lower", "median", "upper", "observed", ""}};
  const std::size_t step = std::max<std::size_t>(1, rows.size() / 40);
  for (std::size_t k = 0; k < rows.size(); k += step) {
    const std::size_t i = rows[k];
    const std::string verdict = o.y[i] < o.lower[i] ? "below" : o.y[i] > o.upper[i] ? "above" : "";
    cells.push_back({count_text(i + 1), number_text(o.lower[i]), number_text(o.median[i]),
                     number_text(o.upper[i]), number_text(o.y[i]), verdict});
  }
  return cells;
}

struct Histogram {
  std::vector<double> from, to, share;
};

/// Bins of equal ratio, round where possible: 1, 2, 5, 10, 20, ...
Histogram size_histogram(const std::vector<double>& sizes) {
  Histogram h;
  double edge = 1.0;
  const double largest = *std::ranges::max_element(sizes);
  constexpr double kRatios[] = {2.0, 2.5, 2.0};
  for (std::size_t k = 0; k < 64 && edge <= largest; ++k) {
    const double next = edge * kRatios[k % 3];
    const bool first = k == 0;  // holds what is smaller, too
    const auto rows =
        std::ranges::count_if(sizes, [&](double n) { return (first || n >= edge) && n < next; });
    h.from.push_back(edge);
    h.to.push_back(next);
    h.share.push_back(static_cast<double>(rows) / static_cast<double>(sizes.size()));
    edge = next;
  }
  while (h.share.size() > 1 && h.share.front() == 0.0) {
    for (auto* column : {&h.from, &h.to, &h.share}) column->erase(column->begin());
  }
  return h;
}

}  // namespace

Card intervals_card(const Outcomes& outcomes, const std::string& target) {
  const std::vector<std::size_t> rows = drawn_rows(outcomes);
  Chart chart({.x_label = "predicted median of " + target,
               .y_label = target,
               .width = kRowSide,
               .height = kRowSide});
  draw_intervals(outcomes, rows, chart);
  const std::string which =
      rows.size() == outcomes.rows()
          ? "All rows are drawn."
          : fmt::format("{} of {} are drawn, evenly spaced over the predictions.",
                        count_text(rows.size()), rows_text(outcomes.rows()));
  const auto infinite = std::ranges::count_if(
      rows, [&](std::size_t i) { return std::isinf(outcomes.lower[i] - outcomes.upper[i]); });
  const std::string endless = infinite == 0
                                  ? ""
                                  : fmt::format(" The intervals of {} are infinite and not drawn.",
                                                rows_text(static_cast<std::size_t>(infinite)));
  return {.title = "Intervals over the prediction",
          .pictures = chart.render_in_page("Observed targets and their 90 % intervals over the "
                                           "predicted median"),
          .words = {"Each grey line is a row's 90 % interval, each dot its observed target. About "
                    "one dot in ten should be outside, over the whole range of predictions. " +
                        which + endless,
                    "A cluster of dots outside means that intervals are wrong in that range: see "
                    "'Where calibration is worst'."},
          .table = interval_table(outcomes, rows)};
}

Card effective_n_card(const Outcomes& outcomes) {
  constexpr double kFew = 20.0;
  const std::vector<double>& sizes = outcomes.effective_n;
  const Histogram h = size_histogram(sizes);
  Chart chart({.x_label = "effective_n",
               .y_label = "% of test rows",
               .width = kRowSide,
               .height = 340,
               .x_scale = AxisScale::kLog});
  std::vector<double> percent;
  std::vector<std::string> tips;
  Cells table = {{"effective_n", "% of test rows"}};
  for (std::size_t k = 0; k < h.share.size(); ++k) {
    percent.push_back(100.0 * h.share[k]);
    const std::string range = fmt::format("{} to {}", number_text(h.from[k]), number_text(h.to[k]));
    tips.push_back(fmt::format("{}: {} of the rows", range, percent_text(h.share[k])));
    table.push_back({range, fmt::format("{:.1f}", percent.back())});
  }
  chart.bars(h.from, h.to, percent, Ink::kBlue, "");
  chart.tips(std::move(tips));
  const auto few =
      static_cast<double>(std::ranges::count_if(sizes, [](double n) { return n < kFew; }));
  const double share = few / static_cast<double>(sizes.size());
  std::string advice =
      share > 0.05
          ? "More rows, or a kernel on fewer columns (`--calibrate-on`, `--reducer`), would help."
          : "That is enough for 90 % intervals.";
  if (outcomes.fallback_rows > 0) {
    advice += fmt::format(" {} had no calibration row within the bandwidth.",
                          rows_text(outcomes.fallback_rows));
  }
  return {.title = "How precise each answer is",
          .pictures = chart.render_in_page("Histogram of the effective sample size over test rows"),
          .words = {"effective_n is the number of independent draws from a row's conditional "
                    "distribution that would estimate its quantiles as precisely as this answer "
                    "does. Below 20 the 5 % and 95 % quantiles are very uncertain.",
                    fmt::format("{} of the test rows have fewer than 20. {}", percent_text(share),
                                advice)},
          .table = std::move(table)};
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/calibration_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html/numbers.h"
#include "report/svg/svg.h"

namespace tare {
namespace {

constexpr const char* kTieWords =
    "Some targets equal a quantile (ties), as with counts. A tie counts as below by the share of "
    "its jump, so that a perfect model lies on the diagonal here too; its random deviations are "
    "then smaller than the band shows.";
constexpr int kSide = 440;  // pixels: still legible on a phone

std::string reliability_words(const ReliabilityCurve& curve, bool guaranteed) {
  if (curve.largest <= curve.reach) {
    return fmt::format(
        "The curve stays between the dashed lines, as for {}95 % of perfect models: with {} no "
        "error of the levels can be detected. Its largest distance from the diagonal is {}.",
        curve.ties ? "at least " : "", rows_text(curve.rows), percent_text(curve.largest));
  }
  return fmt::format(
      "At level {:.2f} the share is off by {}, more than the {} that chance explains: quantiles do "
      "not have their level there. {}",
      curve.largest_at, percent_text(curve.largest), percent_text(curve.reach),
      guaranteed ? "The levels come from the rows that the guarantee holds out: hold out more "
                   "(`fit --guarantee split:0.3`) for a smaller sampling error. Or the test rows "
                   "have a different distribution."
                 : "If the fit had no rows like these, add some; if it had, `fit --guarantee "
                   "split` corrects the levels on average.");
}

Cells reliability_table(const ReliabilityCurve& curve) {
  Cells rows = {{"level", "share of rows", "chance, from", "to"}};
  for (std::size_t j = 0; j < curve.level.size(); j += 3) {
    rows.push_back({fmt::format("{:.3f}", curve.level[j]), fmt::format("{:.3f}", curve.observed[j]),
                    fmt::format("{:.3f}", curve.noise_low[j]),
                    fmt::format("{:.3f}", curve.noise_high[j])});
  }
  return rows;
}

std::string pit_words(PitShape shape) {
  switch (shape) {
    case PitShape::kEven:
      return "Here the bars show no shape beyond chance.";
    case PitShape::kTooShort:
      return "Here the ends are high: intervals are too short. More calibration rows near the "
             "queries, or a wider bandwidth, help; so does `fit --guarantee split`.";
    case PitShape::kTooWide:
      return "Here the middle is high: intervals are too wide. A narrower bandwidth, or columns "
             "that separate precise from imprecise rows (`fit --calibrate-on`), make them "
             "narrower.";
    case PitShape::kTooLarge:
      return "Here the left is high: predictions are too large for these rows. Either their "
             "features are distributed differently (`fit --shift-to`), or the target has changed: "
             "fit again.";
    case PitShape::kTooSmall:
      return "Here the right is high: predictions are too small for these rows. Either their "
             "features are distributed differently (`fit --shift-to`), or the target has changed: "
             "fit again.";
  }
  return {};
}

/// The same minus the diagonal: shows small errors when there are many rows.
Chart difference_chart(const ReliabilityCurve& curve) {
  Chart chart({.x_label = "level of the quantile",
               .y_label = "observed minus level, %",
               .width = kSide,
               .height = 230});
  const auto less_level = [&](const std::vector<double>& shares) {
    std::vector<double> out;
    for (std::size_t j = 0; j < shares.size(); ++j)
      out.push_back(100.0 * (shares[j] - curve.level[j]));
    return out;
  };
  const std::vector<double> ends = {0.0, 1.0};
  const std::vector<double> zero(2, 0.0);
  const std::vector<double> high(2, 100.0 * curve.reach);
  const std::vector<double> low(2, -100.0 * curve.reach);
  const std::vector<double> seen = less_level(curve.observed);
  chart.band(curve.level, less_level(curve.noise_low), less_level(curve.noise_high), Ink::kGrey,
             "");
  chart.line(ends, zero, Ink::kGrey, Stroke::kSolid, "");
  chart.line(ends, high, Ink::kGrey, Stroke::kDashed, "");
  chart.line(ends, low, Ink::kGrey, Stroke::kDashed, "");
  chart.line(curve.level, seen, Ink::kBlue, Stroke::kSolid, "");
  chart.scatter(curve.level, seen, Ink::kBlue, "");
  std::vector<std::string> tips;
  for (std::size_t j = 0; j < seen.size(); ++j) {
    tips.push_back(fmt::format("level {:.3f}: {:+.1f} %", curve.level[j], seen[j]));
  }
  chart.tips(std::move(tips));
  return chart;
}

}  // namespace

Card reliability_card(const ReliabilityCurve& curve, bool guaranteed) {
  Chart chart({.x_label = "level of the quantile",
               .y_label = "share of rows below it",
               .width = kSide,
               .height = 380});
  const std::vector<double> ends = {0.0, 1.0};
  const double reach = curve.reach;
  const std::vector<double> high_x = {0.0, std::max(0.0, 1.0 - reach)};
  const std::vector<double> high_y = {std::min(1.0, reach), 1.0};
  chart.band(curve.level, curve.noise_low, curve.noise_high, Ink::kGrey, "chance, level by level");
  chart.line(ends, ends, Ink::kGrey, Stroke::kSolid, "");
  chart.line(high_x, high_y, Ink::kGrey, Stroke::kDashed, "chance, whole curve");
  chart.line(high_y, high_x, Ink::kGrey, Stroke::kDashed, "");
  chart.line(curve.level, curve.observed, Ink::kBlue, Stroke::kSolid, "this model");
  std::vector<double> x, y;
  std::vector<std::string> tips;
  for (std::size_t j = 0; j < curve.level.size(); j += 3) {
    x.push_back(curve.level[j]);
    y.push_back(curve.observed[j]);
    tips.push_back(fmt::format("level {:.3f}: {} of the rows\nby chance {} to {}", curve.level[j],
                               percent_text(curve.observed[j]), percent_text(curve.noise_low[j]),
                               percent_text(curve.noise_high[j])));
  }
  chart.scatter(x, y, Ink::kBlue, "");
  chart.tips(std::move(tips));
  return {
      .title = "Reliability: do the quantiles have their level?",
      .pictures = chart.render_in_page("Reliability curve: share of rows below the "
                                       "quantile, against its level") +
                  difference_chart(curve).render_in_page(
                      "Reliability curve minus the diagonal, against the level"),
      .words = {"The share of rows below a quantile should equal its level: the closer to the "
                "diagonal, the better. The grey band holds 95 % of perfect models at one level, "
                "with this many rows; the dashed lines hold 95 % of them at all levels at once.",
                reliability_words(curve, guaranteed), curve.ties ? kTieWords : ""},
      .table = reliability_table(curve)};
}

Card pit_card(const Scores& scores) {
  Chart chart({.x_label = "probability integral transform, from 0 to 1",
               .y_label = "% of rows",
               .width = kSide,
               .height = kSide});
  const auto bins = scores.pit.size();
  const BinNoise noise = pit_noise(scores.rows, bins);
  std::vector<double> from, to, height;
  std::vector<std::string> tips;
  Cells table = {{"PIT", "% of rows", "chance, from", "to"}};
  for (std::size_t b = 0; b < bins; ++b) {
    from.push_back(static_cast<double>(b) / static_cast<double>(bins));
    to.push_back(static_cast<double>(b + 1) / static_cast<double>(bins));
    height.push_back(100.0 * scores.pit[b]);
    const std::string bin = fmt::format("{:.2f} to {:.2f}", from[b], to[b]);
    tips.push_back(fmt::format("{}: {} of the rows\nby chance {} to {}", bin,
                               percent_text(scores.pit[b]), percent_text(noise.low),
                               percent_text(noise.high)));
    table.push_back({bin, fmt::format("{:.1f}", height[b]), fmt::format("{:.1f}", 100 * noise.low),
                     fmt::format("{:.1f}", 100 * noise.high)});
  }
  const std::vector<double> ends = {0.0, 1.0};
  const std::vector<double> low(2, 100.0 * noise.low);
  const std::vector<double> high(2, 100.0 * noise.high);
  const std::vector<double> even(2, 100.0 / static_cast<double>(bins));
  chart.bars(from, to, height, Ink::kBlue, "this model");
  chart.tips(std::move(tips));
  chart.band(ends, low, high, Ink::kGrey, "chance");
  chart.line(ends, even, Ink::kGrey, Stroke::kDashed, "even");
  return {.title = "Where targets lie in their predicted distributions (PIT)",
          .pictures = chart.render_in_page("PIT histogram: share of rows by the position of the "
                                           "target in its predicted distribution"),
          .words = {"If the predicted distributions are correct, a target is equally likely in "
                    "each twentieth of its distribution, and the bars are equal up to chance "
                    "(grey). High ends: intervals too short. A hump in the middle: too wide. A "
                    "slope: predictions too large or too small.",
                    pit_words(pit_shape(scores.pit, scores.rows))},
          .table = std::move(table)};
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/choice_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures/row_chart.h"
#include "report/html/numbers.h"
#include "report/svg/svg.h"

namespace tare {
namespace {

/// By how much a loss exceeds the best, in per cent; NaN if the best is 0.
double above(double loss, double best) {
  return best > 0.0 ? 100.0 * (loss / best - 1.0) : std::nan("");
}

std::string path_words(const BandwidthChoice& choice) {
  if (std::isinf(choice.bandwidth)) {
    return "Equal weights for all rows were best: the distribution of the residuals does not seem "
           "to depend on the kernel's columns, or there are too many columns.";
  }
  const auto best = std::ranges::min_element(choice.path, {}, &BandwidthTrial::loss);
  std::size_t near = 0;
  for (const auto& trial : choice.path) near += std::size_t{trial.loss <= 1.01 * best->loss};
  return fmt::format(
      "Chosen: {}. The loss of {} of {} bandwidths is within 1 % of the best, so the choice is {}.",
      number_text(choice.bandwidth), near, choice.path.size(),
      2 * near > choice.path.size() ? "not critical" : "well determined");
}

}  // namespace

Card bandwidth_card(const BandwidthChoice& choice, std::string_view remark) {
  Chart chart({.x_label = "bandwidth",
               .y_label = "% above the best",
               .width = 440,
               .height = 340,
               .x_scale = AxisScale::kLog});
  const auto best = std::ranges::min_element(choice.path, {}, &BandwidthTrial::loss);
  std::vector<double> x, y, taken_x, taken_y;
  std::vector<std::string> tips;
  Cells table = {{"bandwidth", "pinball loss", "above best", ""}};
  for (const auto& trial : choice.path) {
    x.push_back(trial.bandwidth);
    y.push_back(above(trial.loss, best->loss));
    const bool taken = trial.bandwidth == choice.bandwidth;
    if (taken) {
      taken_x.push_back(x.back());
      taken_y.push_back(y.back());
    }
    tips.push_back(
        fmt::format("bandwidth {}: loss {:.6g}", number_text(trial.bandwidth), trial.loss));
    table.push_back({number_text(trial.bandwidth), fmt::format("{:.6g}", trial.loss),
                     std::isnan(y.back()) ? "" : fmt::format("{:.2f} %", y.back()),
                     taken ? "chosen" : ""});
  }
  chart.line(x, y, Ink::kBlue, Stroke::kSolid, "tried");
  chart.scatter(x, y, Ink::kBlue, "", DotSize::kMedium);
  chart.tips(std::move(tips));
  chart.scatter(taken_x, taken_y, Ink::kOrange, "chosen", DotSize::kLarge);
  return {.title = fmt::format("The bandwidth{}", remark),
          .pictures = chart.render_in_page("Loss of each bandwidth that was tried"),
          .words = {fmt::format("Narrow windows have less bias but few rows; wide windows have "
                                "more bias and many rows. The fit chose the bandwidth with the "
                                "lowest leave-one-out pinball loss on {}.",
                                rows_text(choice.rows_left_out)),
                    path_words(choice)},
          .table = std::move(table)};
}

std::string mass_words(const AutoTrail& trail) {
  constexpr std::size_t kNamed = 4;
  if (trail.masses.empty()) return "";
  std::string names;
  for (std::size_t k = 0; k < std::min(kNamed, trail.masses.size()); ++k) {
    names += fmt::format("{}{}", k == 0 ? "" : ", ", number_text(trail.masses[k]));
  }
  if (trail.masses.size() > kNamed) {
    names += fmt::format(" and {} more", trail.masses.size() - kNamed);
  }
  return fmt::format(
      "Many rows share a value ({}): '{}' decides which quantiles lie exactly on it.", names,
      trail.guide);
}

Card trail_card(const AutoTrail& trail) {
  std::vector<NamedValue> rows;
  Cells table = {{"candidate", "pinball loss", "bandwidth", "share of the average"}};
  double best = trail.average_loss;
  for (const auto& step : trail.steps) best = std::min(best, step.loss);
  for (const auto& step : trail.steps) {
    const double gap = above(step.loss, best);
    rows.push_back(
        {step.name, gap, gap, gap, step.share > 0.0 ? Ink::kBlue : Ink::kGrey,
         fmt::format(
             "{}\nloss {:.6g}, {:.1f} % above the best\n{}", step.name, step.loss, gap,
             step.share > 0.0 ? percent_text(step.share) + " of the average" : "not kept")});
    table.push_back({step.name, fmt::format("{:.6g}", step.loss), number_text(step.bandwidth),
                     step.share > 0.0 ? percent_text(step.share) : ""});
  }
  const double gap = above(trail.average_loss, best);
  rows.push_back({"the average", gap, gap, gap, Ink::kOrange,
                  fmt::format("the average: loss {:.6g}", trail.average_loss)});
  table.push_back({"the average", fmt::format("{:.6g}", trail.average_loss), "", ""});
  std::vector<std::string> words = {
      fmt::format("Each candidate is a center and a scale with SNQ on the scaled residuals; its "
                  "loss is the out-of-fold loss on {}. Blue: in the average; grey: dropped; "
                  "orange: the average itself.",
                  rows_text(trail.rows)),
      "`fit --budget quick` trains a tenth as much; `best` trains more."};
  if (trail.rounds > 1) {
    words.insert(words.begin() + 1,
                 fmt::format("All was trained {} times, with other folds and seeds: losses are "
                             "means, and answers, too.",
                             trail.rounds));
  }
  if (!trail.masses.empty()) words.insert(words.begin() + 1, mass_words(trail));
  return {.title = "What 'auto' tried",
          .pictures = row_chart({.label = "Loss of each candidate of auto, and of their average",
                                 .x_label = "pinball loss, % above the best",
                                 .reached = {0.0}},
                                rows),
          .words = std::move(words),
          .table = std::move(table)};
}

}  // namespace tare

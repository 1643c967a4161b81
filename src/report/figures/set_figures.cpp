// SPDX-License-Identifier: BSD-3-Clause
#include "report/figures/set_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "report/html/numbers.h"
#include "report/svg/svg.h"

namespace tare {
namespace {

std::string set_text(const SetComparison::Row& row) {
  std::string text = fmt::format("{} to {}", number_text(row.ends[0]), number_text(row.ends[1]));
  if (!std::isnan(row.ends[2])) {
    text += fmt::format(" and {} to {}", number_text(row.ends[2]), number_text(row.ends[3]));
  }
  return text;
}

struct SetDots {
  std::vector<double> x, y;
  std::vector<std::string> tips;
};

void draw_sets(const SetComparison& sets, Chart& chart) {
  std::vector<double> x, low, high;
  SetDots inside, outside;
  for (const SetComparison::Row& row : sets.drawn) {
    for (std::size_t p = 0; p < kSetColumns && !std::isnan(row.ends[p]); p += 2) {
      x.push_back(row.median);
      low.push_back(row.ends[p]);
      high.push_back(row.ends[p + 1]);
    }
    SetDots& dots = row.is_inside() ? inside : outside;
    dots.x.push_back(row.median);
    dots.y.push_back(row.y);
    dots.tips.push_back(fmt::format("{} observed\nshortest 90 % set {}\ncentral interval {} to {}",
                                    number_text(row.y), set_text(row), number_text(row.lower),
                                    number_text(row.upper)));
  }
  chart.whiskers(x, low, high, Ink::kGrey, "shortest 90 % set");
  chart.scatter(inside.x, inside.y, Ink::kBlue, "observed, inside", DotSize::kMedium);
  chart.tips(std::move(inside.tips));
  chart.scatter(outside.x, outside.y, Ink::kOrange, "observed, outside", DotSize::kMedium);
  chart.tips(std::move(outside.tips));
}

}  // namespace

Card sets_card(const SetComparison& sets, const std::string& target) {
  constexpr int kSetSide = 440;
  Chart chart({.x_label = "predicted median of " + target,
               .y_label = target,
               .width = kSetSide,
               .height = kSetSide});
  draw_sets(sets, chart);
  Card card;
  card.title = "Shortest sets";
  card.pictures = chart.render_in_page(
      "Observed targets and their shortest 90 % sets over the predicted median");
  card.words = {
      fmt::format("The shortest 90 % sets cover {} of the rows with a mean length of {}; central "
                  "intervals cover {} with {}. {} of the sets have two parts.",
                  percent_text(sets.coverage), number_text(sets.length),
                  percent_text(sets.central_coverage), number_text(sets.central_length),
                  percent_text(sets.two_parts)),
      sets.guaranteed ? "The ranks of the held-out rows were taken for these sets, so the model's "
                        "guarantee holds for them."
                      : "No guarantee is stated for these sets: they have their coverage under the "
                        "model's own distributions.",
      "Each grey line is a part of a row's set, each dot its observed target."};
  card.table = {{"90 %", "coverage", "mean length", "two parts"},
                {"shortest sets", percent_text(sets.coverage), number_text(sets.length),
                 percent_text(sets.two_parts)},
                {"central intervals", percent_text(sets.central_coverage),
                 number_text(sets.central_length), ""}};
  return card;
}

}  // namespace tare

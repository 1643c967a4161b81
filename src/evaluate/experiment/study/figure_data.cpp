// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/study/figure_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/parallel.h"
#include "evaluate/experiment/case_data.h"
#include "evaluate/experiment/trial.h"
#include "tare/base/error.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

constexpr std::size_t kGrid = 600;   // points on the axis of a feature
constexpr std::size_t kSteps = 200;  // of a series: the paper's Figure 2
constexpr std::size_t kPoints =
    800;  // rows drawn: enough to show the distribution, few enough to show the lines

std::string panel_name(const ExperimentMethod& one) {
  const Method& method = find_method(one.method);
  std::string name(method.paper.empty() ? method.name : method.paper);
  for (const auto& [option, value] : one.params.all()) {
    name += fmt::format(" {}={}", option, value);
  }
  return name;
}

std::vector<double> column(const Matrix& q, std::size_t j) {
  std::vector<double> values(q.rows());
  for (std::size_t i = 0; i < q.rows(); ++i) values[i] = q(i, j);
  return values;
}

/// Even steps over the range of the training rows.
Matrix grid_over(const Matrix& x) {
  const auto [low, high] = std::ranges::minmax_element(x.values());
  Matrix grid(kGrid, 1);
  for (std::size_t i = 0; i < kGrid; ++i) {
    grid(i, 0) = *low + (*high - *low) * static_cast<double>(i) / static_cast<double>(kGrid - 1);
  }
  return grid;
}

std::vector<Level> band_levels() {
  const auto [lower, upper] = interval_levels(0.95);
  return {lower, Level{0.5}, upper};
}

void predict_band(const ExperimentMethod& method, const TrialRows& rows, const Matrix& x, Seed seed,
                  FigurePanel& panel) {
  Execution how;
  how.threads = 1;
  const Matrix q = fit_trial(method, rows, seed)->predict({x}, band_levels(), how).quantiles;
  panel.lower = column(q, 0);
  panel.median = column(q, 1);
  panel.upper = column(q, 2);
}

FigurePanel law_panel(const ExperimentMethod& method, const TrialRows& rows, Seed seed) {
  FigurePanel panel;
  const Matrix grid = grid_over(rows.x);
  panel.x = column(grid, 0);
  const std::size_t shown = std::min(kPoints, rows.y.size());
  for (std::size_t i = 0; i < shown; ++i) panel.observed_x.push_back(rows.x(i, 0));
  panel.observed_y.assign(rows.y.begin(), rows.y.begin() + static_cast<std::ptrdiff_t>(shown));
  predict_band(method, rows, grid, seed, panel);
  return panel;
}

FigurePanel series_panel(const ExperimentMethod& method, const TrialRows& rows, Seed seed) {
  FigurePanel panel;
  const std::size_t shown = std::min(kSteps, rows.test_y.size());
  Matrix x(shown, rows.test_x.cols());
  for (std::size_t i = 0; i < shown; ++i) {
    std::ranges::copy(rows.test_x.row(i), x.row(i).begin());
    panel.x.push_back(static_cast<double>(i));
    panel.observed_y.push_back(rows.test_y[i]);
  }
  panel.observed_x = panel.x;
  predict_band(method, rows, x, seed, panel);
  return panel;
}

void add_truth(const TrialRows& rows, FigureData& figure) {
  const Matrix grid = grid_over(rows.x);
  const std::vector<Level> levels = band_levels();
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    const Law law = rows.problem->law(grid.row(i));
    figure.true_mean.push_back(law.mean());
    figure.true_lower.push_back(law.quantile(levels[0].value()));
    figure.true_upper.push_back(law.quantile(levels[2].value()));
  }
}

}  // namespace

FigureData figure_data(const ExperimentPlan& plan, const std::string& data_folder,
                       const Execution& how) {
  const ExperimentCase& one = plan.cases.front();
  const CaseData data = read_case(one, data_folder);
  const Seed seed = split(plan.seed, 0);
  const bool law = one.test == TestRows::kLaw;
  FigureData figure;
  figure.kind = law ? FigureKind::kLaw : FigureKind::kSeries;
  figure.title = plan.figure;
  figure.x_label = law ? "x" : "test step";
  figure.y_label = law ? "y" : one.target;
  if (law) add_truth(draw_trial(plan, one, data, 1, seed), figure);

  std::vector<FigurePanel> panels(plan.methods.size());
  std::vector<std::string> wrong(plan.methods.size());
  std::mutex guard;
  std::size_t done = 0;
  parallel_for(how, panels.size(), [&](std::size_t m) {
    const ExperimentMethod& method = plan.methods[m];
    const std::string name = panel_name(method);
    try {
      const TrialRows rows = draw_trial(plan, one, data, find_method(method.method).window, seed);
      panels[m] = law ? law_panel(method, rows, seed) : series_panel(method, rows, seed);
      panels[m].name = name;
    } catch (const Error& error) {
      wrong[m] = fmt::format("figure: {}: {}", name, error.what());
    }
    const std::lock_guard lock(guard);
    ++done;
    if (how.progress) {
      how.progress("figure", static_cast<double>(done) / static_cast<double>(panels.size()));
    }
  });
  for (std::size_t m = 0; m < panels.size(); ++m) {
    if (wrong[m].empty()) {
      figure.panels.push_back(std::move(panels[m]));
    } else {
      figure.failed.push_back(wrong[m]);
    }
  }
  return figure;
}

}  // namespace tare

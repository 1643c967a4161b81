// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluate/experiment/plan.h"
#include "tare/base/execution.h"

namespace tare {

enum class FigureKind : std::uint8_t {
  kLaw,     // over the one feature, with the truth
  kSeries,  // over the first test steps, with what was observed
};

/// The predictions of one method, and the rows drawn with them.
struct FigurePanel {
  std::string name;  // as the paper spells the method, with its options
  std::vector<double> x, lower, median, upper;
  std::vector<double> observed_x,
      observed_y;  // some training rows of a known-law problem; the test rows of a series
};

struct FigureData {
  FigureKind kind = FigureKind::kLaw;
  std::string title, x_label, y_label;
  std::vector<double> true_mean, true_lower, true_upper;  // kLaw: at the x of every panel
  std::vector<FigurePanel> panels;  // one for each method that could be fitted
  std::vector<std::string> failed;  // the others, and why
};

/// The 95 % bands of a plan's methods in its first case, each fitted once on the rows of the first
/// repeat. The plan has a figure. kNotFound if the case's data is missing.
FigureData figure_data(const ExperimentPlan& plan, const std::string& data_folder,
                       const Execution& how);

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/automatic/auto_model.h"
#include "calibrate/automatic/averaging.h"
#include "calibrate/automatic/local_law.h"
#include "calibrate/rows/row_split.h"

namespace tare::automatic {

/// The rows on which candidates are compared, and the levels.
struct JudgingRows {
  std::vector<std::size_t> rows;
  std::vector<double> y;
  std::vector<double> weight;
  std::vector<Level> levels;

  /// At most `most` rows of the fit.
  JudgingRows(const RegressionData& data, std::size_t most, Seed seed);
  Contest contest() const { return {y, weight, levels, {}}; }
};

/// Calibrated candidates, compared on rows that were left out.
struct Competition {
  struct TargetAnswers {
    std::size_t candidate = 0;
    Matrix quantiles;  // of the judging rows
  };
  std::vector<LocalLaw> laws;
  std::vector<Trial> trail;  // losses in units of the method
  Averaging averaging;
  std::vector<TargetAnswers> of_target;  // of the candidates without a center
};

/// `x_columns`: of x, that the kernel sees in place of a candidate's own features. `masses`: values
/// that many targets share.
Competition compete(std::span<const Candidate> candidates, const CrossFit& fit,
                    const JudgingRows& judges, std::span<const std::size_t> x_columns,
                    std::span<const double> masses, const SnqOptions& kernel, Seed seed,
                    const Execution& how);

struct Guided {
  double loss = 0.0;                 // of the average, guided or not
  std::optional<std::size_t> guide;  // the candidate that decides which quantiles equal a mass
};

/// Of the candidates for the target itself, the one whose masses reduce the loss of an average
/// most; none if all increase it. A quantile of an average of two distributions of counts can lie
/// between two counts, which is wrong but costs nothing in pinball loss; therefore an increase by a
/// thousandth is accepted.
Guided choose_guide(const Matrix& average, std::span<const Competition::TargetAnswers> of_target,
                    const JudgingRows& judges, std::span<const double> masses);

}  // namespace tare::automatic

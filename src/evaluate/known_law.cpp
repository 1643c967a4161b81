// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "base/fail.h"
#include "evaluate/checks.h"
#include "math/compensated_sum.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

void check_known_law(const char* where, const Problem& problem, MatrixView x, MatrixView q) {
  if (x.rows() != q.rows()) {
    fail(ErrorCode::kShapeMismatch, "{}: {} rows of features but {} rows of quantiles", where,
         x.rows(), q.rows());
  }
  if (x.cols() != problem.dims) {
    fail(ErrorCode::kShapeMismatch, "{}: {} features, but problem '{}' has {}", where, x.cols(),
         problem.name, problem.dims);
  }
  if (x.rows() == 0) fail(ErrorCode::kInvalidArgument, "{}: no rows to evaluate", where);
  check_not_nan(where, q);
}

// The distance of tau from the levels of q under the true distribution: one level if that is
// continuous at q, otherwise all levels of the jump, since q is the quantile at each of them.
double level_miss(const Law& law, double q, double tau) {
  const double high = law.cdf(q);
  if (tau > high) return tau - high;
  const double low = law.cdf_below(q);
  return tau < low ? low - tau : 0.0;
}

// Cached quantiles of a shape before location and scale are applied: most problems have one shape,
// and computing a quantile may need an iteration.
class StandardQuantiles {
 public:
  explicit StandardQuantiles(std::span<const Level> levels) : levels_(levels) {}

  std::span<const double> of(LawShape shape) {
    if (shape_ == shape && !values_.empty()) return values_;
    values_.clear();
    const Law standard{shape, 0.0, 1.0};
    for (const Level& level : levels_) values_.push_back(standard.quantile(level.value()));
    shape_ = shape;
    return values_;
  }

 private:
  std::span<const Level> levels_;
  LawShape shape_ = LawShape::kNormal;
  std::vector<double> values_;
};

}  // namespace

double individual_calibration_error(const Problem& problem, MatrixView x, MatrixView q,
                                    std::span<const Level> levels) {
  check_known_law("individual_calibration_error", problem, x, q);
  check_levels("individual_calibration_error", q, levels);

  CompensatedSum sum;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const Law law = problem.law(x.row(i));
    for (std::size_t j = 0; j < levels.size(); ++j) {
      sum.add(level_miss(law, q(i, j), levels[j].value()));
    }
  }
  return sum.value() / (static_cast<double>(x.rows()) * static_cast<double>(levels.size()));
}

double quantile_rmse(const Problem& problem, MatrixView x, MatrixView q,
                     std::span<const Level> levels) {
  check_known_law("quantile_rmse", problem, x, q);
  check_levels("quantile_rmse", q, levels);

  StandardQuantiles standard(levels);
  CompensatedSum sum;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const Law law = problem.law(x.row(i));
    const std::span<const double> z = standard.of(law.shape);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double truth =
          law.at_zero > 0.0 ? law.quantile(levels[j].value()) : law.location + law.scale * z[j];
      const double miss = q(i, j) - truth;
      sum.add(miss * miss);
    }
  }
  return std::sqrt(sum.value() /
                   (static_cast<double>(x.rows()) * static_cast<double>(levels.size())));
}

}  // namespace tare

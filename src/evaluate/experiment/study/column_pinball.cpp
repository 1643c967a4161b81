// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/study/column_pinball.h"

#include <algorithm>
#include <cassert>

#include "math/bracketed_newton.h"
#include "math/compensated_sum.h"
#include "math/normal.h"

namespace tare {
namespace {

/// The quantile of an even mixture of N(0, sd^2). Each part's quantile is sd times that of N(0, 1),
/// so the mixture's lies between those of the narrowest and of the widest part.
double mixture_quantile(std::span<const double> sds, Level level) {
  const auto count = static_cast<double>(sds.size());
  const double z = normal_quantile(level.value());
  const auto [narrow, wide] = std::ranges::minmax_element(sds);
  if (*narrow == *wide || z == 0.0) return *narrow * z;
  const auto miss = [&](double q) {
    double sum = 0.0;
    for (const double sd : sds) sum += normal_cdf(q / sd);
    return sum / count - level.value();
  };
  const auto density = [&](double q) {
    double sum = 0.0;
    for (const double sd : sds) sum += normal_pdf(q / sd) / sd;
    return sum / count;
  };
  const double low = std::min(*narrow * z, *wide * z);
  const double high = std::max(*narrow * z, *wide * z);
  return bracketed_newton(miss, density, low, high, 0.5 * (low + high));
}

}  // namespace

Matrix feature_grid(std::size_t dims, std::size_t per_feature) {
  std::size_t rows = 1;
  for (std::size_t j = 0; j < dims; ++j) rows *= per_feature;
  Matrix grid(rows, dims);
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t rest = i;
    for (std::size_t j = dims; j-- > 0; rest /= per_feature) {
      grid(i, j) =
          (static_cast<double>(rest % per_feature) + 0.5) / static_cast<double>(per_feature);
    }
  }
  return grid;
}

double expected_normal_pinball(double q, double sd, Level level) {
  const double z = q / sd;
  return sd * (normal_pdf(z) + z * (normal_cdf(z) - level.value()));
}

std::vector<double> best_column_pinball(const Problem& problem, std::size_t per_feature,
                                        std::span<const Level> levels) {
  const Matrix grid = feature_grid(problem.dims, per_feature);
  std::vector<double> sds;
  for (std::size_t i = 0; i < grid.rows(); ++i) {
    const Law law = problem.law(grid.row(i));
    assert(law.shape == LawShape::kNormal && law.at_zero == 0.0 && "the noise must be normal");
    sds.push_back(law.scale);
  }
  std::vector<double> loss;
  // Rows that agree in the first k features lie side by side.
  std::size_t block = sds.size();
  for (std::size_t k = 0; k <= problem.dims; ++k, block /= per_feature) {
    CompensatedSum sum;
    for (std::size_t first = 0; first < sds.size(); first += block) {
      const std::span<const double> alike = std::span(sds).subspan(first, block);
      for (const Level& level : levels) {
        const double q = mixture_quantile(alike, level);
        for (const double sd : alike) sum.add(expected_normal_pinball(q, sd, level));
      }
    }
    loss.push_back(sum.value() / static_cast<double>(sds.size() * levels.size()));
  }
  return loss;
}

}  // namespace tare

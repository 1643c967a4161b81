// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tare_cuda_test {

double squared_distance(const Problem& problem, const double* query, std::size_t row) {
  double sum = 0.0;
  for (std::size_t j = 0; j < problem.dims; ++j) {
    const double difference = problem.columns[j * problem.rows + row] - query[j];
    sum += difference * difference;
  }
  return sum;
}

double kernel_weight(int kernel, double squared, double bandwidth) {
  const double t = std::sqrt(squared) / bandwidth;
  const bool inside = squared < bandwidth * bandwidth;
  switch (kernel) {
    case kTareCudaNaive:
      return squared <= bandwidth * bandwidth ? 1.0 : 0.0;
    case kTareCudaKnn:
      return 1.0;  // of rows in the window
    case kTareCudaEpanechnikov:
      return inside ? 1.0 - t * t : 0.0;
    case kTareCudaTriangular:
      return inside ? 1.0 - t : 0.0;
    case kTareCudaTricube:
      return inside ? std::pow(1.0 - t * t * t, 3.0) : 0.0;
    case kTareCudaGaussian:
      return std::exp(-0.5 * squared / (bandwidth * bandwidth));
    default:
      return std::exp(-t);
  }
}

Window::Window(const Problem& problem, const double* query, std::size_t left_out)
    : problem_(problem), reach_(problem.bandwidth) {
  double least = std::numeric_limits<double>::infinity();
  double most = least;  // squared distance of the last row of a knn window
  if (problem.kernel == kTareCudaKnn) {
    std::vector<double> squares;
    for (std::size_t i = 0; i < problem.rows; ++i) {
      squares.push_back(squared_distance(problem, query, i));
    }
    std::sort(squares.begin(), squares.end());
    const auto wanted = static_cast<std::size_t>(problem.bandwidth);
    most = squares[std::min(wanted, problem.rows) - 1] * (1.0 + kTieTolerance);
    reach_ = std::sqrt(most);
  }
  for (std::size_t i = 0; i < problem.rows; ++i) {
    if (i == left_out) continue;
    const double squared = squared_distance(problem, query, i);
    least = std::min(least, squared);
    if (squared > most) continue;
    const double weight = kernel_weight(problem.kernel, squared, problem.bandwidth) *
                          (problem.weights.empty() ? 1.0 : problem.weights[i]);
    if (!(weight > 0.0)) continue;
    total_ += weight;
    squares_ += weight * weight;
    cumulated_.push_back(total_);
    rows_.push_back(i);
  }
  nearest_ = std::sqrt(least);
}

double Window::value_at(double target) const {
  const auto found = std::lower_bound(cumulated_.begin(), cumulated_.end(), target);
  const auto at = std::min<std::ptrdiff_t>(found - cumulated_.begin(),
                                           static_cast<std::ptrdiff_t>(rows_.size()) - 1);
  return problem_.residuals[rows_[static_cast<std::size_t>(at)]];
}

double Window::level_error(double level, double answer) const {
  // All rows with this value count as one.
  const auto value = [&](std::size_t at) { return problem_.residuals[rows_[at]]; };
  std::size_t first = 0;
  std::size_t last = rows_.size();
  while (first < last) {
    const std::size_t middle = (first + last) / 2;
    if (value(middle) < answer) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == rows_.size() || value(first) != answer) return 1.0;  // no row of the window
  last = first;
  while (last + 1 < rows_.size() && value(last + 1) == answer) ++last;
  const double before = first > 0 ? cumulated_[first - 1] / total_ : 0.0;
  return std::max({0.0, before - level, level - cumulated_[last] / total_});
}

double Window::expected_error(double level, double size, double answer) const {
  constexpr double kTailRanks = 3.0;
  constexpr double kFewRows = 3.0;
  const double inwards = std::min(kTailRanks, size - 1.0);
  const bool counts = (problem_.kernel == kTareCudaNaive || problem_.kernel == kTareCudaKnn) &&
                      problem_.weights.empty();
  for (const double moved : {1e-7, 1e-6, 1e-5, 1e-4}) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    const auto take = [&](double value) {
      low = std::min(low, value);
      high = std::max(high, value);
    };
    const auto at_rank = [&](double rank, double side) {
      return value_at(((rank - 0.5) / size + side * moved) * total_);
    };
    for (const double asked : {level - moved, level, level + moved}) {
      const double p = asked * (size + 1.0);
      double a = std::floor(p);
      double b = a + 1.0;
      double share = p - a;
      if (p < 1.0) {
        a = 1.0;
        b = 1.0 + inwards;
        share = inwards > 0.0
                    ? std::min(0.0, std::log(std::max(p, 1e-300)) / std::log(inwards + 1.0))
                    : 0.0;
      } else if (p > size) {
        a = size;
        b = size - inwards;
        share = inwards > 0.0
                    ? std::min(0.0, std::log(std::max((1.0 - asked) * (size + 1.0), 1e-300)) /
                                        std::log(inwards + 1.0))
                    : 0.0;
      }
      for (const double side_a : {-1.0, 0.0, 1.0}) {
        for (const double side_b : {-1.0, 0.0, 1.0}) {
          const double from = at_rank(a, side_a);
          double value = from + share * (at_rank(std::min(b, size), side_b) - from);
          if (!counts && size <= kFewRows) {
            for (const double side : {-1.0, 0.0, 1.0}) {
              const double paper = value_at((asked + side * moved) * total_);
              double mixed = value;
              if (level < 0.5) mixed = std::min(mixed, paper);
              if (level > 0.5) mixed = std::max(mixed, paper);
              take(mixed);
            }
          } else {
            take(value);
          }
        }
      }
    }
    const double slack = 1e-12 * (std::abs(low) + std::abs(high));
    if (low - slack <= answer && answer <= high + slack) return moved;
  }
  return 1.0;
}

double Window::loss(double left_out_residual, const std::vector<double>& levels) const {
  double sum = 0.0;
  for (const double level : levels) {
    const double error = left_out_residual - value_at(level * total_ * (1.0 - 1e-12));
    sum += error >= 0.0 ? level * error : (level - 1.0) * error;
  }
  return sum / static_cast<double>(levels.size());
}

}  // namespace tare_cuda_test

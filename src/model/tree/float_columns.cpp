// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/float_columns.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace tare {
namespace {

/// Of values in order.
std::size_t distinct(std::span<const float> sorted) {
  std::size_t count = sorted.empty() ? 0 : 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) count += sorted[i] != sorted[i - 1] ? 1U : 0U;
  return count;
}

}  // namespace

FloatColumns FloatColumns::learn(MatrixView x, const Execution& how) {
  FloatColumns columns{std::vector<double>(x.cols(), 0.0), std::vector<double>(x.cols(), 1.0)};
  parallel_for(how, x.cols(), [&](std::size_t j) {
    std::vector<double> sorted(x.rows());
    for (std::size_t i = 0; i < x.rows(); ++i) sorted[i] = x(i, j);
    std::ranges::sort(sorted);
    const double median = sorted[sorted.size() / 2];
    const auto reach_of = [&](double center) {
      return std::max(std::abs(sorted.front() - center), std::abs(sorted.back() - center));
    };
    const auto scale_for = [&](double center) {
      const double reach = reach_of(center);
      // Beyond 2^1000 the factor itself would leave the range of double.
      const int exponent = reach > 0.0 ? std::clamp(std::ilogb(reach), -1000, 1000) : 0;
      return std::ldexp(1.0, -exponent);
    };
    const auto kept_apart = [&](double center) {
      std::vector<float> floats(sorted.size());
      const double factor = scale_for(center);
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        floats[i] = static_cast<float>((sorted[i] - center) * factor);
      }
      return distinct(floats);
    };
    if (std::isfinite(reach_of(median)) && kept_apart(median) > kept_apart(0.0)) {
      columns.shift[j] = median;
    }
    columns.scale[j] = scale_for(columns.shift[j]);
  });
  return columns;
}

std::vector<float> FloatColumns::convert_all(MatrixView x) const {
  std::vector<float> floats(x.rows() * x.cols());
  for (std::size_t i = 0; i < x.rows(); ++i) convert(x.row(i), floats.data() + i * x.cols());
  return floats;
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "data/partition.h"
#include "data/rows.h"
#include "io/tensor_store.h"
#include "math/bounded.h"
#include "model/gp/gp_learning.h"
#include "model/gp/lower_factor.h"
#include "model/nn/kernels/kernels.h"

namespace tare {
namespace {

constexpr std::size_t kMostPoints = 384;  // where a fit is not exact
constexpr double kJitter = 1e-8;          // of the signal, for points that nearly coincide

/// The mean of the target, and a combination of covariances with points.
class GaussianProcess final : public Regressor {
 public:
  GaussianProcess(GpKernel kernel, Matrix points, std::vector<double> share)
      : kernel_(std::move(kernel)), points_(std::move(points)), share_(std::move(share)) {}

  std::size_t features() const override { return kernel_.features(); }

  void predict(MatrixView x, std::span<double> out, const Execution& how) const override {
    check_query("gp", features(), x, out);
    constexpr std::size_t kBlock = 256;
    parallel_blocks(how, x.rows(), kBlock, [&](std::size_t first, std::size_t last) {
      const MatrixView some(x.row(first).data(), last - first, x.cols());
      const Matrix c = kernel_.covariance(kernel_.scaled(some), points_, one_thread());
      for (std::size_t i = first; i < last; ++i) {
        const auto row = c.row(i - first);
        const double away = std::inner_product(row.begin(), row.end(), share_.begin(), 0.0);
        out[i] = bounded(kernel_.target.mean + kernel_.target.scale * away);
      }
    });
  }

  void save(const TensorWriter& out) const override {
    out.value("features", features());
    out.value("points", share_.size());
    out.tensor("target", std::vector<double>{kernel_.target.mean, kernel_.target.scale});
    std::vector<double> mean;
    std::vector<double> scale;
    for (const Standard& column : kernel_.column) {
      mean.push_back(column.mean);
      scale.push_back(column.scale);
    }
    out.tensor("mean", mean);
    out.tensor("scale", scale);
    out.tensor("rate", kernel_.rate);
    out.tensor("variances", std::vector<double>{kernel_.signal, kernel_.noise});
    if (!kernel_.alone.empty()) {
      out.tensor("alone", kernel_.alone);
      out.tensor("alone_rate", kernel_.alone_rate);
    }
    out.tensor("place", points_.values(), {points_.rows(), points_.cols()});
    out.tensor("share", share_);
  }

 private:
  GpKernel kernel_;
  Matrix points_;  // in units of the correlation
  std::vector<double> share_;
};

/// Predicts the mean of the target.
std::unique_ptr<Regressor> mean_only(GpKernel kernel) {
  kernel.alone.clear();
  Matrix no_points(0, kernel.features());
  return std::make_unique<GaussianProcess>(std::move(kernel), std::move(no_points),
                                           std::vector<double>{});
}

/// What a row's noise adds to the diagonal.
std::vector<double> row_noise(const RegressionData& data, const GpKernel& kernel) {
  double mean = 0.0;
  for (const double w : data.weight) mean += w / static_cast<double>(data.weight.size());
  std::vector<double> noise(data.y.size(), kernel.noise);
  if (data.weight.empty()) return noise;
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] *= mean / data.weight[i];
  return noise;
}

/// Standardised rows and what the noise of each adds to its variance.
struct GpRows {
  const GpKernel& kernel;
  Matrix z;
  std::vector<double> y;
  std::vector<double> noise;
};

struct Solution {
  std::vector<double> share;    // of each point; empty: there is none
  std::vector<double> without;  // standardised
};

/// The rows of each group, ascending.
std::vector<std::vector<std::size_t>> rows_of_groups(std::span<const std::uint32_t> group_of_row) {
  std::vector<std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < group_of_row.size(); ++i) {
    rows.resize(std::max<std::size_t>(rows.size(), group_of_row[i] + 1));
    rows[group_of_row[i]].push_back(i);
  }
  return rows;
}

/// With P = K^-1: the targets of a group F less what the other rows say of them are
/// (P_FF)^-1 (P y)_F.
Solution solve_exactly(const GpRows& rows, std::span<const std::uint32_t> group_of_row,
                       const Execution& how) {
  Matrix k = rows.kernel.covariance(rows.z, rows.z, how);
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    k(i, i) = rows.kernel.variance() * (1.0 + kJitter) + rows.noise[i];
  }
  const LowerFactor factor(std::move(k));
  if (!factor.ok()) return {};
  Solution solution{factor.solve(rows.y), {}};
  if (!group_of_row.empty()) {
    const Matrix inverse = factor.inverse(how);
    solution.without.resize(rows.y.size());
    for (const std::vector<std::size_t>& group : rows_of_groups(group_of_row)) {
      const LowerFactor own(take_rows(inverse, group, group));
      if (!own.ok()) return {};
      const std::vector<double> away = own.solve(take_rows(solution.share, group));
      for (std::size_t i = 0; i < group.size(); ++i) {
        solution.without[group[i]] = rows.y[group[i]] - away[i];
      }
    }
  }
  return solution;
}

/// C' N^-1 C, the lower triangle only, and C' N^-1 y of some rows, where C are their covariances
/// with the points and N is their noise.
struct NormalEquations {
  Matrix a;
  std::vector<double> b;

  explicit NormalEquations(std::size_t points) : a(points, points), b(points, 0.0) {}

  void add(const NormalEquations& other) {
    for (std::size_t k = 0; k < a.values().size(); ++k) a.values()[k] += other.a.values()[k];
    for (std::size_t j = 0; j < b.size(); ++j) b[j] += other.b[j];
  }
  void add(const GpRows& rows, std::span<const std::size_t> some, const Matrix& points,
           const Execution& how);
};

/// The covariances of some rows with the points.
Matrix covariances(const GpRows& rows, std::span<const std::size_t> some, const Matrix& points,
                   const Execution& how) {
  return rows.kernel.covariance(take_rows(rows.z, some), points, how);
}

/// Calls visit(some) for blocks of `all`, which bounds the memory.
template <class Visit>
void in_blocks(std::span<const std::size_t> all, Visit visit) {
  constexpr std::size_t kRowsAtOnce = 8192;
  for (std::size_t first = 0; first < all.size(); first += kRowsAtOnce) {
    visit(all.subspan(first, std::min(kRowsAtOnce, all.size() - first)));
  }
}

void NormalEquations::add(const GpRows& rows, std::span<const std::size_t> some,
                          const Matrix& points, const Execution& how) {
  const std::size_t count = b.size();
  const Matrix c = covariances(rows, some, points, how);
  Matrix over_noise = c;
  for (std::size_t i = 0; i < some.size(); ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      over_noise(i, j) /= rows.noise[some[i]];
      b[j] += over_noise(i, j) * rows.y[some[i]];
    }
  }
  constexpr std::size_t kRows = 36;  // of the result at once
  parallel_blocks(how, count, kRows, [&](std::size_t top, std::size_t bottom) {
    nn::accumulate_product(
        nn::Product<double>{bottom - top, bottom, c.rows(), c.values().data() + top, 1, count,
                            over_noise.values().data(), count, a.row(top).data(), count});
  });
}

/// Least squares on the covariances C with the points: (S + C' N^-1 C) b = C' N^-1 y, where S are
/// the points' covariances. Without a group: the sums of the other groups.
Solution solve_on_points(const GpRows& rows, const Matrix& points,
                         std::span<const std::uint32_t> group_of_row, const Execution& how) {
  NormalEquations prior(points.rows());
  prior.a = rows.kernel.covariance(points, points, how);
  for (std::size_t j = 0; j < points.rows(); ++j) {
    prior.a(j, j) += kJitter * rows.kernel.variance();
  }

  std::vector<std::vector<std::size_t>> groups = rows_of_groups(group_of_row);
  if (groups.empty()) groups.push_back(all_rows(rows.y.size()));
  std::vector<NormalEquations> sums(groups.size(), NormalEquations(points.rows()));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    in_blocks(groups[g],
              [&](std::span<const std::size_t> some) { sums[g].add(rows, some, points, how); });
  }
  NormalEquations all = prior;
  for (const NormalEquations& one : sums) all.add(one);
  const LowerFactor factor(std::move(all.a));
  if (!factor.ok()) return {};
  Solution solution{factor.solve(std::move(all.b)), {}};
  if (group_of_row.empty()) return solution;

  std::vector<std::vector<double>> share(groups.size());
  parallel_for(how, groups.size(), [&](std::size_t g) {
    NormalEquations others = prior;
    for (std::size_t other = 0; other < groups.size(); ++other) {
      if (other != g) others.add(sums[other]);
    }
    const LowerFactor own(std::move(others.a));
    if (own.ok()) share[g] = own.solve(std::move(others.b));
  });
  solution.without.resize(rows.y.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (share[g].empty()) return {};
    in_blocks(groups[g], [&](std::span<const std::size_t> some) {
      const Matrix c = covariances(rows, some, points, how);
      for (std::size_t i = 0; i < some.size(); ++i) {
        const auto row = c.row(i);
        solution.without[some[i]] =
            std::inner_product(row.begin(), row.end(), share[g].begin(), 0.0);
      }
    });
  }
  return solution;
}

}  // namespace

GpFit fit_gaussian_process(const RegressionData& data, const GpKernel& kernel,
                           std::span<const std::uint32_t> group_of_row, Seed seed,
                           const Execution& how) {
  const std::size_t count = data.y.size();
  GpRows rows{kernel, kernel.scaled(data.x), {}, row_noise(data, kernel)};
  for (const double value : data.y) rows.y.push_back(standardised(value, kernel.target));
  const bool exact = count <= kExactGpRows;
  Matrix points = rows.z;
  if (!exact) {
    Rng rng(seed);
    std::vector<std::size_t> chosen = random_permutation(count, rng);
    chosen.resize(kMostPoints);
    points = take_rows(rows.z, chosen);
  }
  Solution solution = exact ? solve_exactly(rows, group_of_row, how)
                            : solve_on_points(rows, points, group_of_row, how);
  const auto all_finite = [](const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  };
  GpFit fit;
  if (solution.share.empty() || !all_finite(solution.share) || !all_finite(solution.without)) {
    return fit;
  }
  for (double& value : solution.without) {
    value = bounded(kernel.target.mean + kernel.target.scale * value);
  }
  fit.without = std::move(solution.without);
  fit.model =
      std::make_unique<GaussianProcess>(kernel, std::move(points), std::move(solution.share));
  return fit;
}

std::unique_ptr<Regressor> fit_gp(const RegressionData& data, const Params& params, Seed seed,
                                  const Execution& how) {
  check_fit_input("gp", data, params, kGpOptions);
  GpKernel kernel = learn_gp_kernel(data, GpForm::kTogetherAndAlone, split(seed, 1), how);
  if (data.x.cols() == 0) return mean_only(std::move(kernel));
  GpFit fit = fit_gaussian_process(data, kernel, {}, split(seed, 2), how);
  if (fit.model) return std::move(fit.model);
  return mean_only(std::move(kernel));
}

std::unique_ptr<Regressor> load_gp(const TensorReader& in) {
  const std::size_t cols = in.count("features", kMaxFeatures);
  const std::size_t points = in.count("points", kMaxFeatures);
  GpKernel kernel;
  const auto target = in.values<double>("target", {2}, Must::kBeFinite);
  kernel.target = {target[0], target[1]};
  const auto mean = in.values<double>("mean", {cols}, Must::kBeFinite);
  const auto scale = in.values<double>("scale", {cols}, Must::kBeFinite);
  for (std::size_t j = 0; j < cols; ++j) {
    if (!(scale[j] > 0.0)) fail(ErrorCode::kCorruptFile, "the model file's scales are damaged");
    kernel.column.push_back({mean[j], scale[j]});
  }
  kernel.rate = in.values<double>("rate", {cols}, Must::kBeFinite);
  const auto variances = in.values<double>("variances", {2}, Must::kBeFinite);
  kernel.signal = variances[0];
  kernel.noise = variances[1];
  std::size_t width = cols;
  if (in.has_tensor("alone")) {
    kernel.alone = in.values<double>("alone", {cols}, Must::kBeFinite);
    kernel.alone_rate = in.values<double>("alone_rate", {cols}, Must::kBeFinite);
    width += cols;
  }
  Matrix place(in.values<double>("place", {points, width}, Must::kBeFinite), points, width);
  auto share = in.values<double>("share", {points}, Must::kBeFinite);
  return std::make_unique<GaussianProcess>(std::move(kernel), std::move(place), std::move(share));
}

}  // namespace tare

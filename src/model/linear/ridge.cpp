// SPDX-License-Identifier: BSD-3-Clause
#include "model/linear/ridge.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/parallel.h"
#include "io/tensor_store.h"
#include "math/bounded.h"
#include "model/input/fit_input.h"

namespace tare {
namespace {

// Notation: A has the standardised rows times sqrt(w / sum w), t the target likewise, so that
// |t - A b|^2 is the weighted mean squared error. s are the eigenvalues of A'A (or of AA', which
// has the same ones apart from zeros), a the target's coordinates along the left singular vectors.

constexpr std::size_t kBlock = 512;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Index to_index(std::size_t i) { return static_cast<Eigen::Index>(i); }

class Ridge final : public Regressor {
 public:
  Ridge(double mean, double penalty, std::vector<double> center, std::vector<double> coefficient)
      : mean_(mean),
        penalty_(penalty),
        center_(std::move(center)),
        coefficient_(std::move(coefficient)) {}

  std::size_t features() const override { return coefficient_.size(); }

  void predict(MatrixView x, std::span<double> out, const Execution& how) const override {
    check_query("ridge", features(), x, out);

    parallel_blocks(how, x.rows(), kBlock, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const auto row = x.row(i);
        double sum = 0.0;
        for (std::size_t j = 0; j < row.size(); ++j) sum += (row[j] - center_[j]) * coefficient_[j];
        out[i] = std::isfinite(sum) ? bounded(mean_ + sum) : far_answer(row);
      }
    });
  }

  void save(const TensorWriter& out) const override {
    out.value("features", features());
    out.value("mean", mean_);
    out.value("penalty", penalty_);
    out.tensor("center", center_);
    out.tensor("coefficient", coefficient_);
  }

 private:
  /// For a row so far away that terms overflow: they are bounded, so that two of them with opposite
  /// signs do not give a NaN.
  double far_answer(std::span<const double> row) const {
    double sum = 0.0;
    const auto count = static_cast<double>(row.size());
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (coefficient_[j] == 0.0) continue;
      sum += bounded((row[j] - center_[j]) * coefficient_[j]) / count;
    }
    return bounded(mean_ + bounded(sum * count));
  }

  double mean_;
  double penalty_;  // kept for the record: predicting does not need it
  std::vector<double> center_;
  std::vector<double> coefficient_;  // in the user's units
};

struct Scaled {
  Standard target;
  std::vector<Standard> column;
  Eigen::VectorXd root_weight;  // sqrt(w / sum w)
};

Scaled scale_columns(const RegressionData& data) {
  const std::size_t rows = data.x.rows();
  Scaled scaled;
  scaled.target = standardise(
      rows, [&](std::size_t i) { return data.y[i]; }, data.weight);
  for (std::size_t j = 0; j < data.x.cols(); ++j) {
    const auto value = [&](std::size_t i) { return data.x(i, j); };
    scaled.column.push_back(standardise(rows, value, data.weight));
  }
  scaled.root_weight = Eigen::VectorXd::Ones(to_index(rows));
  if (std::ranges::any_of(data.weight, [](double w) { return w > 0.0; })) {
    for (std::size_t i = 0; i < rows; ++i) scaled.root_weight[to_index(i)] = data.weight[i];
  }
  scaled.root_weight = (scaled.root_weight / scaled.root_weight.sum()).cwiseSqrt();
  return scaled;
}

/// Rows first, ..., last - 1 of A.
RowMajor scaled_rows(const RegressionData& data, const Scaled& scaled, std::size_t first,
                     std::size_t last) {
  RowMajor rows(to_index(last - first), to_index(data.x.cols()));
  for (std::size_t i = first; i < last; ++i) {
    const double root = scaled.root_weight[to_index(i)];
    for (std::size_t j = 0; j < data.x.cols(); ++j) {
      const Standard& column = scaled.column[j];
      rows(to_index(i - first), to_index(j)) = root * standardised(data.x(i, j), column);
    }
  }
  return rows;
}

Eigen::VectorXd scaled_target(const RegressionData& data, const Scaled& scaled) {
  Eigen::VectorXd target(to_index(data.y.size()));
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    const double root = scaled.root_weight[to_index(i)];
    target[to_index(i)] = root * standardised(data.y[i], scaled.target);
  }
  return target;
}

/// The problem in the coordinates in which every penalty is cheap.
struct Spectrum {
  Eigen::VectorXd s;        // zero where a direction is numerically absent
  Eigen::VectorXd a;        // zero there as well
  double outside = 0.0;     // squared length of the target that no direction reaches
  Eigen::MatrixXd back;     // d x k; coefficients are back * (a / (s + penalty)) ...
  Eigen::VectorXd stretch;  // ... times this, element by element
};

/// Zeroes directions that are rounding noise, and finds what is left of the target.
void finish(Spectrum& spectrum, double target_squared) {
  const double largest = spectrum.s.size() > 0 ? spectrum.s.maxCoeff() : 0.0;
  const double noise =
      largest * static_cast<double>(spectrum.s.size()) * std::numeric_limits<double>::epsilon();
  for (Eigen::Index k = 0; k < spectrum.s.size(); ++k) {
    if (spectrum.s[k] > noise) continue;
    spectrum.s[k] = 0.0;
    spectrum.a[k] = 0.0;
  }
  spectrum.outside = std::max(0.0, target_squared - spectrum.a.squaredNorm());
}

/// Through A'A, d x d, in blocks of rows so that A is never held as a whole.
Spectrum primal(const RegressionData& data, const Scaled& scaled) {
  const Eigen::Index d = to_index(data.x.cols());
  const Eigen::VectorXd target = scaled_target(data, scaled);
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(d, d);
  Eigen::VectorXd product = Eigen::VectorXd::Zero(d);
  for (std::size_t first = 0; first < data.x.rows(); first += kBlock) {
    const std::size_t last = std::min(first + kBlock, data.x.rows());
    const RowMajor rows = scaled_rows(data, scaled, first, last);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose());
    product += rows.transpose() * target.segment(to_index(first), to_index(last - first));
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(gram);
  Spectrum spectrum;
  spectrum.s = eigen.eigenvalues().cwiseMax(0.0);
  spectrum.back = eigen.eigenvectors();
  spectrum.stretch = spectrum.s.cwiseSqrt();
  const Eigen::VectorXd along = spectrum.back.transpose() * product;
  spectrum.a = (spectrum.s.array() > 0.0).select(along.array() / spectrum.stretch.array(), 0.0);
  finish(spectrum, target.squaredNorm());
  return spectrum;
}

/// Through AA', n x n, for more columns than rows.
Spectrum dual(const RegressionData& data, const Scaled& scaled) {
  const RowMajor rows = scaled_rows(data, scaled, 0, data.x.rows());
  const Eigen::VectorXd target = scaled_target(data, scaled);
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(rows.rows(), rows.rows());
  gram.selfadjointView<Eigen::Lower>().rankUpdate(rows);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(gram);
  Spectrum spectrum;
  spectrum.s = eigen.eigenvalues().cwiseMax(0.0);
  spectrum.a = eigen.eigenvectors().transpose() * target;
  spectrum.back = rows.transpose() * eigen.eigenvectors();
  spectrum.stretch = Eigen::VectorXd::Ones(rows.rows());
  finish(spectrum, target.squaredNorm());
  return spectrum;
}

/// Generalised cross-validation: mean squared error / (1 - degrees of freedom / n)^2. Infinite
/// where the fit has no freedom left to be judged by.
double gcv(const Spectrum& spectrum, double penalty, std::size_t rows) {
  const Eigen::ArrayXd left = penalty / (spectrum.s.array() + penalty);
  const double error = spectrum.outside + (spectrum.a.array() * left).square().sum();
  const double freedom = 1.0 + (1.0 - left).sum();
  const double share = 1.0 - freedom / static_cast<double>(rows);
  return share > 1e-9 ? error / (share * share) : std::numeric_limits<double>::infinity();
}

double best_penalty(const Spectrum& spectrum, std::size_t rows) {
  double best = RidgePenalties::at(RidgePenalties::kCount - 1);
  double lowest = gcv(spectrum, best, rows);
  for (std::size_t k = RidgePenalties::kCount - 1; k-- > 0;) {
    const double penalty = RidgePenalties::at(k);
    const double score = gcv(spectrum, penalty, rows);
    if (score < lowest) {
      lowest = score;
      best = penalty;
    }
  }
  return best;
}

}  // namespace

double RidgePenalties::at(std::size_t k) {
  return std::pow(10.0, kLowest + static_cast<double>(k) / static_cast<double>(kPerDecade));
}

std::unique_ptr<Regressor> fit_ridge(const RegressionData& data, const Params& params, Seed,
                                     const Execution&) {
  check_fit_input("ridge", data, params, kRidgeOptions);
  const bool automatic = params.text("penalty", "auto") == "auto";
  const double given = automatic ? 0.0 : params.number("penalty", 0.0, 0.0, 1e12);

  const std::size_t rows = data.x.rows();
  const std::size_t cols = data.x.cols();
  const Scaled scaled = scale_columns(data);
  std::vector<double> center(cols);
  std::vector<double> coefficient(cols);
  double penalty = given;
  if (cols > 0) {
    const Spectrum spectrum = cols > rows ? dual(data, scaled) : primal(data, scaled);
    if (automatic) penalty = best_penalty(spectrum, rows);
    const Eigen::ArrayXd along =
        (spectrum.s.array() > 0.0)
            .select(spectrum.stretch.array() * spectrum.a.array() / (spectrum.s.array() + penalty),
                    0.0);
    const Eigen::VectorXd standard = spectrum.back * along.matrix();
    for (std::size_t j = 0; j < cols; ++j) {
      center[j] = scaled.column[j].mean;
      const double slope = standard[to_index(j)] * (scaled.target.scale / scaled.column[j].scale);
      // A column so narrow beside the target that its slope is no double is left out.
      coefficient[j] = std::isfinite(slope) ? slope : 0.0;
    }
  }
  return std::make_unique<Ridge>(scaled.target.mean, penalty, std::move(center),
                                 std::move(coefficient));
}

std::unique_ptr<Regressor> load_ridge(const TensorReader& in) {
  const std::size_t cols = in.count("features", kMaxFeatures);
  const double mean = in.get<double>("mean");
  auto center = in.values<double>("center", {cols}, Must::kBeFinite);
  auto coefficient = in.values<double>("coefficient", {cols}, Must::kBeFinite);
  return std::make_unique<Ridge>(mean, in.get<double>("penalty"), std::move(center),
                                 std::move(coefficient));
}

}  // namespace tare

// SPDX-License-Identifier: BSD-3-Clause
#include "model/linear/logistic.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.h"
#include "model/input/fit_input.h"

namespace tare {
namespace {

constexpr double kMostSpreads = 4.0;  // spreads from the mean
constexpr std::array kPenalties = {10.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001};

using Terms =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;

Eigen::Index index_of(std::size_t i) { return static_cast<Eigen::Index>(i); }

/// log(1 + exp(t)) without overflow.
double softplus(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

double probability(double log_odds) { return 1.0 / (1.0 + std::exp(-log_odds)); }

/// The loss to minimise, with its gradient and Hessian.
class LogisticLoss {
 public:
  LogisticLoss(const LabelledRows& rows, MatrixView terms)
      : terms_(terms.data(), index_of(terms.rows()), index_of(terms.cols()),
               Eigen::OuterStride<>(index_of(terms.stride()))),
        label_(index_of(rows.label.size())),
        weight_(index_of(rows.label.size())) {
    for (std::size_t i = 0; i < rows.label.size(); ++i) {
      label_[index_of(i)] = rows.label[i];
      weight_[index_of(i)] = rows.weight.empty() ? 1.0 : rows.weight[i];
    }
    weight_ /= weight_.sum();
  }

  Eigen::Index slopes() const { return terms_.cols(); }
  /// Log-odds without slopes that fit best.
  double base() const {
    const double share = std::clamp(weight_.dot(label_), 1e-12, 1.0 - 1e-12);
    return std::log(share / (1.0 - share));
  }

  double value(const Eigen::VectorXd& b, double penalty) const {
    const Eigen::VectorXd t = log_odds(b);
    double sum = 0.5 * penalty * b.tail(slopes()).squaredNorm();
    for (Eigen::Index i = 0; i < t.size(); ++i) {
      sum += weight_[i] * (softplus(t[i]) - label_[i] * t[i]);
    }
    return sum;
  }

  /// Newton's step away from b.
  Eigen::VectorXd step(const Eigen::VectorXd& b, double penalty) const {
    const Eigen::VectorXd t = log_odds(b);
    Eigen::VectorXd residual(t.size());
    Eigen::VectorXd curve(t.size());
    for (Eigen::Index i = 0; i < t.size(); ++i) {
      const double p = probability(t[i]);
      residual[i] = weight_[i] * (p - label_[i]);
      curve[i] = std::max(weight_[i] * p * (1.0 - p), 1e-300);
    }
    const Eigen::Index d = slopes();
    Eigen::VectorXd gradient(d + 1);
    gradient[0] = residual.sum();
    gradient.tail(d) = terms_.transpose() * residual + penalty * b.tail(d);
    Eigen::MatrixXd hessian(d + 1, d + 1);
    const Eigen::MatrixXd scaled = curve.cwiseSqrt().asDiagonal() * terms_;
    hessian(0, 0) = curve.sum();
    hessian.block(1, 0, d, 1) = terms_.transpose() * curve;
    hessian.block(0, 1, 1, d) = hessian.block(1, 0, d, 1).transpose();
    hessian.block(1, 1, d, d).setZero();
    hessian.block(1, 1, d, d).selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    hessian.block(1, 1, d, d).diagonal().array() += penalty;
    hessian.diagonal().array() += 1e-12;  // classes that are separated without error
    return hessian.selfadjointView<Eigen::Lower>().ldlt().solve(gradient);
  }

 private:
  Eigen::VectorXd log_odds(const Eigen::VectorXd& b) const {
    return (terms_ * b.tail(slopes())).array() + b[0];
  }

  Terms terms_;
  Eigen::VectorXd label_, weight_;
};

/// Continues from b until a step no longer lowers the loss noticeably.
void minimise(const LogisticLoss& loss, double penalty, Eigen::VectorXd& b) {
  constexpr int kMostSteps = 30;
  constexpr double kWorthHaving = 1e-9;  // of a loss of about 0.7
  double best = loss.value(b, penalty);
  for (int round = 0; round < kMostSteps; ++round) {
    Eigen::VectorXd step = loss.step(b, penalty);
    if (!step.allFinite()) return;
    double next = loss.value(b - step, penalty);
    for (int half = 0; half < 20 && !(next <= best); ++half) {
      step *= 0.5;
      next = loss.value(b - step, penalty);
    }
    if (!(next < best)) return;
    b -= step;
    const double gain = best - next;
    best = next;
    if (gain < kWorthHaving) return;
  }
}

}  // namespace

QuadraticTerms::QuadraticTerms(MatrixView x) {
  for (std::size_t j = 0; j < x.cols(); ++j) {
    const Standard column = standardise(x.rows(), [&](std::size_t i) { return x(i, j); }, {});
    center_.push_back(column.mean);
    scale_.push_back(column.scale);
  }
  Matrix raw(x.rows(), raw_terms());
  for (std::size_t i = 0; i < x.rows(); ++i) write_raw(x.row(i), raw.row(i));
  for (std::size_t j = 0; j < raw.cols(); ++j) {
    const Standard term = standardise(x.rows(), [&](std::size_t i) { return raw(i, j); }, {});
    term_center_.push_back(term.mean);
    term_scale_.push_back(term.scale);
  }
}

std::size_t QuadraticTerms::raw_terms() const {
  const std::size_t d = features();
  if (d + d * (d + 1) / 2 <= kMostTerms) return d + d * (d + 1) / 2;
  return 2 * d <= kMostTerms ? 2 * d : d;
}

void QuadraticTerms::write_raw(std::span<const double> row, std::span<double> out) const {
  const std::size_t d = features();
  for (std::size_t j = 0; j < d; ++j) {
    out[j] = std::clamp((row[j] - center_[j]) / scale_[j], -kMostSpreads, kMostSpreads);
  }
  if (out.size() == 2 * d) {
    for (std::size_t j = 0; j < d; ++j) out[d + j] = out[j] * out[j];
  } else if (out.size() > 2 * d) {
    std::size_t next = d;
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t k = 0; k <= j; ++k) out[next++] = out[j] * out[k];
    }
  }
}

void QuadraticTerms::write(std::span<const double> row, std::span<double> out) const {
  write_raw(row, out);
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = (out[j] - term_center_[j]) / term_scale_[j];
}

void QuadraticTerms::save(const TensorWriter& out) const {
  out.tensor("center", center_);
  out.tensor("scale", scale_);
  out.tensor("term_center", term_center_);
  out.tensor("term_scale", term_scale_);
}

QuadraticTerms QuadraticTerms::load(const TensorReader& in) {
  QuadraticTerms terms;
  terms.center_ = in.list<double>("center", Must::kBeFinite);
  terms.scale_ = in.values<double>("scale", {terms.center_.size()}, Must::kBePositive);
  const Shape raw = {terms.raw_terms()};
  terms.term_center_ = in.values<double>("term_center", raw, Must::kBeFinite);
  terms.term_scale_ = in.values<double>("term_scale", raw, Must::kBePositive);
  return terms;
}

double LogisticFit::log_odds(std::span<const double> terms) const {
  double sum = intercept;
  for (std::size_t j = 0; j < slope.size(); ++j) sum += slope[j] * terms[j];
  return sum;
}

std::span<const double> logistic_penalties() { return kPenalties; }

std::vector<LogisticFit> fit_logistic(const LabelledRows& rows, MatrixView terms,
                                      std::span<const double> penalties) {
  const LogisticLoss loss(rows, terms);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(loss.slopes() + 1);
  b[0] = loss.base();
  std::vector<LogisticFit> fits;
  for (const double penalty : penalties) {
    if (loss.slopes() > 0) minimise(loss, penalty, b);
    LogisticFit fit;
    fit.intercept = b[0];
    fit.slope.assign(b.data() + 1, b.data() + b.size());
    fits.push_back(std::move(fit));
  }
  return fits;
}

}  // namespace tare

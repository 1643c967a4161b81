// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.h"
#include "model/nn/graph/operations.h"
#include "model/nn/kernels/factor.h"

namespace tare::nn {
namespace {

constexpr int kTries = 5;
constexpr double kFirstJitter = 1e-6;  // of the mean diagonal; ten times more at each further try

template <class T>
class Cholesky final : public Node<T> {
 public:
  Cholesky(Node<T>* a, T* slope, T* turned, T* scratch)
      : Node<T>(a->rows, a->cols), a_(a), slope_(slope), turned_(turned), scratch_(scratch) {}

  void forward() override {
    const std::size_t n = this->rows;
    T diagonal = 0;
    for (std::size_t i = 0; i < n; ++i)
      diagonal += std::abs(a_->value[i * n + i]) / static_cast<T>(n);
    T jitter = 0;
    for (int attempt = 0; attempt <= kTries; ++attempt) {
      jitter = attempt <= 1 ? static_cast<T>(attempt * kFirstJitter) * diagonal : 10 * jitter;
      std::copy_n(a_->value, n * n, this->value);
      for (std::size_t i = 0; i < n; ++i) this->value[i * n + i] += jitter;
      if (!factor_lower(this->value, n, scratch_)) continue;
      for (std::size_t i = 0; i < n; ++i)
        std::fill(this->value + i * n + i + 1, this->value + (i + 1) * n, T(0));
      return;
    }
    fail(ErrorCode::kBadData,
         "a {} x {} covariance matrix is not positive definite, even with {} added to its "
         "diagonal: are there "
         "values that are not finite, or of very different size?",
         n, n, jitter);
  }

  /// With P = lower triangle of L' dL, its diagonal halved, and S = L'^-1 P L^-1: what is read of a
  /// is its lower triangle, so element (i, j) below the diagonal gets S(i, j) + S(j, i).
  void backward() override {
    const std::size_t n = this->rows;
    const LowerTriangle<T> l{this->value, n, n};
    std::fill_n(slope_, n * n, T(0));
    accumulate_product(Product<T>{n, n, n, this->value, 1, n, this->gradient, n, slope_, n});
    for (std::size_t i = 0; i < n; ++i) {
      std::fill(slope_ + i * n + i + 1, slope_ + (i + 1) * n, T(0));
      slope_[i * n + i] *= T(0.5);
    }
    solve_with_lower_transposed(l, slope_, n, scratch_);
    transpose(slope_, n, n, turned_);
    solve_with_lower_transposed(l, turned_, n, scratch_);  // S'
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j)
        a_->gradient[i * n + j] += turned_[i * n + j] + turned_[j * n + i];
      a_->gradient[i * n + i] += turned_[i * n + i];
    }
  }

 private:
  Node<T>* a_;
  T* slope_;
  T* turned_;
  T* scratch_;
};

template <class T>
struct SolveScratch {
  T* slope;   // as b
  T* turned;  // as b, transposed
  T* outer;   // as L
  T* block;   // for factor.h
};

template <class T, bool kTransposed>
class Solve final : public Node<T> {
 public:
  Solve(Node<T>* l, Node<T>* b, SolveScratch<T> scratch)
      : Node<T>(b->rows, b->cols), l_(l), b_(b), scratch_(scratch) {}

  void forward() override {
    std::copy_n(b_->value, this->size(), this->value);
    if constexpr (kTransposed) {
      solve_with_lower_transposed(triangle(), this->value, this->cols, scratch_.block);
    } else {
      solve_with_lower(triangle(), this->value, this->cols, scratch_.block);
    }
  }

  /// db = (L^-1)' dx, and dL = -(lower triangle of db x'); with the transposed system db and x
  /// change places.
  void backward() override {
    const std::size_t n = this->rows;
    const std::size_t m = this->cols;
    T* const db = scratch_.slope;
    std::copy_n(this->gradient, n * m, db);
    if constexpr (kTransposed) {
      solve_with_lower(triangle(), db, m, scratch_.block);
    } else {
      solve_with_lower_transposed(triangle(), db, m, scratch_.block);
    }
    if (b_->gradient) {
      for (std::size_t i = 0; i < n * m; ++i) b_->gradient[i] += db[i];
    }
    if (!l_->gradient) return;
    const T* const left = kTransposed ? this->value : db;
    transpose(kTransposed ? db : this->value, n, m, scratch_.turned);
    std::fill_n(scratch_.outer, n * n, T(0));
    accumulate_product(Product<T>{n, n, m, left, m, 1, scratch_.turned, n, scratch_.outer, n});
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) l_->gradient[i * n + j] -= scratch_.outer[i * n + j];
    }
  }

 private:
  LowerTriangle<T> triangle() const { return {l_->value, this->rows, this->rows}; }

  Node<T>* l_;
  Node<T>* b_;
  SolveScratch<T> scratch_;
};

template <class T>
class LogDeterminant final : public Node<T> {
 public:
  explicit LogDeterminant(Node<T>* l) : Node<T>(1, 1), l_(l) {}

  void forward() override {
    T sum = 0;
    for (std::size_t i = 0; i < l_->rows; ++i)
      sum += std::log(std::abs(l_->value[i * (l_->cols + 1)]));
    this->value[0] = 2 * sum;
  }
  void backward() override {
    for (std::size_t i = 0; i < l_->rows; ++i) {
      const std::size_t at = i * (l_->cols + 1);
      l_->gradient[at] += 2 * this->gradient[0] / l_->value[at];
    }
  }

 private:
  Node<T>* l_;
};

template <class T, bool kTransposed>
Var<T> record_solve(Var<T> l, Var<T> b) {
  assert(l.rows() == l.cols() && l.rows() == b.rows());
  Graph<T>& graph = l.graph();
  const std::size_t n = l.rows();
  const std::size_t size = n * b.cols();
  const SolveScratch<T> scratch{graph.scratch(size), graph.scratch(size), graph.scratch(n * n),
                                graph.scratch(kFactorBlock * n)};
  const std::array operands = {l.node(), b.node()};
  return graph.record(std::make_unique<Solve<T, kTransposed>>(l.node(), b.node(), scratch),
                      operands);
}

}  // namespace

template <class T>
Var<T> cholesky(Var<T> a) {
  assert(a.rows() == a.cols());
  Graph<T>& graph = a.graph();
  const std::size_t n = a.rows();
  T* slope = graph.scratch(n * n);
  T* turned = graph.scratch(n * n);
  T* scratch = graph.scratch(kFactorBlock * n);
  const std::array operands = {a.node()};
  return graph.record(std::make_unique<Cholesky<T>>(a.node(), slope, turned, scratch), operands);
}

template <class T>
Var<T> solve_lower(Var<T> l, Var<T> b) {
  return record_solve<T, false>(l, b);
}

template <class T>
Var<T> solve_lower_transposed(Var<T> l, Var<T> b) {
  return record_solve<T, true>(l, b);
}

template <class T>
Var<T> log_determinant(Var<T> l) {
  assert(l.rows() == l.cols());
  const std::array operands = {l.node()};
  return l.graph().record(std::make_unique<LogDeterminant<T>>(l.node()), operands);
}

#define TARE_NN_DEFINE(T)                                 \
  template Var<T> cholesky(Var<T>);                       \
  template Var<T> solve_lower(Var<T>, Var<T>);            \
  template Var<T> solve_lower_transposed(Var<T>, Var<T>); \
  template Var<T> log_determinant(Var<T>);
TARE_NN_DEFINE(float)
TARE_NN_DEFINE(double)
#undef TARE_NN_DEFINE

}  // namespace tare::nn

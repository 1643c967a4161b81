// SPDX-License-Identifier: BSD-3-Clause
// What Gaussian processes need beyond factors.
#include <algorithm>
#include <array>

#include "math/vector_targets.h"
#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

/// out[j] += (center - x[j])^2
template <class T>
[[gnu::always_inline]] inline void add_squared_gaps(T center, const T* x, std::size_t count,
                                                    T* out) {
  for (std::size_t j = 0; j < count; ++j) {
    const T gap = center - x[j];
    out[j] += gap * gap;
  }
}
TARE_VECTOR_TARGETS void squared_gaps(float center, const float* x, std::size_t count, float* out) {
  add_squared_gaps(center, x, count, out);
}
TARE_VECTOR_TARGETS void squared_gaps(double center, const double* x, std::size_t count,
                                      double* out) {
  add_squared_gaps(center, x, count, out);
}

/// Differences first and squares afterwards: |a|^2 + |b|^2 - 2 ab would leave nothing of a small
/// distance, and a covariance matrix is made of small distances.
template <class T>
class GaussianKernel final : public Node<T> {
 public:
  struct Scratch {
    T* turned;   // b, transposed
    T* squared;  // as the result: half the squared distances, negative; then their gradient
    T* slope;    // as the larger of a and b
  };
  GaussianKernel(Node<T>* a, Node<T>* b, Scratch scratch)
      : Node<T>(a->rows, b->rows), a_(a), b_(b), s_(scratch) {}

  void forward() override {
    transpose(b_->value, b_->rows, b_->cols, s_.turned);
    std::fill_n(s_.squared, this->size(), T(0));
    for (std::size_t i = 0; i < this->rows; ++i) {
      T* const row = s_.squared + i * this->cols;
      for (std::size_t k = 0; k < a_->cols; ++k) {
        squared_gaps(a_->value[i * a_->cols + k], s_.turned + k * this->cols, this->cols, row);
      }
      for (std::size_t j = 0; j < this->cols; ++j) row[j] *= T(-0.5);
      apply_unary(Unary::kExp, row, this->value + i * this->cols, this->cols);
    }
  }

  /// With g = gradient times value: da_i = sum_j g_ij (b_j - a_i), and db_j likewise.
  void backward() override {
    T* const g = s_.squared;
    for (std::size_t i = 0; i < this->size(); ++i) g[i] = this->gradient[i] * this->value[i];
    if (a_->gradient) {
      std::fill_n(s_.slope, a_->size(), T(0));
      accumulate_product(Product<T>{a_->rows, a_->cols, b_->rows, g, this->cols, 1, b_->value,
                                    b_->cols, s_.slope, a_->cols});
      add_pull(*a_, this->cols, 1);
    }
    if (b_->gradient) {
      std::fill_n(s_.slope, b_->size(), T(0));
      accumulate_product(Product<T>{b_->rows, b_->cols, a_->rows, g, 1, this->cols, a_->value,
                                    a_->cols, s_.slope, b_->cols});
      add_pull(*b_, 1, this->cols);
    }
  }

 private:
  /// Adds the others' rows, which are in s_.slope, less the sum of g times the side's own row.
  void add_pull(Node<T>& side, std::size_t row_step, std::size_t step) const {
    const std::size_t others = this->size() / side.rows;
    for (std::size_t i = 0; i < side.rows; ++i) {
      T sum = 0;
      for (std::size_t j = 0; j < others; ++j) sum += s_.squared[i * row_step + j * step];
      for (std::size_t k = 0; k < side.cols; ++k) {
        const std::size_t at = i * side.cols + k;
        side.gradient[at] += s_.slope[at] - sum * side.value[at];
      }
    }
  }

  Node<T>* a_;
  Node<T>* b_;
  Scratch s_;
};

// Rows of a triangle that are done together: the product kernel's tiles fit in twice, and three
// quarters of what lies above the diagonal of a 128 x 128 triangle is skipped.
constexpr std::size_t kBand = 24;

template <class T>
struct LengthScratch {
  T* lower;   // L with zeros above the diagonal, whatever is stored there
  T* image;   // L' a
  T* pull;    // as the image
  T* turned;  // as the image, transposed
  T* outer;   // as L
};

template <class T>
class SquaredLengths final : public Node<T> {
 public:
  SquaredLengths(Node<T>* l, Node<T>* a, LengthScratch<T> scratch)
      : Node<T>(1, a->cols), l_(l), a_(a), s_(scratch) {}

  void forward() override {
    const std::size_t n = l_->rows;
    const std::size_t m = this->cols;
    for (std::size_t i = 0; i < n; ++i) std::copy_n(l_->value + i * n, i + 1, s_.lower + i * n);
    std::fill_n(s_.image, n * m, T(0));
    for (std::size_t first = 0; first < n; first += kBand) {
      const std::size_t height = std::min(kBand, n - first);
      accumulate_product(Product<T>{height, m, n - first, s_.lower + first * n + first, 1, n,
                                    a_->value + first * m, m, s_.image + first * m, m});
    }
    std::fill_n(this->value, m, T(0));
    for (std::size_t i = 0; i < n; ++i) squared_gaps(T(0), s_.image + i * m, m, this->value);
  }

  /// With V = 2 (L' a) times the gradient, column by column: da = L V, dL = lower part of a V'.
  void backward() override {
    const std::size_t n = l_->rows;
    const std::size_t m = this->cols;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j)
        s_.pull[i * m + j] = 2 * s_.image[i * m + j] * this->gradient[j];
    }
    if (l_->gradient) {
      transpose(s_.pull, n, m, s_.turned);
      std::fill_n(s_.outer, n * n, T(0));
    }
    for (std::size_t first = 0; first < n; first += kBand) {
      const std::size_t height = std::min(kBand, n - first);
      const std::size_t reach = first + height;
      if (a_->gradient) {
        accumulate_product(Product<T>{height, m, reach, s_.lower + first * n, n, 1, s_.pull, m,
                                      a_->gradient + first * m, m});
      }
      if (l_->gradient) {
        accumulate_product(Product<T>{height, reach, m, a_->value + first * m, m, 1, s_.turned, n,
                                      s_.outer + first * n, n});
      }
    }
    if (!l_->gradient) return;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) l_->gradient[i * n + j] += s_.outer[i * n + j];
    }
  }

 private:
  Node<T>* l_;
  Node<T>* a_;
  LengthScratch<T> s_;
};

}  // namespace

template <class T>
Var<T> gaussian_kernel(Var<T> a, Var<T> b) {
  assert(a.cols() == b.cols());
  Graph<T>& graph = a.graph();
  const typename GaussianKernel<T>::Scratch scratch{
      graph.scratch(b.rows() * b.cols()), graph.scratch(a.rows() * b.rows()),
      graph.scratch(std::max(a.rows(), b.rows()) * b.cols())};
  const std::array operands = {a.node(), b.node()};
  return graph.record(std::make_unique<GaussianKernel<T>>(a.node(), b.node(), scratch), operands);
}

template <class T>
Var<T> squared_lengths(Var<T> l, Var<T> a) {
  assert(l.rows() == l.cols() && l.cols() == a.rows());
  Graph<T>& graph = l.graph();
  const std::size_t triangle = l.rows() * l.cols();
  const std::size_t image = a.rows() * a.cols();
  const LengthScratch<T> scratch{graph.scratch(triangle), graph.scratch(image),
                                 graph.scratch(image), graph.scratch(image),
                                 graph.scratch(triangle)};
  const std::array operands = {l.node(), a.node()};
  return graph.record(std::make_unique<SquaredLengths<T>>(l.node(), a.node(), scratch), operands);
}

#define TARE_NN_DEFINE(T)                          \
  template Var<T> gaussian_kernel(Var<T>, Var<T>); \
  template Var<T> squared_lengths(Var<T>, Var<T>);
TARE_NN_DEFINE(float)
TARE_NN_DEFINE(double)
#undef TARE_NN_DEFINE

}  // namespace tare::nn

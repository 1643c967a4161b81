// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

template <class T>
struct Side {
  const T* data;
  std::size_t rows;
  std::size_t cols;
};

/// c += a b
template <class T>
void add_nn(const Side<T>& a, const Side<T>& b, T* c) {
  accumulate_product({a.rows, b.cols, a.cols, a.data, a.cols, 1, b.data, b.cols, c, b.cols});
}

/// c += a' b
template <class T>
void add_tn(const Side<T>& a, const Side<T>& b, T* c) {
  accumulate_product({a.cols, b.cols, a.rows, a.data, 1, a.cols, b.data, b.cols, c, b.cols});
}

/// c += a b'; `scratch` has room for b. Turning b round first is cheaper than a kernel along rows
/// of both.
template <class T>
void add_nt(const Side<T>& a, const Side<T>& b, T* c, T* scratch) {
  transpose(b.data, b.rows, b.cols, scratch);
  add_nn(a, {scratch, b.cols, b.rows}, c);
}

template <class T>
Side<T> value_of(const Node<T>* node) {
  return {node->value, node->rows, node->cols};
}

template <class T>
Side<T> gradient_of(const Node<T>* node) {
  return {node->gradient, node->rows, node->cols};
}

template <class T>
class Matmul final : public Node<T> {
 public:
  Matmul(Node<T>* a, Node<T>* b, T* scratch)
      : Node<T>(a->rows, b->cols), a_(a), b_(b), scratch_(scratch) {}

  void forward() override {
    std::fill_n(this->value, this->size(), T(0));
    add_nn(value_of(a_), value_of(b_), this->value);
  }
  void backward() override {
    const Side<T> slope = gradient_of<T>(this);
    if (a_->gradient) add_nt(slope, value_of(b_), a_->gradient, scratch_);
    if (b_->gradient) add_tn(value_of(a_), slope, b_->gradient);
  }

 private:
  Node<T>* a_;
  Node<T>* b_;
  T* scratch_;
};

template <class T>
class MatmulTn final : public Node<T> {
 public:
  MatmulTn(Node<T>* a, Node<T>* b, T* scratch)
      : Node<T>(a->cols, b->cols), a_(a), b_(b), scratch_(scratch) {}

  void forward() override {
    std::fill_n(this->value, this->size(), T(0));
    add_tn(value_of(a_), value_of(b_), this->value);
  }
  void backward() override {
    const Side<T> slope = gradient_of<T>(this);
    if (a_->gradient) add_nt(value_of(b_), slope, a_->gradient, scratch_);
    if (b_->gradient) add_nn(value_of(a_), slope, b_->gradient);
  }

 private:
  Node<T>* a_;
  Node<T>* b_;
  T* scratch_;
};

template <class T>
class MatmulNt final : public Node<T> {
 public:
  MatmulNt(Node<T>* a, Node<T>* b, T* scratch)
      : Node<T>(a->rows, b->rows), a_(a), b_(b), scratch_(scratch) {}

  void forward() override {
    std::fill_n(this->value, this->size(), T(0));
    add_nt(value_of(a_), value_of(b_), this->value, scratch_);
  }
  void backward() override {
    const Side<T> slope = gradient_of<T>(this);
    if (a_->gradient) add_nn(slope, value_of(b_), a_->gradient);
    if (b_->gradient) add_tn(slope, value_of(a_), b_->gradient);
  }

 private:
  Node<T>* a_;
  Node<T>* b_;
  T* scratch_;
};

template <class T>
struct Term {
  Node<T>* x;
  Node<T>* w;
};

template <class T>
class Affine final : public Node<T> {
 public:
  Affine(std::vector<Term<T>> terms, Node<T>* bias, T* scratch)
      : Node<T>(terms[0].x->rows, bias->cols),
        terms_(std::move(terms)),
        bias_(bias),
        scratch_(scratch) {}

  void forward() override {
    for (std::size_t i = 0; i < this->rows; ++i) {
      std::copy_n(bias_->value, this->cols, this->value + i * this->cols);
    }
    for (const auto& [x, w] : terms_) add_nn(value_of(x), value_of(w), this->value);
  }

  void backward() override {
    const Side<T> slope = gradient_of<T>(this);
    for (const auto& [x, w] : terms_) {
      if (x->gradient) add_nt(slope, value_of(w), x->gradient, scratch_);
      if (w->gradient) add_tn(value_of(x), slope, w->gradient);
    }
    if (!bias_->gradient) return;
    for (std::size_t i = 0; i < this->rows; ++i) {
      const T* row = this->gradient + i * this->cols;
      for (std::size_t j = 0; j < this->cols; ++j) bias_->gradient[j] += row[j];
    }
  }

 private:
  std::vector<Term<T>> terms_;
  Node<T>* bias_;
  T* scratch_;
};

template <class T>
Var<T> record_affine(std::vector<Term<T>> terms, Var<T> bias) {
  std::size_t largest = 0;
  std::vector<Node<T>*> operands = {bias.node()};
  for (const auto& [x, w] : terms) {
    assert(x->cols == w->rows && x->rows == terms[0].x->rows && w->cols == bias.cols());
    largest = std::max(largest, w->size());
    operands.insert(operands.end(), {x, w});
  }
  Graph<T>& graph = bias.graph();
  T* scratch = graph.scratch(largest);
  return graph.record(std::make_unique<Affine<T>>(std::move(terms), bias.node(), scratch),
                      operands);
}

}  // namespace

template <class T>
Var<T> matmul(Var<T> a, Var<T> b) {
  assert(a.cols() == b.rows());
  T* scratch = a.graph().scratch(b.rows() * b.cols());
  const std::array operands = {a.node(), b.node()};
  return a.graph().record(std::make_unique<Matmul<T>>(a.node(), b.node(), scratch), operands);
}

template <class T>
Var<T> matmul_tn(Var<T> a, Var<T> b) {
  assert(a.rows() == b.rows());
  T* scratch = a.graph().scratch(a.cols() * b.cols());
  const std::array operands = {a.node(), b.node()};
  return a.graph().record(std::make_unique<MatmulTn<T>>(a.node(), b.node(), scratch), operands);
}

template <class T>
Var<T> matmul_nt(Var<T> a, Var<T> b) {
  assert(a.cols() == b.cols());
  T* scratch = a.graph().scratch(b.rows() * b.cols());
  const std::array operands = {a.node(), b.node()};
  return a.graph().record(std::make_unique<MatmulNt<T>>(a.node(), b.node(), scratch), operands);
}

template <class T>
Var<T> affine(Var<T> x, Var<T> w, Var<T> bias) {
  return record_affine<T>({{x.node(), w.node()}}, bias);
}

template <class T>
Var<T> affine(Var<T> x, Var<T> w, Var<T> h, Var<T> u, Var<T> bias) {
  return record_affine<T>({{x.node(), w.node()}, {h.node(), u.node()}}, bias);
}

#define TARE_NN_DEFINE(T)                         \
  template Var<T> matmul(Var<T>, Var<T>);         \
  template Var<T> matmul_tn(Var<T>, Var<T>);      \
  template Var<T> matmul_nt(Var<T>, Var<T>);      \
  template Var<T> affine(Var<T>, Var<T>, Var<T>); \
  template Var<T> affine(Var<T>, Var<T>, Var<T>, Var<T>, Var<T>);
TARE_NN_DEFINE(float)
TARE_NN_DEFINE(double)
#undef TARE_NN_DEFINE

}  // namespace tare::nn

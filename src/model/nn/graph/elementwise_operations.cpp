// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

template <class T>
class UnaryNode final : public Node<T> {
 public:
  /// `slope` has room for one number for each element; null if nothing is learned from this node.
  UnaryNode(Unary f, Node<T>* a, T* slope)
      : Node<T>(a->rows, a->cols), f_(f), a_(a), slope_(slope) {}

  void forward() override {
    if (slope_ != nullptr) {
      apply_unary_with_slope(f_, a_->value, this->value, slope_, this->size());
    } else {
      apply_unary(f_, a_->value, this->value, this->size());
    }
  }
  void backward() override { add_product(slope_, this->gradient, a_->gradient, this->size()); }

 private:
  Unary f_;
  Node<T>* a_;
  T* slope_;
};

// value(a, b), and its derivatives by a and by b.
struct Add {
  template <class T>
  static T value(T a, T b) {
    return a + b;
  }
  template <class T>
  static T by_a(T, T) {
    return T(1);
  }
  template <class T>
  static T by_b(T, T) {
    return T(1);
  }
};
struct Subtract {
  template <class T>
  static T value(T a, T b) {
    return a - b;
  }
  template <class T>
  static T by_a(T, T) {
    return T(1);
  }
  template <class T>
  static T by_b(T, T) {
    return T(-1);
  }
};
struct Multiply {
  template <class T>
  static T value(T a, T b) {
    return a * b;
  }
  template <class T>
  static T by_a(T, T b) {
    return b;
  }
  template <class T>
  static T by_b(T a, T) {
    return a;
  }
};
struct Divide {
  template <class T>
  static T value(T a, T b) {
    return a / b;
  }
  template <class T>
  static T by_a(T, T b) {
    return T(1) / b;
  }
  template <class T>
  static T by_b(T a, T b) {
    return -a / (b * b);
  }
};
struct Maximum {
  template <class T>
  static T value(T a, T b) {
    return a < b ? b : a;
  }
  template <class T>
  static T by_a(T a, T b) {
    return a < b ? T(0) : T(1);
  }
  template <class T>
  static T by_b(T a, T b) {
    return a < b ? T(1) : T(0);
  }
};

/// How far to step through an operand for the next row and the next column: 0 repeats it.
struct Steps {
  std::size_t row;
  std::size_t col;
};

template <class T>
Steps steps_of(const Node<T>* node) {
  return {node->rows == 1 ? 0 : node->cols, node->cols == 1 ? std::size_t{0} : std::size_t{1}};
}

template <class T, class F>
class BinaryNode final : public Node<T> {
 public:
  BinaryNode(Node<T>* a, Node<T>* b)
      : Node<T>(std::max(a->rows, b->rows), std::max(a->cols, b->cols)),
        a_(a),
        b_(b),
        a_steps_(steps_of(a)),
        b_steps_(steps_of(b)),
        same_shape_(a->rows == b->rows && a->cols == b->cols) {}

  void forward() override {
    if (same_shape_) {
      for (std::size_t i = 0; i < this->size(); ++i)
        this->value[i] = F::value(a_->value[i], b_->value[i]);
      return;
    }
    each([&](std::size_t at, std::size_t a, std::size_t b) {
      this->value[at] = F::value(a_->value[a], b_->value[b]);
    });
  }

  void backward() override {
    if (a_->gradient) {
      each([&](std::size_t at, std::size_t a, std::size_t b) {
        a_->gradient[a] += this->gradient[at] * F::by_a(a_->value[a], b_->value[b]);
      });
    }
    if (b_->gradient) {
      each([&](std::size_t at, std::size_t a, std::size_t b) {
        b_->gradient[b] += this->gradient[at] * F::by_b(a_->value[a], b_->value[b]);
      });
    }
  }

 private:
  template <class Body>
  void each(Body body) const {
    for (std::size_t i = 0; i < this->rows; ++i) {
      const std::size_t at = i * this->cols;
      const std::size_t a = i * a_steps_.row;
      const std::size_t b = i * b_steps_.row;
      for (std::size_t j = 0; j < this->cols; ++j) {
        body(at + j, a + j * a_steps_.col, b + j * b_steps_.col);
      }
    }
  }

  Node<T>* a_;
  Node<T>* b_;
  Steps a_steps_;
  Steps b_steps_;
  bool same_shape_;
};

template <class T>
class Dropout final : public Node<T> {
 public:
  Dropout(Node<T>* a, double rate, Rng& rng, T* mask)
      : Node<T>(a->rows, a->cols), a_(a), rate_(rate), rng_(&rng), mask_(mask) {}

  void forward() override {
    // Two elements for each draw: 32 bits decide as well as 64 do.
    const auto threshold = static_cast<std::uint32_t>(rate_ * 4294967296.0);
    const T kept = static_cast<T>(1.0 / (1.0 - rate_));
    for (std::size_t i = 0; i < this->size(); i += 2) {
      const std::uint64_t bits = rng_->next();
      mask_[i] = static_cast<std::uint32_t>(bits >> 32) < threshold ? T(0) : kept;
      if (i + 1 < this->size())
        mask_[i + 1] = static_cast<std::uint32_t>(bits) < threshold ? T(0) : kept;
    }
    for (std::size_t i = 0; i < this->size(); ++i) this->value[i] = a_->value[i] * mask_[i];
  }
  void backward() override {
    for (std::size_t i = 0; i < this->size(); ++i) a_->gradient[i] += this->gradient[i] * mask_[i];
  }

 private:
  Node<T>* a_;
  double rate_;
  Rng* rng_;
  T* mask_;
};

template <class T>
std::unique_ptr<Node<T>> make_binary(Binary f, Node<T>* a, Node<T>* b) {
  switch (f) {
    case Binary::kAdd:
      return std::make_unique<BinaryNode<T, Add>>(a, b);
    case Binary::kSubtract:
      return std::make_unique<BinaryNode<T, Subtract>>(a, b);
    case Binary::kMultiply:
      return std::make_unique<BinaryNode<T, Multiply>>(a, b);
    case Binary::kDivide:
      return std::make_unique<BinaryNode<T, Divide>>(a, b);
    case Binary::kMaximum:
      break;
  }
  return std::make_unique<BinaryNode<T, Maximum>>(a, b);
}

}  // namespace

template <class T>
Var<T> unary(Unary f, Var<T> a) {
  const std::array operands = {a.node()};
  T* slope = a.node()->gradient != nullptr ? a.graph().scratch(a.rows() * a.cols()) : nullptr;
  return a.graph().record(std::make_unique<UnaryNode<T>>(f, a.node(), slope), operands);
}

template <class T>
Var<T> binary(Binary f, Var<T> a, Var<T> b) {
  assert((a.rows() == b.rows() || a.rows() == 1 || b.rows() == 1) && "rows repeat only from one");
  assert((a.cols() == b.cols() || a.cols() == 1 || b.cols() == 1) &&
         "columns repeat only from one");
  const std::array operands = {a.node(), b.node()};
  return a.graph().record(make_binary(f, a.node(), b.node()), operands);
}

template <class T>
Var<T> dropout(Var<T> a, double rate, Rng& rng) {
  assert(rate >= 0.0 && rate < 1.0);
  T* mask = a.graph().scratch(a.rows() * a.cols());
  const std::array operands = {a.node()};
  return a.graph().record(std::make_unique<Dropout<T>>(a.node(), rate, rng, mask), operands);
}

#define TARE_NN_DEFINE(T)                         \
  template Var<T> unary(Unary, Var<T>);           \
  template Var<T> binary(Binary, Var<T>, Var<T>); \
  template Var<T> dropout(Var<T>, double, Rng&);
TARE_NN_DEFINE(float)
TARE_NN_DEFINE(double)
#undef TARE_NN_DEFINE

}  // namespace tare::nn

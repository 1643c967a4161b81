// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

/// Eight partial sums, added in pairs: short chains, and smaller rounding errors than one running
/// sum.
template <class T>
T total(const T* values, std::size_t count) {
  constexpr std::size_t kParts = 8;
  T part[kParts] = {};
  std::size_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (std::size_t k = 0; k < kParts; ++k) part[k] += values[i + k];
  }
  for (std::size_t k = 0; i < count; ++i, ++k) part[k] += values[i];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/// factor * sum of all elements
template <class T>
class Sum final : public Node<T> {
 public:
  Sum(Node<T>* a, T factor) : Node<T>(1, 1), a_(a), factor_(factor) {}

  void forward() override { this->value[0] = factor_ * total(a_->value, a_->size()); }
  void backward() override {
    const T slope = factor_ * this->gradient[0];
    for (std::size_t i = 0; i < a_->size(); ++i) a_->gradient[i] += slope;
  }

 private:
  Node<T>* a_;
  T factor_;
};

template <class T>
class RowSums final : public Node<T> {
 public:
  explicit RowSums(Node<T>* a) : Node<T>(a->rows, 1), a_(a) {}

  void forward() override {
    for (std::size_t i = 0; i < a_->rows; ++i)
      this->value[i] = total(a_->value + i * a_->cols, a_->cols);
  }
  void backward() override {
    for (std::size_t i = 0; i < a_->rows; ++i) {
      T* row = a_->gradient + i * a_->cols;
      for (std::size_t j = 0; j < a_->cols; ++j) row[j] += this->gradient[i];
    }
  }

 private:
  Node<T>* a_;
};

template <class T>
class ColSums final : public Node<T> {
 public:
  explicit ColSums(Node<T>* a) : Node<T>(1, a->cols), a_(a) {}

  void forward() override {
    std::fill_n(this->value, this->cols, T(0));
    for (std::size_t i = 0; i < a_->rows; ++i) {
      const T* row = a_->value + i * a_->cols;
      for (std::size_t j = 0; j < a_->cols; ++j) this->value[j] += row[j];
    }
  }
  void backward() override {
    for (std::size_t i = 0; i < a_->rows; ++i) {
      T* row = a_->gradient + i * a_->cols;
      for (std::size_t j = 0; j < a_->cols; ++j) row[j] += this->gradient[j];
    }
  }

 private:
  Node<T>* a_;
};

template <class T>
class Transposed final : public Node<T> {
 public:
  explicit Transposed(Node<T>* a) : Node<T>(a->cols, a->rows), a_(a) {}

  void forward() override { transpose(a_->value, a_->rows, a_->cols, this->value); }
  void backward() override {
    for (std::size_t i = 0; i < this->rows; ++i) {
      for (std::size_t j = 0; j < this->cols; ++j) {
        a_->gradient[j * this->rows + i] += this->gradient[i * this->cols + j];
      }
    }
  }

 private:
  Node<T>* a_;
};

/// A rectangle of one node and the place where it lies in another of at least its size.
template <class T>
struct Window {
  Node<T>* part;
  std::size_t row;
  std::size_t col;
};

/// body(offset in the part, offset in the whole, elements) for each row of the part.
template <class T, class Body>
void for_rows(const Window<T>& window, std::size_t part_cols, std::size_t part_rows,
              std::size_t whole_cols, Body body) {
  for (std::size_t i = 0; i < part_rows; ++i) {
    body(i * part_cols, (window.row + i) * whole_cols + window.col, part_cols);
  }
}

template <class T>
void add_run(const T* from, T* to, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) to[k] += from[k];
}

template <class T>
class Concat final : public Node<T> {
 public:
  Concat(std::size_t height, std::size_t width, std::vector<Window<T>> windows)
      : Node<T>(height, width), windows_(std::move(windows)) {}

  void forward() override {
    for (const Window<T>& w : windows_) {
      for_rows(w, w.part->cols, w.part->rows, this->cols, [&](auto part, auto whole, auto count) {
        std::copy_n(w.part->value + part, count, this->value + whole);
      });
    }
  }
  void backward() override {
    for (const Window<T>& w : windows_) {
      if (!w.part->gradient) continue;
      for_rows(w, w.part->cols, w.part->rows, this->cols, [&](auto part, auto whole, auto count) {
        add_run(this->gradient + whole, w.part->gradient + part, count);
      });
    }
  }

 private:
  std::vector<Window<T>> windows_;
};

template <class T>
class Slice final : public Node<T> {
 public:
  Slice(std::size_t height, std::size_t width, Window<T> window)
      : Node<T>(height, width), window_(window) {}

  void forward() override {
    for_rows(window_, this->cols, this->rows, window_.part->cols,
             [&](auto part, auto whole, auto count) {
               std::copy_n(window_.part->value + whole, count, this->value + part);
             });
  }
  void backward() override {
    for_rows(window_, this->cols, this->rows, window_.part->cols,
             [&](auto part, auto whole, auto count) {
               add_run(this->gradient + part, window_.part->gradient + whole, count);
             });
  }

 private:
  Window<T> window_;  // `part` is the whole here: the operand
};

template <class T>
Var<T> record_one(Var<T> a, std::unique_ptr<Node<T>> node) {
  const std::array operands = {a.node()};
  return a.graph().record(std::move(node), operands);
}

template <class T>
Var<T> record_concat(std::span<const Var<T>> parts, std::size_t rows, std::size_t cols,
                     std::vector<Window<T>> windows) {
  std::vector<Node<T>*> operands;
  for (const Var<T>& part : parts) operands.push_back(part.node());
  return parts[0].graph().record(std::make_unique<Concat<T>>(rows, cols, std::move(windows)),
                                 operands);
}

}  // namespace

template <class T>
Var<T> sum(Var<T> a) {
  return record_one<T>(a, std::make_unique<Sum<T>>(a.node(), T(1)));
}

template <class T>
Var<T> mean(Var<T> a) {
  return record_one<T>(a,
                       std::make_unique<Sum<T>>(a.node(), T(1) / static_cast<T>(a.node()->size())));
}

template <class T>
Var<T> row_sums(Var<T> a) {
  return record_one<T>(a, std::make_unique<RowSums<T>>(a.node()));
}

template <class T>
Var<T> col_sums(Var<T> a) {
  return record_one<T>(a, std::make_unique<ColSums<T>>(a.node()));
}

template <class T>
Var<T> transposed(Var<T> a) {
  return record_one<T>(a, std::make_unique<Transposed<T>>(a.node()));
}

template <class T>
Var<T> concat_cols(std::span<const Var<T>> parts) {
  std::vector<Window<T>> windows;
  std::size_t cols = 0;
  for (const Var<T>& part : parts) {
    assert(part.rows() == parts[0].rows());
    windows.push_back({part.node(), 0, cols});
    cols += part.cols();
  }
  return record_concat(parts, parts[0].rows(), cols, std::move(windows));
}

template <class T>
Var<T> concat_rows(std::span<const Var<T>> parts) {
  std::vector<Window<T>> windows;
  std::size_t rows = 0;
  for (const Var<T>& part : parts) {
    assert(part.cols() == parts[0].cols());
    windows.push_back({part.node(), rows, 0});
    rows += part.rows();
  }
  return record_concat(parts, rows, parts[0].cols(), std::move(windows));
}

template <class T>
Var<T> slice_cols(Var<T> a, std::size_t first, std::size_t count) {
  assert(first + count <= a.cols());
  return record_one<T>(a,
                       std::make_unique<Slice<T>>(a.rows(), count, Window<T>{a.node(), 0, first}));
}

template <class T>
Var<T> slice_rows(Var<T> a, std::size_t first, std::size_t count) {
  assert(first + count <= a.rows());
  return record_one<T>(a,
                       std::make_unique<Slice<T>>(count, a.cols(), Window<T>{a.node(), first, 0}));
}

#define TARE_NN_DEFINE(T)                                       \
  template Var<T> sum(Var<T>);                                  \
  template Var<T> mean(Var<T>);                                 \
  template Var<T> row_sums(Var<T>);                             \
  template Var<T> col_sums(Var<T>);                             \
  template Var<T> transposed(Var<T>);                           \
  template Var<T> concat_cols(std::span<const Var<T>>);         \
  template Var<T> concat_rows(std::span<const Var<T>>);         \
  template Var<T> slice_cols(Var<T>, std::size_t, std::size_t); \
  template Var<T> slice_rows(Var<T>, std::size_t, std::size_t);
TARE_NN_DEFINE(float)
TARE_NN_DEFINE(double)
#undef TARE_NN_DEFINE

}  // namespace tare::nn

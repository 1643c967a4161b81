// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/nn/graph/parameters.h"

namespace tare::nn {

/// Memory that stays where it is until the arena goes: blocks start on a cache line and are zero.
template <class T>
class Arena {
 public:
  T* take(std::size_t count);
  void clear();  // everything to zero

 private:
  struct Free {
    void operator()(T* chunk) const;
  };
  struct Chunk {
    std::unique_ptr<T[], Free> memory;
    std::size_t used = 0;
    std::size_t size = 0;
  };
  std::vector<Chunk> chunks_;
};

/// A matrix, row-major, and how it follows from others. `gradient` is null where nothing that is
/// learned lies upstream; an operation then has nothing to add there.
template <class T>
class Node {
 public:
  Node(std::size_t height, std::size_t width) : rows(height), cols(width) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  virtual void forward() {}
  /// Adds to the operands' gradients what follows from this one's.
  virtual void backward() {}

  std::size_t size() const { return rows * cols; }

  const std::size_t rows;
  const std::size_t cols;
  T* value = nullptr;
  T* gradient = nullptr;
};

template <class T>
class Graph;

/// A node of a graph, as one writes it in an expression. Valid as long as the graph.
template <class T>
class Var {
 public:
  Var() = default;
  Var(Graph<T>* graph, Node<T>* node) : graph_(graph), node_(node) {}

  std::size_t rows() const { return node_->rows; }
  std::size_t cols() const { return node_->cols; }
  std::span<T> value() const { return {node_->value, node_->size()}; }
  /// Empty where there is none.
  std::span<const T> gradient() const {
    return {node_->gradient, node_->gradient == nullptr ? 0 : node_->size()};
  }
  Graph<T>& graph() const { return *graph_; }
  Node<T>* node() const { return node_; }

 private:
  Graph<T>* graph_ = nullptr;
  Node<T>* node_ = nullptr;
};

/// Matrix operations recorded once, for fixed shapes, and replayed as often as one likes: write the
/// inputs, call forward(), then backward(loss). All memory is taken while recording; replaying
/// takes none. Operations are in operations.h. A graph belongs to one thread at a time; graphs that
/// only read the same parameters do not disturb each other.
template <class T>
class Graph {
 public:
  /// `values` holds the parameters; `gradient`, of the same length, is where backward() adds their
  /// gradient, or empty for a graph that is only evaluated. Both must outlive the graph and stay
  /// where they are.
  explicit Graph(std::span<const T> values, std::span<T> gradient = {});
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// To be written before forward().
  Var<T> input(std::size_t rows, std::size_t cols);
  /// An input whose gradient is wanted.
  Var<T> variable(std::size_t rows, std::size_t cols);
  Var<T> constant(T value);
  Var<T> parameter(const Block& block);

  /// Takes over an operation. It gets a gradient when one of its operands has one.
  Var<T> record(std::unique_ptr<Node<T>> node, std::span<Node<T>* const> operands);
  /// Memory of an operation's own, zero at first.
  T* scratch(std::size_t count) { return values_.take(count); }

  void forward();
  /// `loss` is 1 x 1. The gradients of nodes are set, those of parameters added to.
  void backward(const Var<T>& loss);

 private:
  Var<T> keep(std::unique_ptr<Node<T>> node);

  std::span<const T> parameters_;
  std::span<T> parameter_gradient_;
  Arena<T> values_;
  Arena<T> gradients_;
  std::vector<std::unique_ptr<Node<T>>> nodes_;
};

}  // namespace tare::nn

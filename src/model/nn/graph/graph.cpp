// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/graph/graph.h"

#include <algorithm>
#include <new>
#include <utility>

namespace tare::nn {
namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line
constexpr std::size_t kChunkBytes =
    64 * 1024;  // small nodes share a chunk, large ones get their own

}  // namespace

template <class T>
void Arena<T>::Free::operator()(T* chunk) const {
  ::operator delete[](chunk, std::align_val_t{kLine});
}

template <class T>
T* Arena<T>::take(std::size_t count) {
  constexpr std::size_t kStep = kLine / sizeof(T);
  const std::size_t needed = std::max<std::size_t>(1, (count + kStep - 1) / kStep) * kStep;
  if (chunks_.empty() || chunks_.back().size - chunks_.back().used < needed) {
    const std::size_t size = std::max(needed, kChunkBytes / sizeof(T));
    T* const memory = static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t{kLine}));
    std::fill_n(memory, size, T(0));
    chunks_.push_back({std::unique_ptr<T[], Free>(memory), 0, size});
  }
  Chunk& chunk = chunks_.back();
  T* const block = chunk.memory.get() + chunk.used;
  chunk.used += needed;
  return block;
}

template <class T>
void Arena<T>::clear() {
  for (Chunk& chunk : chunks_) std::fill_n(chunk.memory.get(), chunk.used, T(0));
}

template <class T>
Graph<T>::Graph(std::span<const T> values, std::span<T> gradient)
    : parameters_(values), parameter_gradient_(gradient) {
  assert((gradient.empty() || gradient.size() == values.size()) && "a gradient for each parameter");
}

template <class T>
Var<T> Graph<T>::keep(std::unique_ptr<Node<T>> node) {
  nodes_.push_back(std::move(node));
  return {this, nodes_.back().get()};
}

template <class T>
Var<T> Graph<T>::input(std::size_t rows, std::size_t cols) {
  auto node = std::make_unique<Node<T>>(rows, cols);
  node->value = values_.take(node->size());
  return keep(std::move(node));
}

template <class T>
Var<T> Graph<T>::variable(std::size_t rows, std::size_t cols) {
  const Var<T> made = input(rows, cols);
  made.node()->gradient = gradients_.take(rows * cols);
  return made;
}

template <class T>
Var<T> Graph<T>::constant(T value) {
  const Var<T> made = input(1, 1);
  made.value()[0] = value;
  return made;
}

template <class T>
Var<T> Graph<T>::parameter(const Block& block) {
  assert(block.offset + block.size() <= parameters_.size() && "a block of another layout");
  auto node = std::make_unique<Node<T>>(block.rows, block.cols);
  // Nothing writes through `value` of a node that has no operation, so the parameters stay as they
  // are.
  node->value = const_cast<T*>(parameters_.data()) + block.offset;
  if (!parameter_gradient_.empty()) node->gradient = parameter_gradient_.data() + block.offset;
  return keep(std::move(node));
}

template <class T>
Var<T> Graph<T>::record(std::unique_ptr<Node<T>> node, std::span<Node<T>* const> operands) {
  node->value = values_.take(node->size());
  const auto learned = [](const Node<T>* operand) { return operand->gradient != nullptr; };
  if (std::ranges::any_of(operands, learned)) node->gradient = gradients_.take(node->size());
  return keep(std::move(node));
}

template <class T>
void Graph<T>::forward() {
  for (const auto& node : nodes_) node->forward();
}

template <class T>
void Graph<T>::backward(const Var<T>& loss) {
  assert(loss.rows() == 1 && loss.cols() == 1 && "a loss is one number");
  if (loss.node()->gradient == nullptr) return;

  gradients_.clear();
  loss.node()->gradient[0] = T(1);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if ((*node)->gradient != nullptr) (*node)->backward();
  }
}

template class Arena<float>;
template class Arena<double>;
template class Graph<float>;
template class Graph<double>;

}  // namespace tare::nn

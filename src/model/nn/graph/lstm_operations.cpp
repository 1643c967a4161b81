// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

template <class T>
class LstmCell final : public Node<T> {
 public:
  LstmCell(Node<T>* gates, Node<T>* cell, T* open, T* bent)
      : Node<T>(gates->rows, 2 * cell->cols),
        gates_(gates),
        cell_(cell),
        open_(open),
        bent_(bent) {}

  void forward() override { lstm_forward(step()); }
  void backward() override {
    // A step's gates always depend on parameters where anything does: the cell state came from
    // gates as well.
    if (gates_->gradient == nullptr) return;
    lstm_backward(LstmSlope<T>{step(), this->gradient, gates_->gradient, cell_->gradient});
  }

 private:
  LstmStep<T> step() const {
    return {this->rows, cell_->cols, gates_->value, cell_->value, open_, bent_, this->value};
  }

  Node<T>* gates_;
  Node<T>* cell_;
  T* open_;
  T* bent_;
};

}  // namespace

template <class T>
Var<T> lstm_cell(Var<T> gates, Var<T> cell) {
  assert(gates.rows() == cell.rows() && gates.cols() == 4 * cell.cols());
  Graph<T>& graph = gates.graph();
  T* open = graph.scratch(gates.rows() * gates.cols());
  T* bent = graph.scratch(cell.rows() * cell.cols());
  const std::array operands = {gates.node(), cell.node()};
  return graph.record(std::make_unique<LstmCell<T>>(gates.node(), cell.node(), open, bent),
                      operands);
}

template Var<float> lstm_cell(Var<float>, Var<float>);
template Var<double> lstm_cell(Var<double>, Var<double>);

}  // namespace tare::nn

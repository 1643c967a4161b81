// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/rank_loss.h"

#include <array>
#include <cmath>
#include <numbers>

namespace tare::nn {
namespace {

template <class T>
class RankLoss final : public Node<T> {
 public:
  RankLoss(const NormalHeads<T>& law, Node<T>* y, Node<T>* r)
      : Node<T>(y->rows, 1), mean_(law.mean.node()), sd_(law.sd.node()), y_(y), r_(r) {}

  void forward() override {
    for (std::size_t i = 0; i < this->size(); ++i) this->value[i] = std::abs(excess(i));
  }

  void backward() override {
    constexpr T kInverseRoot = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
    for (std::size_t i = 0; i < this->size(); ++i) {
      const T over = excess(i);
      const T sign = over > T(0) ? T(1) : over < T(0) ? T(-1) : T(0);
      if (r_->gradient) r_->gradient[i] -= sign * this->gradient[i];
      const T z = score(i);
      const T density = kInverseRoot * std::exp(T(-0.5) * z * z);
      const T slope = sign * this->gradient[i] * density / sd_->value[i];
      if (mean_->gradient) mean_->gradient[i] -= slope;
      if (sd_->gradient) sd_->gradient[i] -= slope * z;
      if (y_->gradient) y_->gradient[i] += slope;
    }
  }

 private:
  T score(std::size_t i) const { return (y_->value[i] - mean_->value[i]) / sd_->value[i]; }
  /// The level of the target above r.
  T excess(std::size_t i) const {
    return T(0.5) * std::erfc(-score(i) / std::numbers::sqrt2_v<T>) - r_->value[i];
  }

  Node<T>* mean_;
  Node<T>* sd_;
  Node<T>* y_;
  Node<T>* r_;
};

}  // namespace

template <class T>
Var<T> rank_loss(const NormalHeads<T>& law, Var<T> y, Var<T> r) {
  assert(law.mean.rows() == y.rows() && law.sd.rows() == y.rows() && r.rows() == y.rows());
  assert(law.mean.cols() == 1 && law.sd.cols() == 1 && y.cols() == 1 && r.cols() == 1);
  const std::array operands = {law.mean.node(), law.sd.node(), y.node(), r.node()};
  return y.graph().record(std::make_unique<RankLoss<T>>(law, y.node(), r.node()), operands);
}

template Var<float> rank_loss(const NormalHeads<float>&, Var<float>, Var<float>);
template Var<double> rank_loss(const NormalHeads<double>&, Var<double>, Var<double>);

}  // namespace tare::nn

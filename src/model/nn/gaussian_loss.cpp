// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/gaussian_loss.h"

#include <array>
#include <cmath>

namespace tare::nn {
namespace {

template <class T>
class GaussianLoss final : public Node<T> {
 public:
  GaussianLoss(const NormalHeads<T>& law, Node<T>* y, double beta)
      : Node<T>(y->rows, 1), mean_(law.mean.node()), sd_(law.sd.node()), y_(y), beta_(T(beta)) {}

  void forward() override {
    for (std::size_t i = 0; i < this->size(); ++i) {
      const T score = (y_->value[i] - mean_->value[i]) / sd_->value[i];
      this->value[i] = std::log(sd_->value[i]) + T(0.5) * score * score;
    }
  }

  void backward() override {
    for (std::size_t i = 0; i < this->size(); ++i) {
      const T sd = sd_->value[i];
      const T score = (y_->value[i] - mean_->value[i]) / sd;
      T slope = this->gradient[i] / sd;
      if (beta_ != T(0)) slope *= std::pow(sd, T(2) * beta_);
      if (mean_->gradient) mean_->gradient[i] -= slope * score;
      if (sd_->gradient) sd_->gradient[i] += slope * (T(1) - score * score);
      if (y_->gradient) y_->gradient[i] += slope * score;
    }
  }

 private:
  Node<T>* mean_;
  Node<T>* sd_;
  Node<T>* y_;
  T beta_;
};

}  // namespace

template <class T>
Var<T> gaussian_loss(const NormalHeads<T>& law, Var<T> y, double beta) {
  assert(law.mean.rows() == y.rows() && law.sd.rows() == y.rows() && "a law for each target");
  assert(law.mean.cols() == 1 && law.sd.cols() == 1 && y.cols() == 1);
  const std::array operands = {law.mean.node(), law.sd.node(), y.node()};
  return y.graph().record(std::make_unique<GaussianLoss<T>>(law, y.node(), beta), operands);
}

template Var<float> gaussian_loss(const NormalHeads<float>&, Var<float>, double);
template Var<double> gaussian_loss(const NormalHeads<double>&, Var<double>, double);

}  // namespace tare::nn

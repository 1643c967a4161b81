// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/pair_losses.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "model/nn/graph/operations.h"

namespace tare {
namespace {

using nn::Node;
using nn::Var;

constexpr std::size_t kLeastPairBatch = 32;

template <class T>
class CalibrationErrors final : public Node<T> {
 public:
  struct Operands {
    Node<T>* q;
    Node<T>* y;
    Node<T>* tau;
    Node<T>* weight;
  };
  CalibrationErrors(const Operands& in, T* side) : Node<T>(1, in.q->cols), in_(in), side_(side) {}

  void forward() override {
    T total = 0;
    for (std::size_t i = 0; i < in_.y->rows; ++i) total += in_.weight->value[i];
    for (std::size_t j = 0; j < this->cols; ++j) {
      T covered = 0;
      T above = 0;
      T below = 0;
      for (std::size_t i = 0; i < in_.y->rows; ++i) {
        const T over = in_.y->value[i] - in_.q->value[i * this->cols + j];
        const T weight = in_.weight->value[i];
        if (over <= T(0)) covered += weight;
        (over > T(0) ? above : below) += weight * over;
      }
      const T wanted = in_.tau->value[j] * total;
      side_[j] = covered < wanted ? T(1) : (covered > wanted ? T(-1) : T(0));
      const T error = side_[j] > T(0) ? above : side_[j] * below;
      this->value[j] = error / static_cast<T>(in_.y->rows);
    }
  }

  void backward() override {
    if (in_.q->gradient == nullptr) return;
    for (std::size_t i = 0; i < in_.y->rows; ++i) {
      for (std::size_t j = 0; j < this->cols; ++j) {
        const std::size_t at = i * this->cols + j;
        // A row counts where it lies on the side that is too full.
        if (!(side_[j] * (in_.y->value[i] - in_.q->value[at]) > T(0))) continue;
        in_.q->gradient[at] -=
            side_[j] * this->gradient[j] * in_.weight->value[i] / static_cast<T>(in_.y->rows);
      }
    }
  }

 private:
  Operands in_;
  T* side_;  // 1: too little lies below the quantile; -1: too much
};

/// Weighted means of the columns, 1 x columns.
template <class T>
Var<T> means(Var<T> values, Var<T> weight) {
  return col_sums(values * weight) / sum(weight);
}

}  // namespace

template <class T>
Var<T> calibration_errors(Var<T> quantile, Var<T> y, Var<T> tau, Var<T> weight) {
  const typename CalibrationErrors<T>::Operands in{quantile.node(), y.node(), tau.node(),
                                                   weight.node()};
  T* const side = quantile.graph().scratch(quantile.cols());
  const std::array operands = {quantile.node()};
  return quantile.graph().record(std::make_unique<CalibrationErrors<T>>(in, side), operands);
}

template <class T>
Var<T> interval_lengths(Var<T> quantile) {
  const std::size_t half = quantile.cols() / 2;
  return abs(slice_cols(quantile, half, half) - slice_cols(quantile, 0, half));
}

template <class T>
Var<T> length_coverage_correlation(Var<T> quantile, Var<T> y, Var<T> weight) {
  constexpr T kSoftness = T(0.05);  // of a row's length
  constexpr T kLeast = T(1e-3);     // of the mean length: where a row's is next to nothing
  constexpr T kTiny = T(1e-8);      // for lengths or coverages that are all the same
  const std::size_t half = quantile.cols() / 2;
  const Var<T> length = interval_lengths(quantile);
  const Var<T> center = T(0.5) * (slice_cols(quantile, half, half) + slice_cols(quantile, 0, half));
  const Var<T> mean_length = means(length, weight);
  const Var<T> inside = T(0.5) * length - abs(y - center);
  const Var<T> covered = sigmoid(inside / (kSoftness * length + (kLeast * mean_length + kTiny)));

  const Var<T> length_off = length - mean_length;
  const Var<T> covered_off = covered - means(covered, weight);
  const Var<T> spread =
      sqrt(means(square(length_off), weight) * means(square(covered_off), weight) + kTiny * kTiny);
  return mean(abs(means(length_off * covered_off, weight)) / spread);
}

Var<float> row_weights(const LevelBatch& batch) {
  if (!batch.rows.rows->weight.empty()) return batch.rows.weight;
  const Var<float> ones = batch.tau.graph().input(batch.tau.rows(), 1);
  std::ranges::fill(ones.value(), 1.0F);
  return ones;
}

void use_batch_losses(QuantileTask& task, const Params& params) {
  if (params.has("batch") && task.training.batches[0] < kLeastPairBatch) {
    fail_option("batch", fmt::to_string(task.training.batches[0]),
                fmt::format("must be at least {}, because the loss is defined on whole minibatches",
                            kLeastPairBatch));
  }
  std::erase_if(task.training.batches, [](std::size_t batch) { return batch < kLeastPairBatch; });
  task.draw = LevelDraw::kPairs;
  task.remainder = nn::Remainder::kDrop;
}

QuantileNetwork best_of(std::span<const double> tried,
                        const std::function<QuantileNetwork(double)>& fit) {
  std::optional<QuantileNetwork> best;
  for (const double value : tried) {
    QuantileNetwork network = fit(value);
    if (!best || network.validation_pinball() < best->validation_pinball())
      best.emplace(std::move(network));
  }
  return *std::move(best);
}

#define TARE_PAIR_LOSSES(T)                                           \
  template Var<T> calibration_errors(Var<T>, Var<T>, Var<T>, Var<T>); \
  template Var<T> interval_lengths(Var<T>);                           \
  template Var<T> length_coverage_correlation(Var<T>, Var<T>, Var<T>);
TARE_PAIR_LOSSES(float)
TARE_PAIR_LOSSES(double)
#undef TARE_PAIR_LOSSES

}  // namespace tare

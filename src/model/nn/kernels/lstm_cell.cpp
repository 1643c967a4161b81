// SPDX-License-Identifier: BSD-3-Clause
#include "math/vector_targets.h"
#include "model/nn/kernels/functions.h"
#include "model/nn/kernels/kernels.h"

// Compiled without fused multiply-add, so that the vector body of a loop and its scalar rest agree
// to the bit.

namespace tare::nn {
namespace {

template <class T>
[[gnu::always_inline]] inline void forward_cell(const LstmStep<T>& s) {
  const std::size_t n = s.size;
  for (std::size_t i = 0; i < s.rows; ++i) {
    const T* __restrict gate = s.gates + i * 4 * n;
    const T* __restrict before = s.before + i * n;
    T* __restrict open = s.open + i * 4 * n;
    T* __restrict bent = s.bent + i * n;
    T* __restrict hidden = s.out + i * 2 * n;
    T* __restrict cell = hidden + n;
    TARE_INDEPENDENT_STEPS
    for (std::size_t j = 0; j < 2 * n; ++j) open[j] = logistic(gate[j]);
    for (std::size_t j = 2 * n; j < 3 * n; ++j) open[j] = tanh_of(gate[j]);
    for (std::size_t j = 3 * n; j < 4 * n; ++j) open[j] = logistic(gate[j]);
    TARE_INDEPENDENT_STEPS
    for (std::size_t j = 0; j < n; ++j) {
      const T c = open[n + j] * before[j] + open[j] * open[2 * n + j];
      cell[j] = c;
      bent[j] = tanh_of(c);
      hidden[j] = open[3 * n + j] * bent[j];
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void backward_cell(const LstmSlope<T>& s) {
  const std::size_t n = s.step.size;
  for (std::size_t i = 0; i < s.step.rows; ++i) {
    const T* __restrict before = s.step.before + i * n;
    const T* __restrict open = s.step.open + i * 4 * n;
    const T* __restrict bent = s.step.bent + i * n;
    const T* __restrict d_hidden = s.d_out + i * 2 * n;
    const T* __restrict d_state = d_hidden + n;
    T* __restrict d_gate = s.d_gates + i * 4 * n;
    T* __restrict d_before = s.d_before == nullptr ? nullptr : s.d_before + i * n;
    TARE_INDEPENDENT_STEPS
    for (std::size_t j = 0; j < n; ++j) {
      const T in = open[j];
      const T forget = open[n + j];
      const T candidate = open[2 * n + j];
      const T out = open[3 * n + j];
      const T d_cell = d_state[j] + d_hidden[j] * out * (T(1) - bent[j] * bent[j]);
      d_gate[j] += d_cell * candidate * in * (T(1) - in);
      d_gate[n + j] += d_cell * before[j] * forget * (T(1) - forget);
      d_gate[2 * n + j] += d_cell * in * (T(1) - candidate * candidate);
      d_gate[3 * n + j] += d_hidden[j] * bent[j] * out * (T(1) - out);
    }
    if (d_before == nullptr) continue;
    for (std::size_t j = 0; j < n; ++j) {
      const T out = open[3 * n + j];
      const T d_cell = d_state[j] + d_hidden[j] * out * (T(1) - bent[j] * bent[j]);
      d_before[j] += d_cell * open[n + j];
    }
  }
}

}  // namespace

TARE_VECTOR_TARGETS void lstm_forward(const LstmStep<float>& s) { forward_cell(s); }
void lstm_forward(const LstmStep<double>& s) { forward_cell(s); }

TARE_VECTOR_TARGETS void lstm_backward(const LstmSlope<float>& s) { backward_cell(s); }
void lstm_backward(const LstmSlope<double>& s) { backward_cell(s); }

}  // namespace tare::nn

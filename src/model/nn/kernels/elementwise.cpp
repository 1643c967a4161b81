// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "math/vector_targets.h"
#include "model/nn/kernels/functions.h"
#include "model/nn/kernels/kernels.h"

// Compiled without fused multiply-add, so that the vector body of a loop and its scalar rest agree
// to the bit.

namespace tare::nn {
namespace {

struct LeakyRelu {
  template <class T>
  static T value(T x) {
    return x < T(0) ? T(0.2) * x : x;
  }
  template <class T>
  static T slope(T x, T) {
    return x < T(0) ? T(0.2) : T(1);
  }
};

struct Relu {
  template <class T>
  static T value(T x) {
    return x < T(0) ? T(0) : x;
  }
  template <class T>
  static T slope(T x, T) {
    return x > T(0) ? T(1) : T(0);
  }
};

struct Silu {
  template <class T>
  static T value(T x) {
    return x * logistic(x);
  }
  template <class T>
  static T slope(T x, T) {
    const T s = logistic(x);
    return s * (T(1) + x * (T(1) - s));
  }
};

struct Tanh {
  template <class T>
  static T value(T x) {
    return tanh_of(x);
  }
  template <class T>
  static T slope(T, T y) {
    return T(1) - y * y;
  }
};

struct Sigmoid {
  template <class T>
  static T value(T x) {
    return logistic(x);
  }
  template <class T>
  static T slope(T, T y) {
    return y * (T(1) - y);
  }
};

struct Softplus {
  template <class T>
  static T value(T x) {
    return (x < T(0) ? T(0) : x) + std::log1p(exponential(-std::abs(x)));
  }
  template <class T>
  static T slope(T x, T) {
    return logistic(x);
  }
};

struct Exp {
  template <class T>
  static T value(T x) {
    return exponential(x);
  }
  template <class T>
  static T slope(T, T y) {
    return y;
  }
};

struct Log {
  template <class T>
  static T value(T x) {
    return std::log(x);
  }
  template <class T>
  static T slope(T x, T) {
    return T(1) / x;
  }
};

struct Square {
  template <class T>
  static T value(T x) {
    return x * x;
  }
  template <class T>
  static T slope(T x, T) {
    return x + x;
  }
};

struct Sqrt {
  template <class T>
  static T value(T x) {
    return std::sqrt(x);
  }
  template <class T>
  static T slope(T, T y) {
    return T(0.5) / y;
  }
};

struct Abs {
  template <class T>
  static T value(T x) {
    return std::abs(x);
  }
  template <class T>
  static T slope(T x, T) {
    return x > T(0) ? T(1) : (x < T(0) ? T(-1) : T(0));
  }
};

template <class Body>
[[gnu::always_inline]] inline void with_unary(Unary f, Body body) {
  switch (f) {
    case Unary::kLeakyRelu:
      return body(LeakyRelu{});
    case Unary::kRelu:
      return body(Relu{});
    case Unary::kSilu:
      return body(Silu{});
    case Unary::kTanh:
      return body(Tanh{});
    case Unary::kSigmoid:
      return body(Sigmoid{});
    case Unary::kSoftplus:
      return body(Softplus{});
    case Unary::kExp:
      return body(Exp{});
    case Unary::kLog:
      return body(Log{});
    case Unary::kSquare:
      return body(Square{});
    case Unary::kSqrt:
      return body(Sqrt{});
    case Unary::kAbs:
      return body(Abs{});
  }
}

template <class T>
[[gnu::always_inline]] inline void apply(Unary f, const T* __restrict x, T* __restrict y,
                                         std::size_t count) {
  with_unary(
      f, [=](auto function) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < count; ++i) y[i] = decltype(function)::value(x[i]);
      });
}

template <class T>
[[gnu::always_inline]] inline void apply_both(Unary f, const T* __restrict x, T* __restrict y,
                                              T* __restrict slope, std::size_t count) {
  with_unary(
      f, [=](auto function) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < count; ++i) {
          y[i] = decltype(function)::value(x[i]);
          slope[i] = decltype(function)::slope(x[i], y[i]);
        }
      });
}

template <class T>
[[gnu::always_inline]] inline void add_scaled(const T* __restrict slope, const T* __restrict dy,
                                              T* __restrict dx, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) dx[i] += dy[i] * slope[i];
}

}  // namespace

TARE_VECTOR_TARGETS void apply_unary(Unary f, const float* x, float* y, std::size_t count) {
  apply(f, x, y, count);
}
void apply_unary(Unary f, const double* x, double* y, std::size_t count) { apply(f, x, y, count); }

TARE_VECTOR_TARGETS void apply_unary_with_slope(Unary f, const float* x, float* y, float* slope,
                                                std::size_t count) {
  apply_both(f, x, y, slope, count);
}
void apply_unary_with_slope(Unary f, const double* x, double* y, double* slope, std::size_t count) {
  apply_both(f, x, y, slope, count);
}

TARE_VECTOR_TARGETS void add_product(const float* slope, const float* dy, float* dx,
                                     std::size_t count) {
  add_scaled(slope, dy, dx, count);
}
void add_product(const double* slope, const double* dy, double* dx, std::size_t count) {
  add_scaled(slope, dy, dx, count);
}

}  // namespace tare::nn

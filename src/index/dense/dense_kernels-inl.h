// SPDX-License-Identifier: BSD-3-Clause
// What the dense loops share, for the vector width that is being compiled: weights as functions of
// distances, and the distance of a pair step by step. Included once for each width.
#include <cstddef>

#include "index/dense/dense_kernels.h"

#if defined(TARE_DENSE_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_DENSE_KERNELS_INL
#undef TARE_DENSE_KERNELS_INL
#else
#define TARE_DENSE_KERNELS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::CappedTag<float, 16>;
using I = hn::RebindToSigned<F>;
using Vec = hn::VFromD<F>;

constexpr F kF{};
constexpr std::size_t kWidth = hn::MaxLanes(kF);
/// 2^y for y <= 0, to 2 units in the last place; 0 below -125.
HWY_INLINE Vec exp2_negative(Vec y) {
  const Vec round = hn::Set(kF, 0x1.8p+23F);  // adding it rounds to a whole number k...
  const Vec shifted = hn::Add(y, round);
  const Vec f = hn::Sub(y, hn::Sub(shifted, round));  // |f| <= 1/2
  // Minimax for the relative error, 1.6e-7 with the first coefficient set to 1.
  Vec p = hn::Set(kF, 0x1.5c08e6p-10F);
  p = hn::MulAdd(p, f, hn::Set(kF, 0x1.3d0c52p-7F));
  p = hn::MulAdd(p, f, hn::Set(kF, 0x1.c6b6e4p-5F));
  p = hn::MulAdd(p, f, hn::Set(kF, 0x1.ebf918p-3F));
  p = hn::MulAdd(p, f, hn::Set(kF, 0x1.62e428p-1F));
  p = hn::MulAdd(p, f, hn::Set(kF, 1.0F));
  // ...which then lies in the low bits, and goes into the exponent.
  const auto k = hn::ShiftLeft<23>(hn::BitCast(I{}, shifted));
  const Vec value = hn::BitCast(kF, hn::Add(hn::BitCast(I{}, p), k));
  return hn::IfThenElseZero(hn::Ge(y, hn::Set(kF, -125.0F)), value);
}

// Weights as functions of the (squared) distance v, with the scale of dense_curve.

struct Exponential {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const { return exp2_negative(hn::Mul(v, scale)); }
};
struct RootExponential {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const { return exp2_negative(hn::Mul(hn::Sqrt(v), scale)); }
};
struct Window {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const {
    return hn::IfThenElseZero(hn::Le(v, scale), hn::Set(kF, 1.0F));
  }
};
struct Linear {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const {
    return hn::Max(hn::Zero(kF), hn::NegMulAdd(v, scale, hn::Set(kF, 1.0F)));
  }
};
struct Tricube {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const {
    const Vec s = hn::Mul(v, scale);
    const Vec base = hn::Max(hn::Zero(kF), hn::NegMulAdd(hn::Mul(s, s), s, hn::Set(kF, 1.0F)));
    return hn::Mul(hn::Mul(base, base), base);
  }
};

template <class Body>
HWY_INLINE void with_curve(DenseCurve curve, const Body& body) {
  const Vec scale = hn::Set(kF, curve.scale);
  switch (curve.kind) {
    case KernelKind::kGaussian:
    case KernelKind::kLaplace:
      return body(Exponential{scale});
    case KernelKind::kNaive:
      return body(Window{scale});
    case KernelKind::kEpanechnikov:
    case KernelKind::kTriangular:
      return body(Linear{scale});
    case KernelKind::kTricube:
      return body(Tricube{scale});
    case KernelKind::kKnn:
      break;
  }
}

template <DenseMetric kMetric>
struct MetricIs {
  static constexpr DenseMetric kValue = kMetric;
};

template <class Body>
HWY_INLINE void with_metric(DenseMetric metric, const Body& body) {
  switch (metric) {
    case DenseMetric::kProduct:
      return body(MetricIs<DenseMetric::kProduct>{});
    case DenseMetric::kDifferences:
      return body(MetricIs<DenseMetric::kDifferences>{});
    case DenseMetric::kSplit:
      return body(MetricIs<DenseMetric::kSplit>{});
  }
}

// The distance of a pair, step by step; both orders of loops below are made of these.

/// A coordinate, of one point in all lanes or of one point per lane.
struct Coordinate {
  Vec value;
  Vec low;  // only for kSplit
};

template <DenseMetric kMetric>
HWY_INLINE Coordinate same_in_all(const float* values, const float* low, std::size_t at) {
  const Vec value = hn::Set(kF, values[at]);
  if constexpr (kMetric == DenseMetric::kSplit) return {value, hn::Set(kF, low[at])};
  return {value, value};
}

template <DenseMetric kMetric>
HWY_INLINE Coordinate one_per_lane(const float* values, const float* low, std::size_t at) {
  const Vec value = hn::LoadU(kF, values + at);
  if constexpr (kMetric == DenseMetric::kSplit) return {value, hn::LoadU(kF, low + at)};
  return {value, value};
}

template <DenseMetric kMetric>
HWY_INLINE Vec difference(const Coordinate& x, const Coordinate& q) {
  const Vec high = hn::Sub(x.value, q.value);
  if constexpr (kMetric == DenseMetric::kSplit) return hn::Add(high, hn::Sub(x.low, q.low));
  return high;
}

template <DenseMetric kMetric>
HWY_INLINE Vec first_feature(const Coordinate& x, const Coordinate& q) {
  if constexpr (kMetric == DenseMetric::kProduct) return hn::Mul(x.value, q.value);
  const Vec apart = difference<kMetric>(x, q);
  return hn::Mul(apart, apart);
}

template <DenseMetric kMetric>
HWY_INLINE Vec next_feature(const Coordinate& x, const Coordinate& q, Vec sum) {
  if constexpr (kMetric == DenseMetric::kProduct) return hn::MulAdd(x.value, q.value, sum);
  const Vec apart = difference<kMetric>(x, q);
  return hn::MulAdd(apart, apart, sum);
}

template <DenseMetric kMetric>
HWY_INLINE Vec squared_distance(Vec sum, Vec row_norm, Vec query_norm) {
  if constexpr (kMetric != DenseMetric::kProduct) return sum;
  return hn::Max(hn::Zero(kF), hn::Add(hn::Add(sum, row_norm), query_norm));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tare
HWY_AFTER_NAMESPACE();
#endif

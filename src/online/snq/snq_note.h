// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "online/snq/local_rows.h"
#include "online/snq/members.h"
#include "online/snq/recentering.h"

namespace tare {

/// What the note of an answer holds, in this order: the number of the structure, the row's place in
/// the order of learning, the correction, the kernel's point, the spread, the base quantiles, the
/// members' quantiles, and the regressors.
struct SnqNote {
  static constexpr std::size_t kStructure = 0;
  static constexpr std::size_t kLearned = 1;
  static constexpr std::size_t kCorrection = 2;
  static constexpr std::size_t kPoint = kCorrection + Recentering::kCorrections + 2;
  static constexpr std::size_t kSpread = kPoint + kKernelDims;
  static constexpr std::size_t kBase = kSpread + 1;

  SnqNote(std::vector<double>& values, std::size_t levels) : v(values), levels_(levels) {}
  std::span<double> base() const { return std::span(v).subspan(kBase, levels_); }
  std::span<double> asked() const {
    return std::span(v).subspan(kBase + levels_, levels_ * Members::kCount);
  }
  std::span<double> regressors() const {
    return std::span(v).subspan(kBase + levels_ * (1 + Members::kCount));
  }
  Recentering::Correction correction() const {
    Recentering::Correction c;
    std::copy_n(&v[kCorrection], Recentering::kCorrections, c.each.begin());
    c.center = v[kCorrection + Recentering::kCorrections];
    c.size = v[kCorrection + Recentering::kCorrections + 1];
    return c;
  }
  void set(const Recentering::Correction& c) const {
    std::copy(c.each.begin(), c.each.end(), &v[kCorrection]);
    v[kCorrection + Recentering::kCorrections] = c.center;
    v[kCorrection + Recentering::kCorrections + 1] = c.size;
  }
  KernelPoint point() const {
    KernelPoint point;
    for (std::size_t j = 0; j < kKernelDims; ++j) point[j] = static_cast<float>(v[kPoint + j]);
    return point;
  }
  void set(const KernelPoint& point) const { std::copy(point.begin(), point.end(), &v[kPoint]); }
  static std::size_t size(std::size_t levels, std::size_t regressors) {
    return kBase + levels * (1 + Members::kCount) + regressors;
  }

  std::vector<double>& v;

 private:
  std::size_t levels_;
};

}  // namespace tare

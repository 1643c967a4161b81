// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// The weight of a calibration row as a function of its distance r from the query, in units of the
/// bandwidth h: s = r / h.
enum class KernelKind : std::uint8_t {
  kNaive,         // 1 for s <= 1: the paper's window, a closed ball
  kEpanechnikov,  // 1 - s^2 for s < 1
  kTriangular,    // 1 - s for s < 1
  kTricube,       // (1 - s^3)^3 for s < 1
  kGaussian,      // exp(-s^2 / 2)
  kLaplace,       // exp(-s)
  kKnn,           // 1 up to the distance of the k-th neighbour, ties included; the bandwidth is k
};

inline constexpr std::array<KernelKind, 7> kAllKernels = {
    KernelKind::kNaive,    KernelKind::kEpanechnikov, KernelKind::kTriangular, KernelKind::kTricube,
    KernelKind::kGaussian, KernelKind::kLaplace,      KernelKind::kKnn};

std::string_view kernel_name(KernelKind kind);
/// By name, in any case. Throws kInvalidArgument with the known names.
KernelKind parse_kernel(std::string_view name);

}  // namespace tare

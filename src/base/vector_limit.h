// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tare {

/// Keeps the vector kernels of the whole program to a width: sse2, ssse3, sse4, avx2 or avx3 (x86),
/// or what the processor has if that is less. For tests that compare widths; call it before the
/// first kernel runs. Throws kInvalidArgument for another name.
void limit_vectors(std::string_view widest);

/// Whether vectors of 16 floats (AVX-512) may be used. The first call decides.
bool has_wide_vectors();

}  // namespace tare

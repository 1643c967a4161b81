// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tare {

/// While it lives, numbers of this thread that are too small for a normal float are zero: some
/// processors take a hundred times longer for them. Only for sums in which they do not change a
/// bit, as other processors, and the compiler where it moves an operation, go on with them.
class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() noexcept : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlush); }
  ~FlushDenormals() { _mm_setcsr(before_); }
#else
  FlushDenormals() noexcept {}
  ~FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned int kFlush = 0x8040;  // results, and operands
  unsigned int before_;
#endif
};

}  // namespace tare

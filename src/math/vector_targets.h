// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Compiles a function once for each vector width and picks one at load time. Sums inside such a
// function must have an order that is written out, and contraction to fused operations is off for
// the whole project, so that the copies give the same bytes. Off under the sanitizers, whose
// start-up the loader's choice would precede.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TARE_VECTOR_TARGETS \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TARE_VECTOR_TARGETS
#endif

// A function for processors whose vectors have 16 floats; has_wide_vectors() says whether it may
// run (base/vector_limit.h).
#if defined(__x86_64__)
#define TARE_WIDE_TARGET __attribute__((target("arch=x86-64-v4")))
#endif

// A part of such functions: compiled within each copy, for its vector width.
#define TARE_VECTOR_PART [[gnu::always_inline]] inline

// Before a loop whose steps do not read what other steps write, although the compiler cannot see
// it.
#if defined(__clang__)
#define TARE_INDEPENDENT_STEPS _Pragma("clang loop vectorize(assume_safety)")
#else
#define TARE_INDEPENDENT_STEPS _Pragma("GCC ivdep")
#endif

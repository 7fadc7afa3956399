// SPDX-License-Identifier: Apache-2.0
// Loops over columns are compiled twice, for AVX2 and for any x86-64; the better one is taken at start. Both give the
// same numbers: products and sums are never fused (-ffp-contract=off).
#pragma once

#include <cstddef>  // __GLIBC__

// Not with sanitizers: the choice is made before they are ready. Not without glibc: it makes the choice.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BERTH_VECTORIZED __attribute__((target_clones("avx2", "default")))
#else
#define BERTH_VECTORIZED
#endif

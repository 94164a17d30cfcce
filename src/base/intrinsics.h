// Intrinsics of x86-64-v2 (SSE4.2), on every processor: elsewhere SIMDe makes them of what there is, with the
// same results. For .cc files only.
#pragma once

#if defined(__x86_64__)

// g++ 12 takes the undefined vectors in its own header for mistakes (GCC bug 105593).
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#else

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/sse4.2.h>

#endif

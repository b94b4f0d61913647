// lanes.hpp: vectors of float or double under the same names, for kernels that are written once.
#pragma once

#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL {

typedef double VD __attribute__((vector_size(W * 4)));
typedef int64_t VL __attribute__((vector_size(W * 4)));

template <class T> struct Lanes;
template <> struct Lanes<float> {
    typedef VF V;
    static constexpr int count = W;
};
template <> struct Lanes<double> {
    typedef VD V;
    static constexpr int count = W / 2;
};

COTERIE_INLINE VF spread(float x) { return all(x); }
COTERIE_INLINE VD spread(double x) { return x - VD{}; }

#if defined(__AVX512F__)
COTERIE_INLINE VD max(VD a, VD b) { return (VD)_mm512_max_pd((__m512d)a, (__m512d)b); }
COTERIE_INLINE VD min(VD a, VD b) { return (VD)_mm512_min_pd((__m512d)a, (__m512d)b); }
COTERIE_INLINE uint32_t bits(VL truth) { return _mm512_movepi64_mask((__m512i)truth); }
#elif defined(__AVX2__)
COTERIE_INLINE VD max(VD a, VD b) { return (VD)_mm256_max_pd((__m256d)a, (__m256d)b); }
COTERIE_INLINE VD min(VD a, VD b) { return (VD)_mm256_min_pd((__m256d)a, (__m256d)b); }
COTERIE_INLINE uint32_t bits(VL truth) { return _mm256_movemask_pd((__m256d)truth); }
#else
COTERIE_INLINE VD max(VD a, VD b) { return a > b ? a : b; }
COTERIE_INLINE VD min(VD a, VD b) { return a < b ? a : b; }
COTERIE_INLINE uint32_t bits(VL truth) {
    return static_cast<uint32_t>(truth[0] & 1) | static_cast<uint32_t>(truth[1] & 1) << 1;
}
#endif
COTERIE_INLINE VD abs(VD a) { return max(a, -a); }

// The double form is the definition's: multiply, then add.
COTERIE_INLINE VF add_square(VF s, VF x) { return fma(x, x, s); }
COTERIE_INLINE VD add_square(VD s, VD x) { return s + x * x; }

} // namespace coterie::COTERIE_LEVEL

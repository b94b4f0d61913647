// wide.hpp: eight doubles side by side, whatever the level's registers hold, and their exponential.
//
// Sums over rows are kept in eight lanes on every level, so that AVX2 and AVX-512 give the same
// bits. The baseline has no fused multiply-add: its last bits may differ.
#pragma once

#include "coterie/simd.hpp"

namespace coterie::COTERIE_LEVEL {

#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX2__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif
constexpr int kParts = 8 / kLanes;

typedef double VD __attribute__((vector_size(kLanes * 8)));
typedef int64_t VL __attribute__((vector_size(kLanes * 8)));

COTERIE_INLINE VD every(double value) { return value - VD{}; }
COTERIE_INLINE D4 every4(double value) { return value - D4{}; }

#if defined(__AVX512F__)
COTERIE_INLINE VD fma(VD a, VD b, VD c) {
    return (VD)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
COTERIE_INLINE VD max(VD a, VD b) { return (VD)_mm512_max_pd((__m512d)a, (__m512d)b); }
COTERIE_INLINE VD sqrt(VD a) { return (VD)_mm512_sqrt_pd((__m512d)a); }
COTERIE_INLINE uint32_t bits(VL truth) { return _mm512_movepi64_mask((__m512i)truth); }
#elif defined(__AVX2__)
COTERIE_INLINE VD fma(VD a, VD b, VD c) {
    return (VD)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
COTERIE_INLINE VD max(VD a, VD b) { return (VD)_mm256_max_pd((__m256d)a, (__m256d)b); }
COTERIE_INLINE VD sqrt(VD a) { return (VD)_mm256_sqrt_pd((__m256d)a); }
COTERIE_INLINE uint32_t bits(VL truth) { return _mm256_movemask_pd((__m256d)truth); }
#else
COTERIE_INLINE VD fma(VD a, VD b, VD c) { return a * b + c; }
COTERIE_INLINE VD max(VD a, VD b) { return a > b ? a : b; }
COTERIE_INLINE VD sqrt(VD a) { return VD{std::sqrt(a[0]), std::sqrt(a[1])}; }
COTERIE_INLINE uint32_t bits(VL truth) {
    return static_cast<uint32_t>((truth[0] & 1) | (truth[1] & 2));
}
#endif
#if defined(__AVX512F__)
COTERIE_INLINE D4 fma(D4 a, D4 b, D4 c) {
    return (D4)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#elif !defined(__AVX2__)
COTERIE_INLINE D4 fma(D4 a, D4 b, D4 c) { return a * b + c; }
#endif

// The sum of eight lanes, always in the same order.
inline double across(const double* lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// e^x for x <= 0, to about one unit in the last place; zero below -708.
// x = n log 2 + r, and e^r = 1 + r + r^2 q(r) with q of degree 9 on |r| <= log(2) / 2.
COTERIE_INLINE VD exp_of(VD x) {
    const VD shifter = every(0x1.8p52); // adding it rounds to whole numbers, kept in the low bits
    const VD m = fma(x, every(0x1.71547652b82fep+0), shifter);
    const VD n = m - shifter;
    VD r = fma(n, every(-0x1.62e42fefa3800p-1), x);
    r = fma(n, every(-0x1.ef35793c76730p-45), r);
    const VD r2 = r * r, r4 = r2 * r2;
    const VD a = fma(every(0x1.5555555555556p-3), r, every(0x1.0000000000001p-1));
    const VD b = fma(every(0x1.11111111109b5p-7), r, every(0x1.5555555553d68p-5));
    const VD c = fma(every(0x1.a01a01a7c2f2ep-13), r, every(0x1.6c16c17889f40p-10));
    const VD d = fma(every(0x1.71de0db2eafc6p-19), r, every(0x1.a019b9148739fp-16));
    const VD e = fma(every(0x1.af389eeb9e5e9p-26), r, every(0x1.28917ca046b86p-22));
    const VD q = fma(r4, fma(r4, e, fma(r2, d, c)), fma(r2, b, a));
    const VD p = every(1.0) + fma(r2, q, r);
    const VL scaled = (VL)p + ((VL)m << 52);
    return (VD)(scaled & (VL)(x > every(-708.0)));
}

} // namespace coterie::COTERIE_LEVEL

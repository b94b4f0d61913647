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
typedef uint64_t VU __attribute__((vector_size(kLanes * 8)));

COTERIE_INLINE VD every(double value) { return value - VD{}; }
COTERIE_INLINE D4 every4(double value) { return value - D4{}; }

#if defined(__AVX512F__)
COTERIE_INLINE VD fma(VD a, VD b, VD c) {
    return (VD)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
COTERIE_INLINE VD min(VD a, VD b) { return (VD)_mm512_min_pd((__m512d)a, (__m512d)b); }
COTERIE_INLINE VD max(VD a, VD b) { return (VD)_mm512_max_pd((__m512d)a, (__m512d)b); }
COTERIE_INLINE VD sqrt(VD a) { return (VD)_mm512_sqrt_pd((__m512d)a); }
COTERIE_INLINE uint32_t bits(VL truth) { return _mm512_movepi64_mask((__m512i)truth); }
#elif defined(__AVX2__)
COTERIE_INLINE VD fma(VD a, VD b, VD c) {
    return (VD)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
COTERIE_INLINE VD min(VD a, VD b) { return (VD)_mm256_min_pd((__m256d)a, (__m256d)b); }
COTERIE_INLINE VD max(VD a, VD b) { return (VD)_mm256_max_pd((__m256d)a, (__m256d)b); }
COTERIE_INLINE VD sqrt(VD a) { return (VD)_mm256_sqrt_pd((__m256d)a); }
COTERIE_INLINE uint32_t bits(VL truth) { return _mm256_movemask_pd((__m256d)truth); }
#else
COTERIE_INLINE VD fma(VD a, VD b, VD c) { return a * b + c; }
COTERIE_INLINE VD min(VD a, VD b) { return a < b ? a : b; }
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

// A constant in a register, for several uses. Left to itself the compiler reads it from memory for
// each of them, and two such reads a cycle are as many as the machine can do.
COTERIE_INLINE VD held(double value) {
    VD out = every(value);
#if defined(__AVX512F__)
    asm volatile("" : "+v"(out));
#elif defined(__SSE2__)
    asm volatile("" : "+x"(out));
#endif
    return out;
}

constexpr double kShifter = 0x1.8p52;  // adding it rounds to whole numbers, kept in the low bits
constexpr double kLogOfZero = -1023.0; // 2^x is zero there, see exp2_of: no bit of it is left

// 2^x, in place, of N vectors of -1021 <= x <= 1023, to about one unit in the last place; zero at
// kLogOfZero. x = n + r, and 2^r = 1 + r q(r) with q of degree 10 on |r| <= 1/2. The vectors go
// through each step together: one alone would wait for its own results, and a machine looks only
// some 60 operations ahead for others, less than half of what a vector and its neighbour need.
template <int N> COTERIE_INLINE void exp2_of(double* x) {
    constexpr double kQ[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a0c2p-5,
                             0x1.3b2ab6fba1ddap-7,  0x1.5d87fe78a5276p-10, 0x1.430913096fd9fp-13,
                             0x1.ffcbfc670dcd4p-17, 0x1.62bfd47773353p-20, 0x1.b524fae627834p-24,
                             0x1.e6063f7217bc6p-28, 0x1.e9d3fe3952179p-32};
    VD r[N], p[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i)
        r[i] = load<VD>(x + i * kLanes) -
               ((load<VD>(x + i * kLanes) + every(kShifter)) - every(kShifter));
    const VD last = held(kQ[10]), before = held(kQ[9]);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i)
        p[i] = fma(last, r[i], before);
#pragma GCC unroll 16
    for (int q = 8; q >= -1; --q) {
        const VD term = held(q < 0 ? 1.0 : kQ[q]);
#pragma GCC unroll 8
        for (int i = 0; i < N; ++i)
            p[i] = fma(p[i], r[i], term);
    }
    asm volatile("" ::: "memory"); // n is found again below: no register is left to keep it
    const VD shifter = held(kShifter);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
        const VU n = (VU)(load<VD>(x + i * kLanes) + shifter);
        store(x + i * kLanes, (VU)p[i] + (n << 52));
    }
}

} // namespace coterie::COTERIE_LEVEL

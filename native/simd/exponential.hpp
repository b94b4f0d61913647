// exponential.hpp: powers of two of many vectors.
#pragma once

#include "simd/doubles.hpp"

namespace coterie::COTERIE_LEVEL {

constexpr double kLogOfZero = -1023.0; // 2^x is zero there: no bit of it is left

// powers(x, vectors): 2^x of -1021 <= x <= 1023, in place, to about one unit in the last place;
// zero at kLogOfZero. Vectors beyond the last, up to a multiple of kTogether, are lost. kTogether
// vectors go through each step together: one alone would wait for its own results, and a machine
// looks only some 60 operations ahead for others, less than half of the need of a vector and
// its neighbour. Levels have ways of their own, and so other last bits.

#if defined(__AVX512F__)

constexpr int kTogether = 4;

// 2^(i / 16), less i << 48: the number added to make it 2^(n + i / 16) has i there, below n.
alignas(64) constexpr uint64_t kSixteenths[16] = {
    0x3ff0000000000000u, 0x3fefb5586cf9890fu, 0x3fef72b83c7d517bu, 0x3fef387a6e756238u,
    0x3fef06fe0a31b715u, 0x3feedea64c123422u, 0x3feebfdad5362a27u, 0x3feeab07dd485429u,
    0x3feea09e667f3bcdu, 0x3feea11473eb0187u, 0x3feeace5422aa0dbu, 0x3feec49182a3f090u,
    0x3feee89f995ad3adu, 0x3fef199bdd85529cu, 0x3fef5818dcfba487u, 0x3fefa4afa2a490dau};

// x = n + i / 16 + r, and 2^r = 1 + r q(r) with q of degree 5 on |r| <= 1 / 32.
COTERIE_INLINE void powers(double* x, int vectors) {
    constexpr double kQ[] = {0x1.62e42fefa39f3p-1, 0x1.ebfbdff82c590p-3,  0x1.c6b08d6f2a289p-5,
                             0x1.3b2ab6fb41213p-7, 0x1.5d897e525c216p-10, 0x1.430a1d08ec681p-13};
    const VD low = load<VD>(kSixteenths), high = load<VD>(kSixteenths + 8);
    for (int v = 0; v < vectors; v += kTogether, x += kTogether * kLanes) {
        const VD shifter = held(0x1.8p48); // rounds to sixteenths, kept in the low bits
        VD r[kTogether], power[kTogether], p[kTogether];
#pragma GCC unroll 8
        for (int i = 0; i < kTogether; ++i) {
            const VD value = load<VD>(x + i * kLanes), rounded = value + shifter;
            r[i] = value - (rounded - shifter);
            power[i] = (VD)((VU)pick16(low, high, rounded) + ((VU)rounded << 48));
        }
        const VD last = held(kQ[5]), before = held(kQ[4]);
#pragma GCC unroll 8
        for (int i = 0; i < kTogether; ++i)
            p[i] = fma(last, r[i], before);
#pragma GCC unroll 8
        for (int q = 3; q >= 0; --q) {
            const VD term = held(kQ[q]);
#pragma GCC unroll 8
            for (int i = 0; i < kTogether; ++i)
                p[i] = fma(p[i], r[i], term);
        }
#pragma GCC unroll 8
        for (int i = 0; i < kTogether; ++i)
            p[i] *= r[i];
#pragma GCC unroll 8
        for (int i = 0; i < kTogether; ++i)
            store(x + i * kLanes, fma(power[i], p[i], power[i]));
    }
}

#else

constexpr int kTogether = 6;          // as many as 16 registers hold twice, beside a constant
constexpr double kShifter = 0x1.8p52; // rounds to whole numbers, kept in the low bits

// The difference of a number from the nearest whole one.
COTERIE_INLINE VD rest(const double* x) {
    return load<VD>(x) - ((load<VD>(x) + every(kShifter)) - every(kShifter));
}

// x = n + r, and 2^(r / 2) = 1 + s where s = r q(r), with q of degree 8 on |r| <= 1/2. The square,
// 1 + s (2 + s), rounds once more (at worst 1.3 units in the last place, in 15 million tries, where
// it was 0.9), and takes two products less than 2^r at once. The r of the next vectors are found
// before these are done. A table would take longer to read than the polynomial saves.
COTERIE_INLINE void powers(double* x, int vectors) {
    constexpr double kQ[] = {0x1.62e42fefa39efp-2,  0x1.ebfbdff82c482p-5,  0x1.c6b08d704a8b1p-8,
                             0x1.3b2ab6fc489a1p-11, 0x1.5d87fe750e489p-15, 0x1.43090b3b31398p-19,
                             0x1.ffcc1fab2b767p-24, 0x1.6309ecdcad8d5p-28, 0x1.b4d334ad9edcep-33};
    VD r[kTogether], p[kTogether];
#pragma GCC unroll 8
    for (int i = 0; i < kTogether; ++i)
        r[i] = rest(x + i * kLanes);
    for (int v = 0; v < vectors; v += kTogether) {
        const VD last = held(kQ[8]), before = held(kQ[7]);
#pragma GCC unroll 8
        for (int i = 0; i < kTogether; ++i)
            p[i] = fma(last, r[i], before);
#pragma GCC unroll 8
        for (int q = 6; q >= 0; --q) {
            const VD term = held(kQ[q]);
#pragma GCC unroll 8
            for (int i = 0; i < kTogether; ++i)
                p[i] = fma(p[i], r[i], term);
        }
        const double* next = v + kTogether < vectors ? x + kTogether * kLanes : x;
#pragma GCC unroll 8
        for (int i = 0; i < kTogether; ++i) {
            p[i] *= r[i];
            r[i] = kept(rest(next + i * kLanes));
        }
        const VD one = held(1.0), two = held(2.0);
#pragma GCC unroll 8
        for (int i = 0; i < kTogether; ++i) {
            const VU n = (VU)(load<VD>(x) + every(kShifter)); // found again: no register kept it
            store(x, (VU)fma(p[i], p[i] + two, one) + (n << 52));
            x += kLanes;
        }
    }
}

#endif

} // namespace coterie::COTERIE_LEVEL

// floats.hpp: one vector of floats, as wide as the level allows, and the few things done with it.
//
// Included only by files that are compiled once per level; everything lives in the level's own
// namespace, so that no function compiled for a newer machine is ever linked into older code.
// Arithmetic and comparisons are the compiler's vector extensions; only operations that they lack
// are here.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "core/inline.hpp"

namespace coterie::COTERIE_LEVEL {

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX2__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif

typedef float VF __attribute__((vector_size(W * 4)));
typedef int32_t VI __attribute__((vector_size(W * 4)));
typedef float F4 __attribute__((vector_size(16)));
typedef double D4 __attribute__((vector_size(32)));
typedef int64_t I4 __attribute__((vector_size(32)));

#if defined(__FMA__)
constexpr bool kFused = true; // one rounding per term of a product sum, else two
#else
constexpr bool kFused = false;
#endif

// x - 0 is x for every x, so this is a broadcast and nothing else (0 + x would not be, for -0).
COTERIE_INLINE VF all(float value) { return value - VF{}; }
COTERIE_INLINE VI all(int32_t value) { return VI{} + value; }

// A vector type that may lie anywhere and over anything.
template <class V> struct Loose {
    V v;
} __attribute__((packed, may_alias));
template <class V, class T> COTERIE_INLINE V load(const T* p) {
    return reinterpret_cast<const Loose<V>*>(p)->v;
}
template <class V, class T> COTERIE_INLINE void store(T* p, V v) {
    reinterpret_cast<Loose<V>*>(p)->v = v;
}

#if defined(__AVX512F__)
COTERIE_INLINE VF fma(VF a, VF b, VF c) {
    return (VF)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
COTERIE_INLINE VF min(VF a, VF b) { return (VF)_mm512_min_ps((__m512)a, (__m512)b); }
COTERIE_INLINE VF max(VF a, VF b) { return (VF)_mm512_max_ps((__m512)a, (__m512)b); }
COTERIE_INLINE VF sqrt(VF a) { return (VF)_mm512_sqrt_ps((__m512)a); }
COTERIE_INLINE uint32_t bits(VI truth) { return _mm512_movepi32_mask((__m512i)truth); }
COTERIE_INLINE VI rounded(VF a) { return (VI)_mm512_cvtps_epi32((__m512)a); }
COTERIE_INLINE VF lookup(const float* table, VI index) {
    return (VF)_mm512_i32gather_ps((__m512i)index, table, 4);
}
#elif defined(__AVX2__)
COTERIE_INLINE VF fma(VF a, VF b, VF c) {
    return (VF)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
COTERIE_INLINE VF min(VF a, VF b) { return (VF)_mm256_min_ps((__m256)a, (__m256)b); }
COTERIE_INLINE VF max(VF a, VF b) { return (VF)_mm256_max_ps((__m256)a, (__m256)b); }
COTERIE_INLINE VF sqrt(VF a) { return (VF)_mm256_sqrt_ps((__m256)a); }
COTERIE_INLINE uint32_t bits(VI truth) { return _mm256_movemask_ps((__m256)truth); }
COTERIE_INLINE VI rounded(VF a) { return (VI)_mm256_cvtps_epi32((__m256)a); }
COTERIE_INLINE VF lookup(const float* table, VI index) {
    return (VF)_mm256_i32gather_ps(table, (__m256i)index, 4);
}
#else
COTERIE_INLINE VF fma(VF a, VF b, VF c) { return a * b + c; }
#if defined(__SSE2__)
COTERIE_INLINE VF min(VF a, VF b) { return (VF)_mm_min_ps((__m128)a, (__m128)b); }
COTERIE_INLINE VF max(VF a, VF b) { return (VF)_mm_max_ps((__m128)a, (__m128)b); }
COTERIE_INLINE VF sqrt(VF a) { return (VF)_mm_sqrt_ps((__m128)a); }
COTERIE_INLINE uint32_t bits(VI truth) { return _mm_movemask_ps((__m128)truth); }
COTERIE_INLINE VI rounded(VF a) { return (VI)_mm_cvtps_epi32((__m128)a); }
#else
COTERIE_INLINE VF min(VF a, VF b) { return a < b ? a : b; }
COTERIE_INLINE VF max(VF a, VF b) { return a > b ? a : b; }
COTERIE_INLINE VF sqrt(VF a) {
    for (int q = 0; q < W; ++q)
        a[q] = std::sqrt(a[q]);
    return a;
}
COTERIE_INLINE uint32_t bits(VI truth) {
    uint32_t out = 0;
    for (int q = 0; q < W; ++q)
        out |= static_cast<uint32_t>(truth[q] & 1) << q;
    return out;
}
COTERIE_INLINE VI rounded(VF a) {
    VI out;
    for (int q = 0; q < W; ++q)
        out[q] = static_cast<int32_t>(std::lrintf(a[q]));
    return out;
}
#endif
COTERIE_INLINE VF lookup(const float* table, VI index) {
    VF out;
    for (int q = 0; q < W; ++q)
        out[q] = table[index[q]];
    return out;
}
#endif

// Which lanes of a are at least as large as those of b, and which are smaller? AVX-512 compares
// into masks; through vectors it would take the long way round.
#if defined(__AVX512F__)
COTERIE_INLINE uint32_t at_least(VF a, VF b) {
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GE_OQ);
}
COTERIE_INLINE uint32_t below(VF a, VF b) {
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
}
#else
COTERIE_INLINE uint32_t at_least(VF a, VF b) { return bits((VI)(a >= b)); }
COTERIE_INLINE uint32_t below(VF a, VF b) { return bits((VI)(a < b)); }
#endif

// A table of up to 2 W entries held in registers, else in memory.
struct Table {
    const float* entries;
    int size;
    VF low = {}, high = {};
    COTERIE_INLINE Table(const float* entries_, int size_) : entries(entries_), size(size_) {
        float copy[2 * W] = {};
        std::memcpy(copy, entries, sizeof(float) * (size < 2 * W ? size : 2 * W));
        low = load<VF>(copy);
        high = load<VF>(copy + W);
    }
    COTERIE_INLINE VF operator[](VI index) const {
#if defined(__AVX512F__)
        if (size <= 2 * W)
            return (VF)_mm512_permutex2var_ps((__m512)low, (__m512i)index, (__m512)high);
#elif defined(__AVX2__)
        if (size <= W)
            return (VF)_mm256_permutevar8x32_ps((__m256)low, (__m256i)index);
        if (size <= 2 * W) {
            const __m256 a = _mm256_permutevar8x32_ps((__m256)low, (__m256i)index);
            const __m256 b = _mm256_permutevar8x32_ps((__m256)high, (__m256i)index);
            return (VF)_mm256_blendv_ps(a, b, (__m256)(index > W - 1));
        }
#endif
        return lookup(entries, index);
    }
};

COTERIE_INLINE VF abs(VF a) { return max(a, -a); }

#if defined(__AVX512F__)
COTERIE_INLINE float smallest(VF v) { return _mm512_reduce_min_ps((__m512)v); }
COTERIE_INLINE float total(VF v) { return _mm512_reduce_add_ps((__m512)v); }
#elif defined(__AVX2__)
COTERIE_INLINE float smallest(VF v) {
    const __m256 a = (__m256)v;
    __m128 b = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_min_ps(b, _mm_movehl_ps(b, b));
    b = _mm_min_ss(b, _mm_movehdup_ps(b));
    return _mm_cvtss_f32(b);
}
COTERIE_INLINE float total(VF v) {
    const __m256 a = (__m256)v;
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    b = _mm_add_ss(b, _mm_movehdup_ps(b));
    return _mm_cvtss_f32(b);
}
#else
COTERIE_INLINE float total(VF v) { return (v[0] + v[1]) + (v[2] + v[3]); }
COTERIE_INLINE float smallest(VF v) {
    const float a = v[0] < v[1] ? v[0] : v[1], b = v[2] < v[3] ? v[2] : v[3];
    return a < b ? a : b;
}
#endif

// Four rows of four numbers as their columns. Neighbours stay in the half of a register that they
// are in for as long as they can.
template <class V> struct FourColumns {
    V at[4];
};
template <class V> COTERIE_INLINE FourColumns<V> transposed(V r0, V r1, V r2, V r3) {
    if constexpr (sizeof(V) == 32) {
        const V a = __builtin_shufflevector(r0, r1, 0, 4, 2, 6);
        const V b = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
        const V c = __builtin_shufflevector(r2, r3, 0, 4, 2, 6);
        const V d = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
        return {
            {__builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(b, d, 0, 1, 4, 5),
             __builtin_shufflevector(a, c, 2, 3, 6, 7), __builtin_shufflevector(b, d, 2, 3, 6, 7)}};
    } else {
        const V a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
        const V b = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
        const V c = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
        const V d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
        return {
            {__builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(a, c, 2, 3, 6, 7),
             __builtin_shufflevector(b, d, 0, 1, 4, 5), __builtin_shufflevector(b, d, 2, 3, 6, 7)}};
    }
}

// Columns of W rows of D floats that lie one after the other: a transpose by constant shuffles.
template <int D, int L, int V, size_t... Q>
COTERIE_INLINE VF pick(VF sofar, VF next, std::index_sequence<Q...>) {
    return __builtin_shufflevector(
        sofar, next, ((int(Q) * D + L) / W == V ? (int(Q) * D + L) % W + W : int(Q))...);
}
template <int D, int L, size_t... V>
COTERIE_INLINE VF column(const VF* flat, std::index_sequence<V...>) {
    VF out = flat[0];
    ((out = pick<D, L, int(V)>(out, flat[V], std::make_index_sequence<W>{})), ...);
    return out;
}
template <int D, size_t... L>
COTERIE_INLINE void transpose(const VF* flat, VF* columns, std::index_sequence<L...>) {
    ((columns[L] = column<D, int(L)>(flat, std::make_index_sequence<D>{})), ...);
}

} // namespace coterie::COTERIE_LEVEL

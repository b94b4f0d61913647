// eight_floats.hpp: eight floats on every level, for bounds that are kept by eights; and a fold of
// W vectors into their smallest lanes.
#pragma once

#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL {

typedef float F8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));
COTERIE_INLINE F8 eight(float value) { return value - F8{}; }
COTERIE_INLINE I8 eight(int32_t value) { return I8{} + value; }
#if defined(__AVX512F__)
COTERIE_INLINE F8 min(F8 a, F8 b) { return (F8)_mm256_min_ps((__m256)a, (__m256)b); }
COTERIE_INLINE F8 max(F8 a, F8 b) { return (F8)_mm256_max_ps((__m256)a, (__m256)b); }
COTERIE_INLINE F8 sqrt(F8 a) { return (F8)_mm256_sqrt_ps((__m256)a); }
COTERIE_INLINE uint32_t bits(I8 truth) { return _mm256_movemask_ps((__m256)truth); }
COTERIE_INLINE float smallest(F8 v) {
    const __m256 a = (__m256)v;
    __m128 b = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_min_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_min_ss(b, _mm_movehdup_ps(b)));
}
#elif !defined(__AVX2__)
COTERIE_INLINE F8 min(F8 a, F8 b) { return a < b ? a : b; }
COTERIE_INLINE F8 max(F8 a, F8 b) { return a > b ? a : b; }
COTERIE_INLINE F8 sqrt(F8 a) {
    VF half[2];
    std::memcpy(half, &a, sizeof a);
    half[0] = sqrt(half[0]);
    half[1] = sqrt(half[1]);
    std::memcpy(&a, half, sizeof a);
    return a;
}
COTERIE_INLINE uint32_t bits(I8 truth) {
    VI half[2];
    std::memcpy(half, &truth, sizeof truth);
    return bits(half[0]) | bits(half[1]) << W;
}
COTERIE_INLINE float smallest(F8 v) {
    float best = v[0];
    for (int q = 1; q < 8; ++q)
        best = v[q] < best ? v[q] : best;
    return best;
}
#endif

// The smallest lane of each of W vectors. Step by step, pairs of vectors are folded into one:
// lanes whose number lacks bit S are those of the first, the others those of the second.
template <int S, size_t... Q> COTERIE_INLINE VF fold(VF a, VF b, std::index_sequence<Q...>) {
    const VF own = __builtin_shufflevector(a, b, (Q & S ? int(Q) + W : int(Q))...);
    const VF other = __builtin_shufflevector(a, b, (Q & S ? int(Q) : int(Q) + W)...);
    return min(own, __builtin_shufflevector(other, other, int(Q ^ S)...));
}
template <int S = 1> COTERIE_INLINE VF smallest_of_each(VF* v) {
    for (int q = 0; q < W; q += 2 * S)
        v[q] = fold<S>(v[q], v[q + S], std::make_index_sequence<W>{});
    if constexpr (2 * S < W)
        return smallest_of_each<2 * S>(v);
    return v[0];
}

} // namespace coterie::COTERIE_LEVEL

// doubles.hpp: eight doubles side by side, whatever the level's registers hold.
//
// Sums over rows are kept in eight lanes on every level. Their last bits may differ all the same:
// the baseline has no fused multiply-add, and exponentials are each level's own.
#pragma once

#include "simd/eight_floats.hpp"

namespace coterie::COTERIE_LEVEL {

constexpr int kLanes = W / 2;
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
COTERIE_INLINE VD fms(VD a, VD b, VD c) {
    return (VD)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
COTERIE_INLINE VD min(VD a, VD b) { return (VD)_mm512_min_pd((__m512d)a, (__m512d)b); }
COTERIE_INLINE VD max(VD a, VD b) { return (VD)_mm512_max_pd((__m512d)a, (__m512d)b); }
COTERIE_INLINE VD sqrt(VD a) { return (VD)_mm512_sqrt_pd((__m512d)a); }
COTERIE_INLINE uint32_t bits(VL truth) { return _mm512_movepi64_mask((__m512i)truth); }
#elif defined(__AVX2__)
COTERIE_INLINE VD fma(VD a, VD b, VD c) {
    return (VD)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
COTERIE_INLINE VD fms(VD a, VD b, VD c) {
    return (VD)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
COTERIE_INLINE VD min(VD a, VD b) { return (VD)_mm256_min_pd((__m256d)a, (__m256d)b); }
COTERIE_INLINE VD max(VD a, VD b) { return (VD)_mm256_max_pd((__m256d)a, (__m256d)b); }
COTERIE_INLINE VD sqrt(VD a) { return (VD)_mm256_sqrt_pd((__m256d)a); }
COTERIE_INLINE uint32_t bits(VL truth) { return _mm256_movemask_pd((__m256d)truth); }
#else
COTERIE_INLINE VD fma(VD a, VD b, VD c) { return a * b + c; }
COTERIE_INLINE VD fms(VD a, VD b, VD c) { return a * b - c; }
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

// Four numbers of either precision.
COTERIE_INLINE D4 load4(const double* p) { return load<D4>(p); }
COTERIE_INLINE D4 load4(const float* p) { return __builtin_convertvector(load<F4>(p), D4); }

#if defined(__AVX512F__)
// Eight of them.
COTERIE_INLINE VD load8(const double* p) { return load<VD>(p); }
COTERIE_INLINE VD load8(const float* p) { return __builtin_convertvector(load<F8>(p), VD); }

// Entries of a table of sixteen, by the last four bits of each lane.
COTERIE_INLINE VD pick16(VD low, VD high, VD index) {
    return (VD)_mm512_permutex2var_pd((__m512d)low, (__m512i)index, (__m512d)high);
}

// Eight rows of eight numbers become their columns.
COTERIE_INLINE void transpose_eight(VD* r) {
    VD even[4], odd[4]; // columns of two rows
#pragma GCC unroll 4
    for (int p = 0; p < 4; ++p) {
        even[p] = __builtin_shufflevector(r[2 * p], r[2 * p + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        odd[p] = __builtin_shufflevector(r[2 * p], r[2 * p + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    const auto spread = [&](const VD* two, VD* out) __attribute__((always_inline)) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            VD a, b; // two columns of four rows each
            if (half == 0) {
                a = __builtin_shufflevector(two[0], two[1], 0, 1, 2, 3, 8, 9, 10, 11);
                b = __builtin_shufflevector(two[2], two[3], 0, 1, 2, 3, 8, 9, 10, 11);
            } else {
                a = __builtin_shufflevector(two[0], two[1], 4, 5, 6, 7, 12, 13, 14, 15);
                b = __builtin_shufflevector(two[2], two[3], 4, 5, 6, 7, 12, 13, 14, 15);
            }
            out[4 * half] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13);
            out[4 * half + 2] = __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
        }
    };
    spread(even, r);
    spread(odd, r + 1);
}
#endif

// A vector of sums of products, and the number of them that fits into registers beside the factors.
#if defined(__AVX512F__)
using Line = VD;
constexpr int kLineSums = 24;
#else
using Line = D4;
constexpr int kLineSums = 12;
#endif
constexpr int kLine = sizeof(Line) / sizeof(double);
// Written where it is used, GCC 12 makes it in memory at the baseline, which takes four times as
// long.
COTERIE_INLINE Line every_line(double value) { return value - Line{}; }

// The sums of the lanes of kLine vectors, side by side.
template <class... Vectors> COTERIE_INLINE Line lane_sums(Vectors... vectors) {
#if defined(__AVX512F__)
    VD lane[] = {vectors...};
    transpose_eight(lane);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
#else
    const auto lane = transposed(vectors...);
    return (lane.at[0] + lane.at[1]) + (lane.at[2] + lane.at[3]);
#endif
}

COTERIE_INLINE VD abs(VD a) { return max(a, -a); }

// Which lanes of a are larger than those of b?
COTERIE_INLINE uint32_t above(VD a, VD b) {
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
#else
    return bits((VL)(a > b));
#endif
}

#if defined(__AVX2__) && !defined(__AVX512F__)
// For every choice of four lanes: those that are chosen, and the halves of them.
struct Chosen {
    alignas(16) int32_t places[16][4] = {};
    alignas(32) int32_t halves[16][8] = {};
    constexpr Chosen() {
        for (int chosen = 0; chosen < 16; ++chosen)
            for (int q = 0, count = 0; q < 4; ++q)
                if (chosen >> q & 1) {
                    places[chosen][count] = q;
                    halves[chosen][2 * count] = 2 * q;
                    halves[chosen][2 * count++ + 1] = 2 * q + 1;
                }
    }
};
constexpr Chosen kChosen;
#endif

// Lanes of `values` that are chosen go to `out`, and their numbers, from `first` on, to `numbers`.
// Returns how many there are; as much is written as there are lanes.
COTERIE_INLINE int pack(VD values, uint32_t chosen, int first, double* out, int32_t* numbers) {
#if defined(__AVX512F__)
    const __m256i all =
        _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    // By way of registers: the instructions that write to memory are many times slower on Zen 4.
    _mm512_storeu_pd(out, _mm512_maskz_compress_pd(chosen, (__m512d)values));
    _mm256_storeu_si256((__m256i*)numbers, _mm256_maskz_compress_epi32(chosen, all));
    return __builtin_popcount(chosen);
#elif defined(__AVX2__)
    const __m256i order = _mm256_load_si256((const __m256i*)kChosen.halves[chosen]);
    const __m128i places = _mm_load_si128((const __m128i*)kChosen.places[chosen]);
    store(out, _mm256_permutevar8x32_ps((__m256)values, order));
    _mm_storeu_si128((__m128i*)numbers, _mm_add_epi32(places, _mm_set1_epi32(first)));
    return __builtin_popcount(chosen);
#else
    double lane[kLanes];
    store(lane, values);
    int count = 0;
    for (; chosen; chosen &= chosen - 1, ++count) {
        const int q = __builtin_ctz(chosen);
        out[count] = lane[q];
        numbers[count] = first + q;
    }
    return count;
#endif
}

// The sum of eight lanes, always in the same order.
COTERIE_INLINE double across(const double* lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// A vector in a register, for several uses. Left to itself the compiler reads it from memory for
// each of them, and two such reads a cycle are as many as the machine can do.
template <class V> COTERIE_INLINE V kept(V value) {
#if defined(__AVX512F__)
    asm volatile("" : "+v"(value));
#elif defined(__AVX2__)
    asm volatile("" : "+x"(value));
#elif defined(__SSE2__)
    if constexpr (sizeof(V) == 16) // others are two registers
        asm volatile("" : "+x"(value));
#endif
    return value;
}
COTERIE_INLINE VD held(double value) { return kept(every(value)); }

} // namespace coterie::COTERIE_LEVEL

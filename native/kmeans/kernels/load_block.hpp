// load_block.hpp: W rows of a few columns, transposed so that a vector holds one column of them.
#pragma once

#include "kmeans/kernels.hpp"
#include "simd/eight_floats.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

// columns: (D) vectors of the W rows at `first`, scaled.
template <int D>
COTERIE_INLINE void load_block(const Rows& rows, const Scaling& scaling, int64_t first,
                               VF* columns) {
    alignas(64) float flat[D * W];
    if (rows.kind == Kind::float32) {
        const float* x = static_cast<const float*>(rows.values) + first * D;
        if (scaling.plain) {
            std::memcpy(flat, x, sizeof flat);
        } else {
            for (int q = 0; q < W; ++q)
                for (int l = 0; l < D; ++l)
                    flat[q * D + l] =
                        static_cast<float>((x[q * D + l] - scaling.centre[l]) * scaling.unit);
        }
    } else {
        const double* x = static_cast<const double*>(rows.values) + first * D;
        if (scaling.plain) {
            for (int q = 0; q < D * W; ++q)
                flat[q] = static_cast<float>(x[q]);
        } else {
            alignas(64) double centre[D * W]; // the centre, repeated for each row
            for (int q = 0; q < W; ++q)
                for (int l = 0; l < D; ++l)
                    centre[q * D + l] = scaling.centre[l];
            for (int q = 0; q < D * W; ++q)
                flat[q] = static_cast<float>((x[q] - centre[q]) * scaling.unit);
        }
    }
    VF vectors[D];
    for (int l = 0; l < D; ++l)
        vectors[l] = load<VF>(flat + l * W);
    transpose<D>(vectors, columns, std::make_index_sequence<D>{});
}

// Four columns of a row of d from `from` on, scaled; zero beyond d.
template <class T> COTERIE_INLINE F4 four(const T* x, const Scaling& scaling, int from, int d) {
    auto take = [from, d](const auto* p) {
        if (from + 4 <= d)
            return D4{double(p[from]), double(p[from + 1]), double(p[from + 2]),
                      double(p[from + 3])};
        auto at = [p, from, d](int q) { return from + q < d ? double(p[from + q]) : 0.0; };
        return D4{at(0), at(1), at(2), 0.0};
    };
    D4 values = take(x);
    if (!scaling.plain)
        values = (values - take(scaling.centre)) * scaling.unit;
    return __builtin_convertvector(values, F4);
}

#if defined(__AVX512F__)
COTERIE_INLINE VF joined(const F4* f) {
    const F8 a = __builtin_shufflevector(f[0], f[1], 0, 1, 2, 3, 4, 5, 6, 7);
    const F8 b = __builtin_shufflevector(f[2], f[3], 0, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
#elif defined(__AVX2__)
COTERIE_INLINE VF joined(const F4* f) {
    return __builtin_shufflevector(f[0], f[1], 0, 1, 2, 3, 4, 5, 6, 7);
}
#else
COTERIE_INLINE VF joined(const F4* f) { return f[0]; }
#endif

// columns: (d rounded up to a multiple of 4).
template <class T>
COTERIE_INLINE void gather_from(const T* values, const Scaling& scaling, const int64_t* index,
                                int d, VF* columns) {
    for (int from = 0; from < d; from += 4) {
        VF flat[4];
        for (int v = 0; v < 4; ++v) {
            F4 rows[W / 4];
            for (int r = 0; r < W / 4; ++r)
                rows[r] = four(values + index[v * (W / 4) + r] * d, scaling, from, d);
            flat[v] = joined(rows);
        }
        transpose<4>(flat, columns + from, std::make_index_sequence<4>{});
    }
}

// The same for scattered rows; index: (W,).
COTERIE_INLINE void gather_block(const Rows& rows, const Scaling& scaling, const int64_t* index,
                                 int d, VF* columns) {
    if (rows.kind == Kind::float32)
        gather_from(static_cast<const float*>(rows.values), scaling, index, d, columns);
    else
        gather_from(static_cast<const double*>(rows.values), scaling, index, d, columns);
}

} // namespace coterie::COTERIE_LEVEL::kmeans

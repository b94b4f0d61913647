// load_block.hpp: W rows of a few columns, turned so that a vector holds one column of them.
#pragma once

#include "coterie/kernels.hpp"
#include "coterie/simd.hpp"

namespace coterie::COTERIE_LEVEL {

// columns: (D) vectors of the W rows at `first`, framed.
template <int D> inline void load_block(const Rows& rows, const Frame& frame, int64_t first,
                                        VF* columns) {
    alignas(64) float flat[D * W];
    if (rows.kind == Kind::float32) {
        const float* x = static_cast<const float*>(rows.values) + first * D;
        if (frame.plain) {
            std::memcpy(flat, x, sizeof flat);
        } else {
            for (int q = 0; q < W; ++q)
                for (int l = 0; l < D; ++l)
                    flat[q * D + l] = static_cast<float>((x[q * D + l] - frame.centre[l]) * frame.unit);
        }
    } else {
        const double* x = static_cast<const double*>(rows.values) + first * D;
        if (frame.plain) {
            for (int q = 0; q < D * W; ++q)
                flat[q] = static_cast<float>(x[q]);
        } else {
            alignas(64) double centre[D * W]; // the centre, repeated for each row
            for (int q = 0; q < W; ++q)
                for (int l = 0; l < D; ++l)
                    centre[q * D + l] = frame.centre[l];
            for (int q = 0; q < D * W; ++q)
                flat[q] = static_cast<float>((x[q] - centre[q]) * frame.unit);
        }
    }
    VF vectors[D];
    for (int l = 0; l < D; ++l)
        vectors[l] = load<VF>(flat + l * W);
    transpose<D>(vectors, columns, std::make_index_sequence<D>{});
}

// The same for scattered rows.
template <int D> inline void gather_block(const Rows& rows, const Frame& frame,
                                          const int64_t* index, int count, VF* columns) {
    alignas(64) float block[D][W];
    for (int q = 0; q < W; ++q) {
        const int64_t i = index[q < count ? q : count - 1];
        for (int l = 0; l < D; ++l) {
            const double value = rows.kind == Kind::float32
                                     ? static_cast<const float*>(rows.values)[i * D + l]
                                     : static_cast<const double*>(rows.values)[i * D + l];
            block[l][q] = static_cast<float>((value - frame.centre[l]) * frame.unit);
        }
    }
    for (int l = 0; l < D; ++l)
        columns[l] = load<VF>(block[l]);
}

} // namespace coterie::COTERIE_LEVEL

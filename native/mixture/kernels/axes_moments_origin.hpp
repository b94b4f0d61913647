// axes_moments_origin.hpp: moments of all components about the origin, where all means are near it.
//
// Rows have features: one, their columns, and squares of these. Responsibilities become weights,
// and every component adds up the features by its own: a product of two matrices, without a
// difference from a mean for each component. At the end sums are moved to the centres.
#pragma once

#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

struct OriginMoments {
    int k, d;
    double* sums; // (features, k, kLanes): one, columns, squares; spherical: the squares added up

    static size_t doubles(int k, int count) { return static_cast<size_t>(count) * k * kLanes; }
    OriginMoments(const Leaf& leaf, double* memory) : k(leaf.k), d(leaf.d), sums(memory) {}

    void clear(int count) const { std::memset(sums, 0, sizeof(double) * doubles(k, count)); }

    // Adds all rows of the leaf; spherical: lengths (256,), squared.
    template <Covariance kind> void add(const Leaf& leaf, const double* lengths) const {
        // As many components and columns at a time as there are registers for their sums.
        constexpr int kMany = kParts > 1 ? 6 : 12, kWide = kind == Covariance::diag ? 1 : 2;
        const int tiles = (k + kMany - 1) / kMany;
        for (int tile = 0, c = 0; tile < tiles; ++tile) { // about as many components in each
            const int until = (tile + 1) * k / tiles;
            pick<kMany>(until - c, [&]<int Many>() __attribute__((always_inline)) {
                weigh<kind, Many>(leaf, c, lengths);
                int j = 0;
                for (; j + kWide <= d; j += kWide)
                    add_tile<kind, Many, kWide>(leaf, c, j);
                for (; j < d; ++j)
                    add_tile<kind, Many, 1>(leaf, c, j);
            });
            c = until;
        }
    }

    // The sum of feature f over all rows, for component c.
    double sum(int f, int c) const {
        const double* lane = at(f, c);
        double even = 0.0, odd = 0.0;
        for (int q = 0; q < kLanes; q += 2)
            even += lane[q], odd += lane[q + 1];
        return even + odd;
    }

private:
    COTERIE_INLINE double* at(int f, int c) const {
        return sums + (static_cast<size_t>(f) * k + c) * kLanes;
    }

    // Responsibilities of Many components, from c on, become weights, and are added up.
    template <Covariance kind, int Many>
    __attribute__((noinline)) void weigh(const Leaf& leaf, int c, const double* length) const {
        constexpr bool kSquares = kind == Covariance::spherical;
        VD mass[Many], spread[Many];
#pragma GCC unroll 12
        for (int l = 0; l < Many; ++l) {
            mass[l] = load<VD>(at(0, c + l));
            spread[l] = kSquares ? load<VD>(at(1 + d, c + l)) : VD{};
        }
        double* responsibilities = leaf.logs(0) + 8 * c;
        const double* share = leaf.share;
        const int step = 8 * k, groups = leaf.groups;
        for (int g = 0; g < groups; ++g, responsibilities += step, share += 8, length += 8)
#pragma GCC unroll 4
            for (int p = 0; p < kParts; ++p) {
                const VD times = kept(load<VD>(share + p * kLanes));
                const VD squared = kSquares ? kept(load<VD>(length + p * kLanes)) : VD{};
#pragma GCC unroll 12
                for (int l = 0; l < Many; ++l) {
                    const VD weight = load<VD>(responsibilities + 8 * l + p * kLanes) * times;
                    store(responsibilities + 8 * l + p * kLanes, weight);
                    mass[l] += weight;
                    if constexpr (kSquares)
                        spread[l] = fma(weight, squared, spread[l]);
                }
            }
#pragma GCC unroll 12
        for (int l = 0; l < Many; ++l) {
            store(at(0, c + l), mass[l]);
            if constexpr (kSquares)
                store(at(1 + d, c + l), spread[l]);
        }
    }

    // Wide columns, from j on, of Many components, from c on; diag: and their squares.
    template <Covariance kind, int Many, int Wide>
    __attribute__((noinline)) void add_tile(const Leaf& leaf, int c, int j) const {
        constexpr int kSquares = kind == Covariance::diag ? Wide : 0;
        VD sum[Wide + kSquares][Many];
        const int step = 8 * k, apart = 8 * leaf.padded, groups = leaf.groups;
        double *const columns = at(1 + j, c), *const squares = at(1 + d + j, c);
        const auto to = [=](int v, int l) __attribute__((always_inline)) {
            return (v < Wide ? columns : squares) + (v % Wide * step / 8 + l) * kLanes;
        };
#pragma GCC unroll 4
        for (int v = 0; v < Wide + kSquares; ++v)
#pragma GCC unroll 12
            for (int l = 0; l < Many; ++l)
                sum[v][l] = load<VD>(to(v, l));
        const double *from = leaf.columns + 8 * j, *responsibilities = leaf.logs(0) + 8 * c;
        for (int g = 0; g < groups; ++g, responsibilities += step, from += apart)
#pragma GCC unroll 4
            for (int p = 0; p < kParts; ++p) {
                VD value[Wide + kSquares];
#pragma GCC unroll 4
                for (int v = 0; v < Wide; ++v)
                    value[v] = kept(load<VD>(from + 8 * v + p * kLanes));
#pragma GCC unroll 2
                for (int v = 0; v < kSquares; ++v)
                    value[Wide + v] = value[v] * value[v];
#pragma GCC unroll 12
                for (int l = 0; l < Many; ++l) {
                    const VD responsibility = kept(load<VD>(responsibilities + 8 * l + p * kLanes));
#pragma GCC unroll 4
                    for (int v = 0; v < Wide + kSquares; ++v)
                        sum[v][l] = fma(responsibility, value[v], sum[v][l]);
                }
            }
#pragma GCC unroll 4
        for (int v = 0; v < Wide + kSquares; ++v)
#pragma GCC unroll 12
            for (int l = 0; l < Many; ++l)
                store(to(v, l), sum[v][l]);
    }
};

} // namespace coterie::COTERIE_LEVEL::mixture

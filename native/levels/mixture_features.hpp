// mixture_features.hpp: moments of all components about the origin, where all means are near it.
//
// Rows have features: one, their columns, products of columns. Each is multiplied by the row's
// share once, and every component adds them up by its degrees: a product of two matrices, without a
// difference from a mean or a weight for each component. At the end they are moved to the centres.
#pragma once

#include "mixture_leaf.hpp"

namespace coterie::COTERIE_LEVEL {

constexpr int kDescribed = 16; // groups of rows whose features stay in the nearest cache

struct Features {
    int k, count;
    double* values; // (kDescribed, count, 8), times the row's share
    double* sums;   // (count, k, kLanes)

    static size_t doubles(int k, int count) {
        return static_cast<size_t>(count) * (8 * kDescribed + k * kLanes);
    }
    Features(int k_, int count_, double* memory) : k(k_), count(count_), values(memory) {
        sums = values + static_cast<size_t>(count) * 8 * kDescribed;
    }
    void clear() const {
        std::memset(sums, 0, sizeof(double) * static_cast<size_t>(count) * k * kLanes);
    }

    // Adds all rows of the leaf. describe(g, out): writes the features of group g, (count, 8).
    template <class Describe> void add(const Leaf& leaf, const Describe& describe) const {
        for (int from = 0; from < leaf.groups; from += kDescribed) {
            const int groups = std::min(kDescribed, leaf.groups - from);
            for (int g = 0; g < groups; ++g)
                describe(from + g, values + static_cast<size_t>(g) * 8 * count);
            add_groups(leaf.logs(from), groups);
        }
    }

    // The sum of feature f over all rows, for component c.
    double sum(int f, int c) const {
        const double* lane = sums + (static_cast<size_t>(f) * k + c) * kLanes;
        double even = 0.0, odd = 0.0;
        for (int q = 0; q < kLanes; q += 2)
            even += lane[q], odd += lane[q + 1];
        return even + odd;
    }

private:
    // Some components and some features at a time, as many as there are registers for their sums.
    void add_groups(const double* degrees, int groups) const {
        using Add = void (Features::*)(const double*, int, int, int) const;
        static constexpr Add kAdd[6][2] = {{&Features::add_tile<1, 1>, &Features::add_tile<1, 2>},
                                           {&Features::add_tile<2, 1>, &Features::add_tile<2, 2>},
                                           {&Features::add_tile<3, 1>, &Features::add_tile<3, 2>},
                                           {&Features::add_tile<4, 1>, &Features::add_tile<4, 2>},
                                           {&Features::add_tile<5, 1>, &Features::add_tile<5, 2>},
                                           {&Features::add_tile<6, 1>, &Features::add_tile<6, 2>}};
        const int tiles = (k + 5) / 6;
        for (int tile = 0, c = 0; tile < tiles; ++tile) { // about as many components in each
            const int until = (tile + 1) * k / tiles;
            for (int f = 0; f < count; f += 2) {
                const Add add_some = kAdd[until - c - 1][f + 1 < count];
                (this->*add_some)(degrees, groups, c, f);
            }
            c = until;
        }
    }

    // Many components, from c on, and Wide features, from f on.
    template <int Many, int Wide>
    void add_tile(const double* degrees, int groups, int c, int f) const {
        VD sum[Wide][Many];
        double* const to = sums + (static_cast<size_t>(f) * k + c) * kLanes;
#pragma GCC unroll 2
        for (int v = 0; v < Wide; ++v)
#pragma GCC unroll 6
            for (int l = 0; l < Many; ++l)
                sum[v][l] = load<VD>(to + (v * k + l) * kLanes);
        const double* from = values + 8 * f;
        degrees += 8 * c;
        const int step = 8 * k, apart = 8 * count;
        for (int g = 0; g < groups; ++g, degrees += step, from += apart)
#pragma GCC unroll 4
            for (int p = 0; p < kParts; ++p) {
                VD value[Wide];
#pragma GCC unroll 2
                for (int v = 0; v < Wide; ++v)
                    value[v] = kept(load<VD>(from + 8 * v + p * kLanes));
#pragma GCC unroll 6
                for (int l = 0; l < Many; ++l) {
                    const VD degree = kept(load<VD>(degrees + 8 * l + p * kLanes));
#pragma GCC unroll 2
                    for (int v = 0; v < Wide; ++v)
                        sum[v][l] = fma(degree, value[v], sum[v][l]);
                }
            }
#pragma GCC unroll 2
        for (int v = 0; v < Wide; ++v)
#pragma GCC unroll 6
            for (int l = 0; l < Many; ++l)
                store(to + (v * k + l) * kLanes, sum[v][l]);
    }
};

} // namespace coterie::COTERIE_LEVEL

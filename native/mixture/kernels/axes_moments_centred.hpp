// axes_moments_centred.hpp: moments along the axes, each component's about its own centre.
#pragma once

#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

constexpr Covariance kDiag = Covariance::diag, kSpherical = Covariance::spherical,
                     kTied = Covariance::tied;

struct CentredMoments {
    int sums;          // of a component: mass, first moments, second ones of its kind
    double* lanes;     // (k, sums, 8)
    double* distances; // spherical: (groups, k, 8) squared

    static int sums_of(const SumsShape& shape) {
        return 1 + shape.d + static_cast<int>(shape.second());
    }
    static size_t doubles(const SumsShape& shape) {
        return static_cast<size_t>(shape.k) *
               (sums_of(shape) * 8 + (shape.kind == kSpherical ? kLeafRows : 0));
    }
    CentredMoments(const SumsShape& shape, double* memory) : sums(sums_of(shape)), lanes(memory) {
        distances = memory ? lanes + static_cast<size_t>(shape.k) * sums * 8 : nullptr;
    }

    void clear(int k) const {
        std::memset(lanes, 0, sizeof(double) * static_cast<size_t>(k) * sums * 8);
    }
    double sum(int c, int s) const {
        return across(lanes + (static_cast<size_t>(c) * sums + s) * 8);
    }
};

// Squared distances to the centres where no E step left any.
inline void measure(const MixtureTask& task, const Leaf& leaf, double* distances) {
    for (int g = 0; g < leaf.groups; ++g)
        for (int c = 0; c < leaf.k; ++c, distances += 8) {
            VD sum[kParts] = {};
            for (int j = 0; j < leaf.d; ++j)
                for (int p = 0; p < kParts; ++p) {
                    const VD z = load<VD>(leaf.group(g) + 8 * j + p * kLanes) -
                                 every(task.model.centres[static_cast<size_t>(c) * leaf.d + j]);
                    sum[p] = fma(z, z, sum[p]);
                }
            for (int p = 0; p < kParts; ++p)
                store(distances + p * kLanes, sum[p]);
        }
}

// Columns whose sums fit into registers, and components. Of 16 registers none is left for weighing.
template <Covariance kind> constexpr int kWide = kParts > 1 && kind == kDiag ? 2 : 4;
constexpr int kPair = kParts > 1 ? 1 : 2;
constexpr bool kWeighApart = kParts > 1;

// First moments of Wide columns of Count components, from j and c on; diag: second moments too.
// With the First columns, or with none, shares become weights, and are added up; spherical: so are
// squared distances.
template <Covariance kind, int Count, int Wide, bool First>
void add(const Leaf& leaf, const CentredMoments& spreads, const double* centres, int c, int j) {
    const size_t size = static_cast<size_t>(spreads.sums) * 8; // of the lanes of a component
    double* lanes = spreads.lanes + c * size;
    double *ones = lanes + 8 * (1 + j), *twos = lanes + 8 * (1 + leaf.d + j),
           *seconds = lanes + 8 * (1 + leaf.d);
    VD first[Count][Wide][kParts], second[Count][Wide][kParts], m[Count][Wide];
    VD mass[Count][kParts] = {}, spread[Count][kParts] = {};
#pragma GCC unroll 2
    for (int t = 0; t < Count; ++t)
        for (int p = 0; p < kParts; ++p) {
            const size_t at = t * size + p * kLanes;
            for (int q = 0; q < Wide; ++q) {
                m[t][q] = every(centres[static_cast<size_t>(c + t) * leaf.d + j + q]);
                first[t][q][p] = load<VD>(ones + at + 8 * q);
                second[t][q][p] = kind == kDiag ? load<VD>(twos + at + 8 * q) : VD{};
            }
            if constexpr (First)
                mass[t][p] = load<VD>(lanes + at);
            if constexpr (First && kind == kSpherical)
                spread[t][p] = load<VD>(seconds + at);
        }
    const int groups = leaf.groups, stride = 8 * leaf.k, x_stride = 8 * leaf.padded;
    double* r = leaf.responsibilities + 8 * c;
    const double *share = leaf.share, *x = leaf.columns + 8 * j, *far = spreads.distances + 8 * c;
    for (int g = 0; g < groups; ++g, r += stride, share += 8, x += x_stride, far += stride)
#pragma GCC unroll 4
        for (int p = 0; p < kParts; ++p) {
            VD weight[Count];
#pragma GCC unroll 2
            for (int t = 0; t < Count; ++t) {
                const int at = 8 * t + p * kLanes;
                weight[t] = load<VD>(r + at);
                if constexpr (First) {
                    weight[t] *= load<VD>(share + p * kLanes);
                    store(r + at, weight[t]);
                    mass[t][p] += weight[t];
                }
                if constexpr (First && kind == kSpherical)
                    spread[t][p] = fma(weight[t], load<VD>(far + at), spread[t][p]);
            }
#pragma GCC unroll 4
            for (int q = 0; q < Wide; ++q) {
                const VD value = load<VD>(x + 8 * q + p * kLanes);
#pragma GCC unroll 2
                for (int t = 0; t < Count; ++t) {
                    const VD z = value - m[t][q];
                    if constexpr (kind == kDiag) {
                        const VD rz = weight[t] * z;
                        first[t][q][p] += rz;
                        second[t][q][p] = fma(rz, z, second[t][q][p]);
                    } else {
                        first[t][q][p] = fma(weight[t], z, first[t][q][p]);
                    }
                }
            }
        }
#pragma GCC unroll 2
    for (int t = 0; t < Count; ++t)
        for (int p = 0; p < kParts; ++p) {
            const size_t at = t * size + p * kLanes;
            for (int q = 0; q < Wide; ++q) {
                store(ones + at + 8 * q, first[t][q][p]);
                if constexpr (kind == kDiag)
                    store(twos + at + 8 * q, second[t][q][p]);
            }
            if constexpr (First)
                store(lanes + at, mass[t][p]);
            if constexpr (First && kind == kSpherical)
                store(seconds + at, spread[t][p]);
        }
}

// All columns of Count components.
template <Covariance kind, int Count>
void add_columns(const Leaf& leaf, const CentredMoments& spreads, const double* centres, int c) {
    constexpr int kMost = kWide<kind>, kThree = kMost < 3 ? kMost : 3;
    constexpr decltype(&add<kind, Count, 1, true>) kAdd[2][5] = {
        {nullptr, add<kind, Count, 1, false>, add<kind, Count, 2, false>,
         add<kind, Count, kThree, false>, add<kind, Count, kMost, false>},
        {nullptr, add<kind, Count, 1, true>, add<kind, Count, 2, true>,
         add<kind, Count, kThree, true>, add<kind, Count, kMost, true>}};
    if constexpr (kWeighApart)
        add<kind, Count, 0, true>(leaf, spreads, centres, c, 0);
    for (int j = 0; j < leaf.d; j += kMost) {
        const int wide = leaf.d - j < kMost ? leaf.d - j : kMost;
        kAdd[j == 0 && !kWeighApart][wide](leaf, spreads, centres, c, j);
    }
}

// All components.
template <Covariance kind>
void add_leaf(const Leaf& leaf, const CentredMoments& spreads, const double* centres) {
    int c = 0;
    for (; c + kPair <= leaf.k; c += kPair)
        add_columns<kind, kPair>(leaf, spreads, centres, c);
    for (; c < leaf.k; ++c)
        add_columns<kind, 1>(leaf, spreads, centres, c);
}

} // namespace coterie::COTERIE_LEVEL::mixture

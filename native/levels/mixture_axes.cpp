// mixture_axes.cpp: covariances along the axes: by column (diag), the same in all columns
// (spherical), or shared by all components (tied), where rows are whitened first.
#include "mixture_leaf.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr Covariance kDiag = Covariance::diag, kSpherical = Covariance::spherical,
                     kTied = Covariance::tied;

struct Scratch {
    double* lanes;     // (k, sums, 8)
    double* white;     // tied: (groups, padded, 8)
    double* distances; // spherical: (groups, k, 8) squared
    int sums;

    static int sums_of(const MixtureTask& task) {
        const int d = task.shape.d;
        return task.shape.kind == kDiag ? 1 + 2 * d : task.shape.kind == kSpherical ? 2 + d : 1 + d;
    }
    static size_t doubles(const MixtureTask& task) {
        const size_t k = task.shape.k, padded = (task.shape.d + 3) / 4 * 4;
        return k * sums_of(task) * 8 + (task.shape.kind == kTied ? kLeafRows * padded : 0) +
               (task.shape.kind == kSpherical ? kLeafRows * k : 0);
    }
    Scratch(const MixtureTask& task, const Leaf& leaf) : sums(sums_of(task)) {
        lanes = leaf.rest;
        white = distances = lanes + static_cast<size_t>(leaf.k) * sums * 8;
    }
};

// white: y_j = sum over i <= j of U_ij z_i, four columns at a time, of Groups from g on.
template <int Groups> void whiten(const Leaf& leaf, const double* by_column, int g, double* white) {
    constexpr int kVectors = Groups * kParts;
    const int d = leaf.d, apart = 8 * leaf.padded;
    const double* z = leaf.group(g);
    double* y = white + g * apart;
    const auto at = [apart](int v) { return v / kParts * apart + v % kParts * kLanes; };
    for (int j = 0; j < d; j += 4) {
        const int wide = d - j < 4 ? d - j : 4;
        const double* u[4];
        for (int q = 0; q < 4; ++q)
            u[q] = by_column + static_cast<size_t>(q < wide ? j + q : j) * d;
        VD sum[4][kVectors] = {};
        for (int i = 0; i < j + wide; ++i) { // zeros below the diagonal
            VD x[kVectors];
            for (int v = 0; v < kVectors; ++v)
                x[v] = load<VD>(z + at(v) + 8 * i);
            for (int q = 0; q < 4; ++q)
                for (int v = 0; v < kVectors; ++v)
                    sum[q][v] = fma(x[v], every(u[q][i]), sum[q][v]);
        }
        for (int q = 0; q < wide; ++q)
            for (int v = 0; v < kVectors; ++v)
                store(y + at(v) + 8 * (j + q), sum[q][v]);
    }
}

// Log densities of Groups times eight rows, `apart` from each other, under Together components.
template <Covariance kind, int Groups, int Together>
void densities(const double* z, int apart, const MixtureTask& task, int c, double* logs,
               double* distances, VD* lowest) {
    constexpr int kVectors = Groups * kParts;
    const int d = task.shape.d, k = task.shape.k;
    const double *means = task.means + static_cast<size_t>(c) * d,
                 *factors = task.factors + static_cast<size_t>(c) * d;
    VD sum[Together][kVectors] = {};
    for (int j = 0; j < d; ++j) {
        VD x[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
            x[v] = load<VD>(z + v / kParts * apart + 8 * j + v % kParts * kLanes);
#pragma GCC unroll 4
        for (int t = 0; t < Together; ++t) {
            const VD mean = every(means[t * d + j]);
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) {
                VD y = x[v] - mean;
                if constexpr (kind == kDiag)
                    y *= every(factors[t * d + j]);
                sum[t][v] = fma(y, y, sum[t][v]);
            }
        }
    }
    VD low[kParts]; // in registers, as `lowest` is not; nor is the model, beside what is stored
    for (int p = 0; p < kParts; ++p)
        low[p] = lowest[p];
    VD offset[Together], factor[Together];
    for (int t = 0; t < Together; ++t) {
        // Spherical: the factor is half the precision; else the half is in the factors already.
        factor[t] = every(kind == kSpherical ? -task.factors[c + t] : -1.0);
        offset[t] = every(task.offsets[c + t]);
    }
#pragma GCC unroll 4
    for (int t = 0; t < Together; ++t)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            const VD log = fma(sum[t][v], factor[t], offset[t]);
            const int at = v / kParts * 8 * k + 8 * t + v % kParts * kLanes;
            store(logs + at, log);
            if constexpr (kind == kSpherical)
                store(distances + at, sum[t][v]);
            low[v % kParts] = min(low[v % kParts], log);
        }
    for (int p = 0; p < kParts; ++p)
        lowest[p] = low[p];
}

template <Covariance kind>
void expect(const MixtureTask& task, Leaf& leaf, const Scratch& scratch) {
    const int k = leaf.k, apart = 8 * leaf.padded;
    leaf.expect(task, [&]<int Groups>(int g, VD* lowest) {
        if constexpr (kind == kTied)
            whiten<Groups>(leaf, task.whitener, g, scratch.white);
        const double* z = kind == kTied ? scratch.white + g * apart : leaf.group(g);
        double *logs = leaf.logs(g), *far = scratch.distances + static_cast<size_t>(g) * 8 * k;
        const int tiles = (k + 3) / 4;
        for (int tile = 0, c = 0; tile < tiles; ++tile) { // about as many components in each
            constexpr decltype(&densities<kind, Groups, 1>) kDensities[] = {
                nullptr, densities<kind, Groups, 1>, densities<kind, Groups, 2>,
                densities<kind, Groups, 3>, densities<kind, Groups, 4>};
            const int until = (tile + 1) * k / tiles;
            kDensities[until - c](z, apart, task, c, logs + 8 * c, far + 8 * c, lowest);
            c = until;
        }
    });
}

// Squared distances to the centres where no E step left any.
void measure(const MixtureTask& task, const Leaf& leaf, double* distances) {
    for (int g = 0; g < leaf.groups; ++g)
        for (int c = 0; c < leaf.k; ++c, distances += 8) {
            VD sum[kParts] = {};
            for (int j = 0; j < leaf.d; ++j)
                for (int p = 0; p < kParts; ++p) {
                    const VD z = load<VD>(leaf.group(g) + 8 * j + p * kLanes) -
                                 every(task.centres[static_cast<size_t>(c) * leaf.d + j]);
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
void add(const Leaf& leaf, const Scratch& scratch, const double* centres, int c, int j) {
    const size_t size = static_cast<size_t>(scratch.sums) * 8; // of the lanes of a component
    double* lanes = scratch.lanes + c * size;
    double *ones = lanes + 8 * (1 + j), *twos = lanes + 8 * (1 + leaf.d + j),
           *spreads = lanes + 8 * (1 + leaf.d);
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
                spread[t][p] = load<VD>(spreads + at);
        }
    const int groups = leaf.groups, stride = 8 * leaf.k, x_stride = 8 * leaf.padded;
    double* r = leaf.degrees + 8 * c;
    const double *share = leaf.share, *x = leaf.columns + 8 * j, *far = scratch.distances + 8 * c;
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
                store(spreads + at, spread[t][p]);
        }
}

// All columns of Count components.
template <Covariance kind, int Count>
void add_columns(const Leaf& leaf, const Scratch& scratch, const double* centres, int c) {
    constexpr int kMost = kWide<kind>, kThree = kMost < 3 ? kMost : 3;
    constexpr decltype(&add<kind, Count, 1, true>) kAdd[2][5] = {
        {nullptr, add<kind, Count, 1, false>, add<kind, Count, 2, false>,
         add<kind, Count, kThree, false>, add<kind, Count, kMost, false>},
        {nullptr, add<kind, Count, 1, true>, add<kind, Count, 2, true>,
         add<kind, Count, kThree, true>, add<kind, Count, kMost, true>}};
    if constexpr (kWeighApart)
        add<kind, Count, 0, true>(leaf, scratch, centres, c, 0);
    for (int j = 0; j < leaf.d; j += kMost) {
        const int wide = leaf.d - j < kMost ? leaf.d - j : kMost;
        kAdd[j == 0 && !kWeighApart][wide](leaf, scratch, centres, c, j);
    }
}

template <Covariance kind>
void chunk(const MixtureTask& task, int64_t begin, int64_t end, double* memory, double* out,
           const Pause& pause) {
    Leaf leaf(task, memory);
    const Scratch scratch(task, leaf);
    const int k = leaf.k, d = leaf.d;
    std::memset(scratch.lanes, 0, sizeof(double) * k * static_cast<size_t>(scratch.sums) * 8);
    for (int64_t at = begin; at < end; at += kLeafRows) {
        pause();
        leaf.read(task, at, std::min<int64_t>(end, at + kLeafRows));
        if (task.computed()) {
            expect<kind>(task, leaf, scratch);
            if (task.labels) {
                leaf.choose_labels(task.labels + at);
                continue;
            }
            leaf.finish(task);
        } else {
            leaf.take_given(task);
            if constexpr (kind == kSpherical)
                measure(task, leaf, scratch.distances);
        }
        if (!task.sums)
            continue;
        int c = 0;
        for (; c + kPair <= k; c += kPair)
            add_columns<kind, kPair>(leaf, scratch, task.centres, c);
        for (; c < k; ++c)
            add_columns<kind, 1>(leaf, scratch, task.centres, c);
    }
    if (!task.sums)
        return;
    out[0] = leaf.likelihood.value();
    const int64_t second = task.shape.second();
    for (int c = 0; c < k; ++c) {
        const double* from = scratch.lanes + static_cast<size_t>(c) * scratch.sums * 8;
        out[1 + c] = across(from);
        for (int j = 0; j < d; ++j)
            out[1 + k + static_cast<int64_t>(c) * d + j] = across(from + 8 * (1 + j));
        for (int t = 0; t < second; ++t)
            out[1 + k + static_cast<int64_t>(k) * d + c * second + t] =
                across(from + 8 * (1 + d + t));
    }
}

} // namespace

size_t mixture_axes_doubles(const MixtureTask& task) {
    return Leaf::doubles(task) + Scratch::doubles(task);
}

void mixture_axes(const MixtureTask& task, int64_t begin, int64_t end, double* scratch, double* out,
                  const Pause& pause) {
    switch (task.shape.kind) {
    case Covariance::diag: return chunk<kDiag>(task, begin, end, scratch, out, pause);
    case Covariance::spherical: return chunk<kSpherical>(task, begin, end, scratch, out, pause);
    default: return chunk<kTied>(task, begin, end, scratch, out, pause);
    }
}

} // namespace coterie::COTERIE_LEVEL

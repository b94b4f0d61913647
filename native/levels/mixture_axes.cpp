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

// white: y_j = sum over i <= j of U_ij z_i, four columns at a time.
void whiten(const Leaf& leaf, const double* by_column, double* white) {
    const int d = leaf.d;
    for (int g = 0; g < leaf.groups; ++g) {
        const double* z = leaf.group(g);
        double* y = white + g * 8 * leaf.padded;
        for (int j = 0; j < d; j += 4) {
            const int wide = d - j < 4 ? d - j : 4;
            const double* u[4];
            for (int q = 0; q < 4; ++q)
                u[q] = by_column + static_cast<size_t>(q < wide ? j + q : j) * d;
            VD sum[4][kParts] = {};
            for (int i = 0; i < j + wide; ++i) // zeros below the diagonal
                for (int q = 0; q < 4; ++q)
                    for (int p = 0; p < kParts; ++p)
                        sum[q][p] =
                            fma(load<VD>(z + 8 * i + p * kLanes), every(u[q][i]), sum[q][p]);
            for (int q = 0; q < wide; ++q)
                for (int p = 0; p < kParts; ++p)
                    store(y + 8 * (j + q) + p * kLanes, sum[q][p]);
        }
    }
}

// Log densities of eight rows under Together components.
template <Covariance kind, int Together>
COTERIE_INLINE void densities(const double* z, const MixtureTask& task, int c, double* logs,
                              double* distances, VD* lowest) {
    const int d = task.shape.d;
    const double *means = task.means + static_cast<size_t>(c) * d,
                 *factors = task.factors + static_cast<size_t>(c) * d;
    VD sum[Together][kParts] = {};
    for (int j = 0; j < d; ++j)
        for (int t = 0; t < Together; ++t)
            for (int p = 0; p < kParts; ++p) {
                VD y = load<VD>(z + 8 * j + p * kLanes) - every(means[t * d + j]);
                if constexpr (kind == kDiag)
                    y *= every(factors[t * d + j]);
                sum[t][p] = fma(y, y, sum[t][p]);
            }
    for (int t = 0; t < Together; ++t) {
        // Spherical: the factor is half the precision; else the half is in the factors already.
        const double factor = kind == kSpherical ? task.factors[c + t] : 1.0;
        for (int p = 0; p < kParts; ++p) {
            const VD log = fma(sum[t][p], every(-factor), every(task.offsets[c + t]));
            store(logs + 8 * t + p * kLanes, log);
            if constexpr (kind == kSpherical)
                store(distances + 8 * t + p * kLanes, sum[t][p]);
            lowest[p] = min(lowest[p], log);
        }
    }
}

template <Covariance kind>
void expect(const MixtureTask& task, Leaf& leaf, const Scratch& scratch) {
    const int k = leaf.k;
    leaf.expect(task, [&](int g, VD* lowest) {
        const double* z = kind == kTied ? scratch.white + g * 8 * leaf.padded : leaf.group(g);
        double *logs = leaf.logs(g), *far = scratch.distances + static_cast<size_t>(g) * 8 * k;
        int c = 0;
        for (; c + 4 <= k; c += 4)
            densities<kind, 4>(z, task, c, logs + 8 * c, far + 8 * c, lowest);
        for (; c < k; ++c)
            densities<kind, 1>(z, task, c, logs + 8 * c, far + 8 * c, lowest);
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

// Shares become weights, and their sum; spherical: also the sum of squared distances.
template <Covariance kind>
void weigh(const Leaf& leaf, int c, const Scratch& scratch, double* lanes) {
    double* second = lanes + 8 * (1 + leaf.d);
    VD mass[kParts], spread[kParts];
    for (int p = 0; p < kParts; ++p) {
        mass[p] = load<VD>(lanes + p * kLanes);
        spread[p] = kind == kSpherical ? load<VD>(second + p * kLanes) : VD{};
    }
    const int groups = leaf.groups, stride = 8 * leaf.k;
    double* e = leaf.degrees + 8 * c;
    const double *share = leaf.share, *far = scratch.distances + 8 * c;
    for (int g = 0; g < groups; ++g, e += stride, share += 8, far += stride)
        for (int p = 0; p < kParts; ++p) {
            const VD r = load<VD>(e + p * kLanes) * load<VD>(share + p * kLanes);
            store(e + p * kLanes, r);
            mass[p] += r;
            if constexpr (kind == kSpherical)
                spread[p] = fma(r, load<VD>(far + p * kLanes), spread[p]);
        }
    for (int p = 0; p < kParts; ++p) {
        store(lanes + p * kLanes, mass[p]);
        if constexpr (kind == kSpherical)
            store(second + p * kLanes, spread[p]);
    }
}

// First moments of Wide columns from j on; diag: second moments too.
template <Covariance kind, int Wide>
COTERIE_INLINE void add(const Leaf& leaf, int c, int j, const double* centre, double* lanes) {
    double *ones = lanes + 8 * (1 + j), *twos = lanes + 8 * (1 + leaf.d + j);
    VD first[Wide][kParts], second[Wide][kParts], m[Wide];
    for (int q = 0; q < Wide; ++q) {
        m[q] = every(centre[j + q]);
        for (int p = 0; p < kParts; ++p) {
            first[q][p] = load<VD>(ones + 8 * q + p * kLanes);
            second[q][p] = kind == kDiag ? load<VD>(twos + 8 * q + p * kLanes) : VD{};
        }
    }
    const int groups = leaf.groups, r_stride = 8 * leaf.k, x_stride = 8 * leaf.padded;
    const double *r = leaf.degrees + 8 * c, *x = leaf.columns + 8 * j;
    for (int g = 0; g < groups; ++g, r += r_stride, x += x_stride)
#pragma GCC unroll 4
        for (int p = 0; p < kParts; ++p) {
            const VD weight = load<VD>(r + p * kLanes);
            for (int q = 0; q < Wide; ++q) {
                const VD z = load<VD>(x + 8 * q + p * kLanes) - m[q];
                if constexpr (kind == kDiag) {
                    const VD rz = weight * z;
                    first[q][p] += rz;
                    second[q][p] = fma(rz, z, second[q][p]);
                } else {
                    first[q][p] = fma(weight, z, first[q][p]);
                }
            }
        }
    for (int q = 0; q < Wide; ++q)
        for (int p = 0; p < kParts; ++p) {
            store(ones + 8 * q + p * kLanes, first[q][p]);
            if constexpr (kind == kDiag)
                store(twos + 8 * q + p * kLanes, second[q][p]);
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
            if constexpr (kind == kTied)
                whiten(leaf, task.whitener, scratch.white);
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
        for (int c = 0; c < k; ++c) {
            double* lanes = scratch.lanes + static_cast<size_t>(c) * scratch.sums * 8;
            const double* centre = task.centres + static_cast<size_t>(c) * d;
            weigh<kind>(leaf, c, scratch, lanes);
            constexpr int kWide = kind == kDiag ? 2 : 4;
            int j = 0;
            for (; j + kWide <= d; j += kWide)
                add<kind, kWide>(leaf, c, j, centre, lanes);
            for (; j < d; ++j)
                add<kind, 1>(leaf, c, j, centre, lanes);
        }
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

// full_densities.hpp: rows times a triangular factor, some groups of eight rows by six columns at a
// time, in registers.
#pragma once

#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

constexpr int kBatch = 64; // rows that meet one component after the other

// Groups of rows that meet a tile together: sums of enough of them are in registers that none waits
// for the one before.
constexpr int kTiled = kParts > 1 ? 1 : 4;

// Groups of eight rows, `stride` apart, and their results: logs = before - squares of their
// whitened columns. before and logs are `step` and `log_stride` apart.
struct Tiled {
    const double* z;
    int stride;
    const double* before;
    int step;
    double* logs;
    int log_stride;

    void skip(int groups) {
        z += groups * stride;
        before += groups * step;
        logs += groups * log_stride;
    }
};

// Wide whitened columns of Groups times eight rows. u: (start + Wide, Wide) of the factor.
template <int Wide, int Groups>
COTERIE_INLINE void tile(const Tiled& rows, const double* u, int start, const double* shift) {
    constexpr int kVectors = Groups * kParts;
    const int stride = rows.stride;
    const double* z = rows.z;
    VD y[Wide][kVectors];
#pragma GCC unroll 6
    for (int j = 0; j < Wide; ++j)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
            y[j][v] = every(-shift[j]);
#pragma GCC unroll 6
    for (int i = 0; i < start; ++i, z += 8, u += Wide) {
        VD x[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
            x[v] = load<VD>(z + v / kParts * stride + v % kParts * kLanes);
#pragma GCC unroll 6
        for (int j = 0; j < Wide; ++j) {
            const VD factor = every(u[j]);
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v)
                y[j][v] = fma(factor, x[v], y[j][v]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < Wide; ++i, z += 8, u += Wide) {
        VD x[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
            x[v] = load<VD>(z + v / kParts * stride + v % kParts * kLanes);
#pragma GCC unroll 6
        for (int j = i; j < Wide; ++j)
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v)
                y[j][v] = fma(every(u[j]), x[v], y[j][v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
        const int group = v / kParts, lanes = v % kParts * kLanes;
        VD log = load<VD>(rows.before + group * rows.step + lanes);
#pragma GCC unroll 6
        for (int j = 0; j < Wide; ++j)
            log = fma(-y[j][v], y[j][v], log);
        store(rows.logs + group * rows.log_stride + lanes, log);
    }
}

// The same for any number of groups.
template <int Wide>
void tiles(const Tiled& all, int groups, const double* u, int start, const double* shift) {
    Tiled rows = all; // stores cannot change a copy
    for (; groups >= kTiled; groups -= kTiled, rows.skip(kTiled))
        tile<Wide, kTiled>(rows, u, start, shift);
    if constexpr (kTiled > 2)
        for (; groups >= 2; groups -= 2, rows.skip(2))
            tile<Wide, 2>(rows, u, start, shift);
    if constexpr (kTiled > 1)
        for (; groups > 0; --groups, rows.skip(1))
            tile<Wide, 1>(rows, u, start, shift);
}

// Log densities under component c of groups of eight rows, `stride` apart; logs `log_stride` apart.
// moved: room for the rows less the mean, as large as the rows.
inline void log_densities(const MixtureTask& task, int c, const double* z, int stride, int groups,
                          double* moved, double* logs, int log_stride) {
    const int d = task.shape.d;
    static const double kNoShift[kTile] = {};
    if (task.model.direct[c]) {
        const double* mean = task.model.means + static_cast<size_t>(c) * d;
        for (int g = 0; g < groups; ++g)
            for (int i = 0; i < d; ++i)
                for (int p = 0; p < kParts; ++p)
                    store(moved + g * stride + 8 * i + p * kLanes,
                          load<VD>(z + g * stride + 8 * i + p * kLanes) - every(mean[i]));
        z = moved;
    }
    double offset[8]; // of all rows, before the first tile
    std::fill(offset, offset + 8, task.model.offsets[c]);
    Tiled rows{z, stride, offset, 0, logs, log_stride};
    const double* u = task.model.factors + static_cast<size_t>(c) * packed_factor(d);
    for (int j = 0; j < d; j += kTile) {
        const int wide = d - j < kTile ? d - j : kTile;
        const double* shift =
            task.model.direct[c] ? kNoShift : task.model.shifts + static_cast<size_t>(c) * d + j;
        constexpr decltype(&tiles<1>) kTiles[] = {nullptr,  tiles<1>, tiles<2>, tiles<3>,
                                                  tiles<4>, tiles<5>, tiles<6>};
        kTiles[wide](rows, groups, u, j, shift);
        rows.before = logs, rows.step = log_stride;
        u += static_cast<size_t>(j + wide) * wide;
    }
}

} // namespace coterie::COTERIE_LEVEL::mixture

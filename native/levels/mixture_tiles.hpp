// mixture_tiles.hpp: rows times a triangular factor, eight rows by six columns at a time, in
// registers.
#pragma once

#include "mixture_leaf.hpp"

namespace coterie::COTERIE_LEVEL {

constexpr int kBatch = 64; // rows that meet one component after the other

// logs = before - squares of Wide whitened columns, for eight rows. u: (start + Wide, Wide) of the
// factor.
template <int Wide>
COTERIE_INLINE void tile(const double* z, const double* u, int start, const double* shift,
                         const double* before, double* logs) {
    VD y[Wide][kParts];
#pragma GCC unroll 6
    for (int j = 0; j < Wide; ++j)
        for (int p = 0; p < kParts; ++p)
            y[j][p] = every(-shift[j]);
#pragma GCC unroll 6
    for (int i = 0; i < start; ++i, z += 8, u += Wide) {
        VD x[kParts];
        for (int p = 0; p < kParts; ++p)
            x[p] = load<VD>(z + p * kLanes);
#pragma GCC unroll 6
        for (int j = 0; j < Wide; ++j) {
            const VD factor = every(u[j]);
            for (int p = 0; p < kParts; ++p)
                y[j][p] = fma(factor, x[p], y[j][p]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < Wide; ++i, z += 8, u += Wide) {
        VD x[kParts];
        for (int p = 0; p < kParts; ++p)
            x[p] = load<VD>(z + p * kLanes);
#pragma GCC unroll 6
        for (int j = i; j < Wide; ++j)
            for (int p = 0; p < kParts; ++p)
                y[j][p] = fma(every(u[j]), x[p], y[j][p]);
    }
    for (int p = 0; p < kParts; ++p) {
        VD log = load<VD>(before + p * kLanes);
#pragma GCC unroll 6
        for (int j = 0; j < Wide; ++j)
            log = fma(-y[j][p], y[j][p], log);
        store(logs + p * kLanes, log);
    }
}

// The same for groups of eight rows, `stride` apart; before and logs are `step` and `log_stride`
// apart.
template <int Wide>
void tiles(const double* z, int stride, int groups, const double* u, int start, const double* shift,
           const double* before, int step, double* logs, int log_stride) {
    for (int g = 0; g < groups; ++g)
        tile<Wide>(z + g * stride, u, start, shift, before + static_cast<size_t>(g) * step,
                   logs + static_cast<size_t>(g) * log_stride);
}

// Log densities under component c of groups of eight rows, `stride` apart; logs `log_stride` apart.
// moved: room for the rows less the mean, as large as the rows.
inline void log_densities(const MixtureTask& task, int c, const double* z, int stride, int groups,
                          double* moved, double* logs, int log_stride) {
    const int d = task.shape.d;
    static const double kNoShift[kTile] = {};
    if (task.direct[c]) {
        const double* mean = task.means + static_cast<size_t>(c) * d;
        for (int g = 0; g < groups; ++g)
            for (int i = 0; i < d; ++i)
                for (int p = 0; p < kParts; ++p)
                    store(moved + g * stride + 8 * i + p * kLanes,
                          load<VD>(z + g * stride + 8 * i + p * kLanes) - every(mean[i]));
        z = moved;
    }
    double offset[8]; // of all rows, before the first tile
    std::fill(offset, offset + 8, task.offsets[c]);
    const double* u = task.factors + static_cast<size_t>(c) * packed_factor(d);
    for (int j = 0; j < d; j += kTile) {
        const int wide = d - j < kTile ? d - j : kTile;
        const double* shift =
            task.direct[c] ? kNoShift : task.shifts + static_cast<size_t>(c) * d + j;
        constexpr decltype(&tiles<1>) kTiles[] = {nullptr,  tiles<1>, tiles<2>, tiles<3>,
                                                  tiles<4>, tiles<5>, tiles<6>};
        kTiles[wide](z, stride, groups, u, j, shift, j == 0 ? offset : logs,
                     j == 0 ? 0 : log_stride, logs, log_stride);
        u += static_cast<size_t>(j + wide) * wide;
    }
}

} // namespace coterie::COTERIE_LEVEL

// seed_units.hpp: distances counted in whole units, so that sums do not depend on any order.
#pragma once

#include "kmeans/kernels.hpp"
#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

COTERIE_INLINE double magic_of(int shift) { return std::ldexp(1.5, 52 - shift); }

COTERIE_INLINE int64_t units_of(double distance, double magic) {
    const double rounded = distance + magic;
    int64_t a, b;
    std::memcpy(&a, &rounded, 8);
    std::memcpy(&b, &magic, 8);
    return a - b;
}

COTERIE_INLINE int64_t copies_of(const SeedPass& pass, int64_t i) {
    return pass.copies ? pass.copies[pass.row_at(i)] : 1;
}

// Rows [first, first + W) at `distance` from the new seed, the first `count` of them real: the
// distances left. Only rows that come nearer change the histogram, unless it is made anew.
COTERIE_INLINE VF approach_rows(const SeedPass& pass, int64_t first, int count, VF distance,
                                double magic, int64_t* out) {
    const VF before = load<VF>(pass.nearest32 + first);
    const VF now = min(distance, before);
    uint32_t changed = bits(now < before);
    if (changed)
        store(pass.nearest32 + first, now);
    if (pass.anew)
        changed = (1ull << count) - 1;
    for (; changed; changed &= changed - 1) {
        const int q = __builtin_ctz(changed);
        const int64_t less = pass.anew ? 0 : units_of(before[q], magic);
        out[pass.bucket[first + q]] +=
            (units_of(now[q], magic) - less) * copies_of(pass, first + q);
    }
    return now;
}

// Units left of the same rows with a candidate at `distance`. Units have 24 bits.
COTERIE_INLINE int64_t units_left(const SeedPass& pass, int64_t first, int count, VF distance,
                                  float scale) {
    const VI units = rounded(min(distance, load<VF>(pass.nearest32 + first)) * scale);
    int64_t sum = 0;
    for (int q = 0; q < count; ++q)
        sum += units[q] * copies_of(pass, first + q);
    return sum;
}

} // namespace coterie::COTERIE_LEVEL::kmeans

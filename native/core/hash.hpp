// hash.hpp: randomness that belongs to a value, not to a place.
//
// The hash of a row is a sum over its nonzero entries, so a sparse row and its dense twin agree,
// and rows that are equal get the same random numbers wherever they stand.
#pragma once

#include <bit>

#include "core/rows.hpp"

namespace coterie {

inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

inline uint64_t hash_entry(double value, int column) {
    return mix(std::bit_cast<uint64_t>(value) +
               static_cast<uint64_t>(column + 1) * 0x9E3779B97F4A7C15ull);
}

inline uint64_t hash_row(const Rows& rows, int64_t i) {
    uint64_t sum = 0;
    auto add = [&sum](double value, int column) {
        if (value != 0.0)
            sum += hash_entry(value, column);
    };
    if (rows.kind == Kind::float64) {
        const double* x = static_cast<const double*>(rows.values) + i * rows.d;
        for (int l = 0; l < rows.d; ++l)
            add(x[l], l);
    } else if (rows.kind == Kind::float32) {
        const float* x = static_cast<const float*>(rows.values) + i * rows.d;
        for (int l = 0; l < rows.d; ++l)
            add(x[l], l);
    } else {
        for (int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
            add(rows.kind == Kind::csr64 ? static_cast<const double*>(rows.values)[p]
                                         : static_cast<const float*>(rows.values)[p],
                rows.columns[p]);
    }
    return mix(sum + 0x9E3779B97F4A7C15ull);
}

} // namespace coterie

// seed_sparse.hpp: distances of sparse rows from a few points, for the passes of greedy k-means++.
//
// A dense row of the same values must give the same bits: seeding_many_columns.cpp adds column l in
// lane l mod 8. Columns where both are zero change no sum, so the entries of the two are merged.
// That is done only where it matters: |x|^2 + |p|^2 - 2 x'p, less all that rounding may have done
// to it, tells of most rows that the point is no nearer than the nearest seed.
#pragma once

#include "core/scratch.hpp"
#include "kmeans/kernels/seed_units.hpp"
#include "simd/eight_floats.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

class SparseDistances {
public:
    static constexpr int kPoints = 8; // at once

    // The points from `first` on.
    SparseDistances(const SeedPass& pass_, int first, int count_, Scratch& scratch)
        : pass(pass_), rows(*pass.rows), count(count_) {
        const size_t d = rows.d;
        table = scratch.take<float>(kPoints * d);
        row = scratch.take<float>(d);
        columns = scratch.take<int32_t>(kPoints * d);
        if (!scratch)
            return;
        std::memset(table, 0, sizeof(float) * kPoints * d);
        for (int t = 0; t < count; ++t) {
            const double* point = pass.candidates + (first + t) * d;
            for (size_t l = 0; l < d; ++l) {
                const float p = scaled(point[l], l);
                if (p == 0.f)
                    continue;
                table[l * kPoints + t] = p;
                columns[t * d + entries[t]++] = static_cast<int32_t>(l);
                squares[t] += p * p;
            }
        }
    }

    // out: (kPoints, stride) in column q the distances of row i; infinite where a point is proved
    // to be no nearer than `near`.
    template <class T> void row_distances(int64_t i, float near, float* out, int q, int stride) {
        const int64_t begin = rows.starts[i];
        const int32_t* at = rows.columns + begin;
        const int length = static_cast<int>(rows.starts[i + 1] - begin);
        const T* values = static_cast<const T*>(rows.values) + begin;
        F8 products = {};
        float square = 0.f;
        for (int e = 0; e < length; ++e) {
            const float x = row[e] = scaled(values[e], at[e]);
            square += x * x;
            products += x * load<F8>(table + static_cast<size_t>(at[e]) * kPoints);
        }
        const F8 sums = square + squares;
        const F8 below = sums - 2 * products - 1e-30f;
        for (int t = 0; t < count; ++t) {
            // Of every sum of m numbers at most m 2^-24 is lost; twice that is left out here.
            const float lost = (4.f * (length + entries[t]) + 32.f) * 0x1p-23f * sums[t];
            out[t * stride + q] = below[t] - lost > near ? __builtin_inff() : merged(at, length, t);
        }
    }

private:
    const SeedPass& pass;
    const Rows& rows;
    int count;
    float* table;              // (d, kPoints) the points, scaled
    float* row;                // (d,) the entries of a row, scaled
    int32_t* columns;          // (kPoints, d) where each point is not zero,
    int entries[kPoints] = {}; // how often,
    F8 squares = {};           // and |p|^2

    float scaled(double x, size_t l) const {
        return static_cast<float>((x - pass.scaling.centre[l]) * pass.scaling.unit);
    }

    float merged(const int32_t* at, int length, int t) const {
        float sum[8] = {};
        const int32_t *p = columns + static_cast<size_t>(t) * rows.d, *end = p + entries[t];
        const auto value = [this, t](int32_t l) {
            return table[static_cast<size_t>(l) * kPoints + t];
        };
        const auto add = [&sum](int32_t l, float e) { sum[l & 7] += e * e; };
        for (int e = 0; e < length; ++e) {
            for (; p != end && *p < at[e]; ++p)
                add(*p, value(*p));
            add(at[e], row[e] - value(at[e]));
            p += p != end && *p == at[e];
        }
        for (; p != end; ++p)
            add(*p, value(*p));
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
};

} // namespace coterie::COTERIE_LEVEL::kmeans

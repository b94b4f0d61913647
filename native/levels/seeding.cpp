// seeding.cpp: the two passes of greedy k-means++ over the rows of a block.
//
// Distances are direct differences, multiplied and then added in the order of the columns, never
// fused: the same bits at every level. They are summed as whole units, so that sums do not depend
// on the order of the rows.
#include "load_block.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kVectors = W / 4; // float64 vectors for one float32 vector

// Units of W distances, as four-lane integers above the bits of `magic`.
COTERIE_INLINE void add_units(VF distance, D4 magic, I4* sum) {
    float lanes[W];
    store(lanes, distance);
    for (int h = 0; h < kVectors; ++h) {
        const D4 wide = __builtin_convertvector(load<F4>(lanes + 4 * h), D4);
        *sum += (I4)(wide + magic);
    }
}

COTERIE_INLINE int64_t units_of(double distance, double magic) {
    const double rounded = distance + magic;
    int64_t a, b;
    std::memcpy(&a, &rounded, 8);
    std::memcpy(&b, &magic, 8);
    return a - b;
}

COTERIE_INLINE double magic_of(int shift) { return std::ldexp(1.5, 52 - shift); }

// The columns of W rows from `first`, framed; rows beyond the end repeat the last one.
template <int D> COTERIE_INLINE void columns_of(const SeedPass& pass, int64_t first, int count, int d,
                                        double* row, float* out) {
    const Rows& rows = *pass.rows;
    if constexpr (D > 0) {
        VF x[D];
        if (count == W && !rows.sparse()) {
            load_block<D>(rows, pass.frame, first, x);
        } else {
            for (int q = 0; q < W; ++q) {
                read_row(rows, first + (q < count ? q : count - 1), row);
                for (int l = 0; l < D; ++l)
                    x[l][q] = static_cast<float>((row[l] - pass.frame.centre[l]) * pass.frame.unit);
            }
        }
        std::memcpy(out, x, sizeof x);
    } else {
        for (int q = 0; q < W; ++q) {
            read_row(rows, first + (q < count ? q : count - 1), row);
            for (int l = 0; l < d; ++l)
                out[l * W + q] =
                    static_cast<float>((row[l] - pass.frame.centre[l]) * pass.frame.unit);
        }
    }
}

COTERIE_INLINE VF distance_to(const float* columns, const float* seed, int d) {
    VF e = load<VF>(columns) - all(seed[0]);
    VF sum = e * e;
    for (int l = 1; l < d; ++l) {
        e = load<VF>(columns + l * W) - all(seed[l]);
        sum += e * e;
    }
    return sum;
}

// Scratch: candidates as float (trials, d), one block of columns (d, W), one row.
struct Space {
    float *candidates, *columns;
    double* row;
    Space(const SeedPass& pass, char* scratch) {
        const int d = pass.rows->d;
        row = reinterpret_cast<double*>(scratch);
        columns = reinterpret_cast<float*>(row + (d + 7) / 8 * 8);
        candidates = columns + static_cast<size_t>(d) * W;
        for (int t = 0; t < pass.trials; ++t)
            for (int l = 0; l < d; ++l)
                candidates[t * d + l] = static_cast<float>(
                    (pass.candidates[t * d + l] - pass.frame.centre[l]) * pass.frame.unit);
    }
};

template <int D>
void potentials_coarse(const SeedPass& pass, int64_t begin, int64_t end, char* scratch,
                       int64_t* out) {
    const int d = D > 0 ? D : pass.rows->d;
    Space space(pass, scratch);
    const double magic = magic_of(pass.shift);
    int64_t magic_bits;
    std::memcpy(&magic_bits, &magic, 8);
    const D4 magics = D4{} + magic;
    I4 sums[32] = {};
    int64_t blocks = 0;
    for (int64_t first = begin; first < end; first += W) {
        const int count = end - first < W ? static_cast<int>(end - first) : W;
        columns_of<D>(pass, first, count, d, space.row, space.columns);
        if (count == W && !pass.copies) {
            const VF nearest = load<VF>(pass.nearest32 + first);
            for (int t = 0; t < pass.trials; ++t)
                add_units(min(distance_to(space.columns, space.candidates + t * d, d), nearest),
                          magics, &sums[t]);
            blocks += kVectors;
            continue;
        }
        for (int t = 0; t < pass.trials; ++t) {
            const VF e = distance_to(space.columns, space.candidates + t * d, d);
            for (int q = 0; q < count; ++q) {
                const float near = pass.nearest32[first + q];
                const int64_t units = units_of(e[q] < near ? e[q] : near, magic);
                out[t] += pass.copies ? units * pass.copies[first + q] : units;
            }
        }
    }
    // Each addition carried the bits of `magic` along: take them off, modulo 2^64.
    for (int t = 0; t < pass.trials; ++t)
        for (int q = 0; q < 4; ++q)
            out[t] += static_cast<int64_t>(static_cast<uint64_t>(sums[t][q]) -
                                           static_cast<uint64_t>(blocks) *
                                               static_cast<uint64_t>(magic_bits));
}

template <int D>
double approach_coarse(const SeedPass& pass, int64_t begin, int64_t end, char* scratch,
                       int64_t* out) {
    const int d = D > 0 ? D : pass.rows->d;
    Space space(pass, scratch);
    const double magic = magic_of(pass.shift);
    VF largest = {};
    for (int64_t first = begin; first < end; first += W) {
        const int count = end - first < W ? static_cast<int>(end - first) : W;
        float* nearest = pass.nearest32 + first;
        VF now = VF{};
        std::memcpy(&now, nearest, sizeof(float) * count);
        if (pass.trials > 0) {
            columns_of<D>(pass, first, count, d, space.row, space.columns);
            now = min(distance_to(space.columns, space.candidates, d), now);
            std::memcpy(nearest, &now, sizeof(float) * count);
        }
        largest = max(largest, now);
        for (int q = 0; q < count; ++q) {
            const int64_t units = units_of(nearest[q], magic);
            out[pass.bucket[first + q]] += pass.copies ? units * pass.copies[first + q] : units;
        }
    }
    return -smallest(-largest);
}

// The same by float64 and without a frame, where float32 could not tell the rows apart.
double distance_fine(const double* x, const double* seed, int d) {
    double sum = 0.0;
    for (int l = 0; l < d; ++l) {
        const double e = x[l] - seed[l];
        sum += e * e;
    }
    return sum;
}

void potentials_fine(const SeedPass& pass, int64_t begin, int64_t end, char* scratch,
                     int64_t* out) {
    double* row = reinterpret_cast<double*>(scratch);
    const int d = pass.rows->d;
    const double magic = magic_of(pass.shift);
    for (int64_t i = begin; i < end; ++i) {
        read_row(*pass.rows, i, row);
        for (int t = 0; t < pass.trials; ++t) {
            const double e = distance_fine(row, pass.candidates + static_cast<size_t>(t) * d, d);
            const double near = pass.nearest64[i];
            out[t] += units_of(e < near ? e : near, magic) * (pass.copies ? pass.copies[i] : 1);
        }
    }
}

double approach_fine(const SeedPass& pass, int64_t begin, int64_t end, char* scratch,
                     int64_t* out) {
    double* row = reinterpret_cast<double*>(scratch);
    const double magic = magic_of(pass.shift);
    double largest = 0.0;
    for (int64_t i = begin; i < end; ++i) {
        double& near = pass.nearest64[i];
        if (pass.trials > 0) {
            read_row(*pass.rows, i, row);
            const double e = distance_fine(row, pass.candidates, pass.rows->d);
            near = e < near ? e : near;
        }
        largest = near > largest ? near : largest;
        out[pass.bucket[i]] += units_of(near, magic) * (pass.copies ? pass.copies[i] : 1);
    }
    return largest;
}

} // namespace

void potentials(const SeedPass& pass, int64_t begin, int64_t end, char* scratch, int64_t* out) {
    if (!pass.coarse)
        return potentials_fine(pass, begin, end, scratch, out);
    switch (pass.rows->d) {
    case 1: return potentials_coarse<1>(pass, begin, end, scratch, out);
    case 2: return potentials_coarse<2>(pass, begin, end, scratch, out);
    case 3: return potentials_coarse<3>(pass, begin, end, scratch, out);
    case 4: return potentials_coarse<4>(pass, begin, end, scratch, out);
    default: return potentials_coarse<0>(pass, begin, end, scratch, out);
    }
}

double approach(const SeedPass& pass, int64_t begin, int64_t end, char* scratch, int64_t* out) {
    if (!pass.coarse)
        return approach_fine(pass, begin, end, scratch, out);
    switch (pass.rows->d) {
    case 1: return approach_coarse<1>(pass, begin, end, scratch, out);
    case 2: return approach_coarse<2>(pass, begin, end, scratch, out);
    case 3: return approach_coarse<3>(pass, begin, end, scratch, out);
    case 4: return approach_coarse<4>(pass, begin, end, scratch, out);
    default: return approach_coarse<0>(pass, begin, end, scratch, out);
    }
}

} // namespace coterie::COTERIE_LEVEL

// seeding.cpp: the two passes of greedy k-means++ over the rows of a block.
//
// Distances are direct differences, multiplied and then added in the order of the columns, never
// fused: the same bits at every level. They are summed as whole units, so that sums do not depend
// on the order of the rows.
#include "load_block.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

COTERIE_INLINE int64_t units_of(double distance, double magic) {
    const double rounded = distance + magic;
    int64_t a, b;
    std::memcpy(&a, &rounded, 8);
    std::memcpy(&b, &magic, 8);
    return a - b;
}

COTERIE_INLINE double magic_of(int shift) { return std::ldexp(1.5, 52 - shift); }

// The columns of W rows from `first`, framed; rows beyond the end repeat the last one.
template <int D>
COTERIE_INLINE void columns_of(const SeedPass& pass, int64_t first, int count, int d, double* row,
                               float* out) {
    const Rows& rows = *pass.rows;
    if constexpr (D > 0) {
        if (count == W && !rows.sparse()) {
            VF x[D];
            load_block<D>(rows, pass.frame, first, x);
            for (int l = 0; l < D; ++l)
                store(out + l * W, x[l]);
            return;
        }
    }
    for (int q = 0; q < W; ++q) {
        read_row(rows, first + (q < count ? q : count - 1), row);
        for (int l = 0; l < d; ++l)
            out[l * W + q] = static_cast<float>((row[l] - pass.frame.centre[l]) * pass.frame.unit);
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

// The same with a seed in registers.
template <int D> COTERIE_INLINE VF distance_to(const float* columns, const VF* seed) {
    VF e = load<VF>(columns) - seed[0];
    VF sum = e * e;
    for (int l = 1; l < D; ++l) {
        e = load<VF>(columns + l * W) - seed[l];
        sum += e * e;
    }
    return sum;
}

// Blocks of W rows that are turned into columns together, so that every candidate finds them in
// the first-level cache.
constexpr int run_of(int d) { return d <= 4 ? 64 : d <= 64 ? 256 / d : 4; }

// Scratch: candidates as float (trials, d), columns of a few blocks, one row.
struct Space {
    float *candidates, *columns;
    double* row;
    Space(const SeedPass& pass, char* scratch) {
        const int d = pass.rows->d;
        row = reinterpret_cast<double*>(scratch);
        candidates = reinterpret_cast<float*>(row + (d + 7) / 8 * 8);
        columns = candidates + (static_cast<size_t>(pass.trials) * d + 15) / 16 * 16;
        for (int t = 0; t < pass.trials; ++t)
            for (int l = 0; l < d; ++l)
                candidates[t * d + l] = static_cast<float>(
                    (pass.candidates[t * d + l] - pass.frame.centre[l]) * pass.frame.unit);
    }
};

// T candidates at once against whole blocks of rows that count once. A run is short enough for
// sums of 24-bit units in 32-bit lanes.
template <int D, int T>
COTERIE_INLINE void add_potentials(const float* columns, int blocks, const float* candidates, int d,
                                   const float* nearest, float scale, int64_t* out) {
    VI sums[T] = {};
    VF seed[T][D > 0 ? D : 1]; // few columns: the candidates stay in registers
    for (int t = 0; t < T && D > 0; ++t)
        for (int l = 0; l < D; ++l)
            seed[t][l] = all(candidates[t * d + l]);
    for (int b = 0; b < blocks; ++b) {
        const VF near = load<VF>(nearest + b * W);
        const float* x = columns + static_cast<size_t>(b) * d * W;
        for (int t = 0; t < T; ++t) {
            VF distance;
            if constexpr (D > 0)
                distance = distance_to<D>(x, seed[t]);
            else
                distance = distance_to(x, candidates + t * d, d);
            sums[t] += rounded(min(distance, near) * scale);
        }
    }
    for (int t = 0; t < T; ++t)
        for (int q = 0; q < W; ++q)
            out[t] += sums[t][q];
}

template <int D>
void potentials_coarse(const SeedPass& pass, int64_t begin, int64_t end, char* scratch,
                       int64_t* out) {
    const int d = D > 0 ? D : pass.rows->d, run = run_of(d);
    Space space(pass, scratch);
    const float scale = std::ldexp(1.f, pass.shift);
    for (int64_t first = begin; first < end; first += run * W) {
        const int rows = end - first < run * W ? static_cast<int>(end - first) : run * W;
        const float* nearest = pass.nearest32 + first;
        for (int b = 0; b * W < rows; ++b)
            columns_of<D>(pass, first + b * W, rows - b * W < W ? rows - b * W : W, d, space.row,
                          space.columns + static_cast<size_t>(b) * d * W);
        const int whole = pass.copies ? 0 : rows / W;
        int t = 0;
        for (; t + 3 <= pass.trials; t += 3)
            add_potentials<D, 3>(space.columns, whole, space.candidates + t * d, d, nearest, scale,
                                 out + t);
        for (; t < pass.trials; ++t)
            add_potentials<D, 1>(space.columns, whole, space.candidates + t * d, d, nearest, scale,
                                 out + t);
        for (int b = whole; b * W < rows; ++b)
            for (t = 0; t < pass.trials; ++t) {
                const VF e = distance_to(space.columns + static_cast<size_t>(b) * d * W,
                                         space.candidates + t * d, d);
                for (int i = b * W; i < rows && i < (b + 1) * W; ++i) {
                    const float distance = e[i - b * W] < nearest[i] ? e[i - b * W] : nearest[i];
                    const int64_t units = std::lrintf(distance * scale);
                    out[t] += units * (pass.copies ? pass.copies[first + i] : 1);
                }
            }
    }
}

// W rows (the last `W - count` of them repeated) meet the new seed. Only rows that come nearer
// change the histogram, unless it is made anew.
template <int D>
COTERIE_INLINE VF approach_block(const SeedPass& pass, int64_t first, int count, Space& space,
                                 double magic, float* nearest, int64_t* out) {
    const int d = D > 0 ? D : pass.rows->d;
    const VF before = load<VF>(nearest);
    VF now = before;
    if (pass.trials > 0) {
        columns_of<D>(pass, first, count, d, space.row, space.columns);
        now = min(distance_to(space.columns, space.candidates, d), before);
    }
    uint32_t nearer = bits(now < before);
    if (nearer)
        store(nearest, now);
    if (pass.anew)
        nearer = (1ull << W) - 1;
    for (nearer &= (1ull << count) - 1; nearer; nearer &= nearer - 1) {
        const int q = __builtin_ctz(nearer);
        const int64_t units =
            units_of(now[q], magic) - (pass.anew ? 0 : units_of(before[q], magic));
        out[pass.bucket[first + q]] += units * (pass.copies ? pass.copies[first + q] : 1);
    }
    return now;
}

template <int D>
double approach_coarse(const SeedPass& pass, int64_t begin, int64_t end, char* scratch,
                       int64_t* out) {
    Space space(pass, scratch);
    const double magic = magic_of(pass.shift);
    VF largest = {};
    int64_t first = begin;
    for (; first + W <= end; first += W)
        largest = max(largest,
                      approach_block<D>(pass, first, W, space, magic, pass.nearest32 + first, out));
    if (first < end) {
        const int count = static_cast<int>(end - first);
        float nearest[W] = {};
        std::memcpy(nearest, pass.nearest32 + first, sizeof(float) * count);
        largest = max(largest, approach_block<D>(pass, first, count, space, magic, nearest, out));
        std::memcpy(pass.nearest32 + first, nearest, sizeof(float) * count);
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
    for (int64_t i = begin; i < end; ++i) {
        read_row(*pass.rows, i, row);
        for (int t = 0; t < pass.trials; ++t) {
            const double e = distance_fine(row, pass.candidates + static_cast<size_t>(t) * d, d);
            const double near = pass.nearest64[i];
            const int64_t units = std::llrint(std::ldexp(e < near ? e : near, pass.shift));
            out[t] += units * (pass.copies ? pass.copies[i] : 1);
        }
    }
}

double approach_fine(const SeedPass& pass, int64_t begin, int64_t end, char* scratch,
                     int64_t* out) {
    double* row = reinterpret_cast<double*>(scratch);
    const double magic = magic_of(pass.shift);
    double largest = 0.0;
    for (int64_t i = begin; i < end; ++i) {
        const double before = pass.nearest64[i];
        double now = before;
        if (pass.trials > 0) {
            read_row(*pass.rows, i, row);
            const double e = distance_fine(row, pass.candidates, pass.rows->d);
            now = e < before ? e : before;
            pass.nearest64[i] = now;
        }
        largest = now > largest ? now : largest;
        if (pass.anew || now < before)
            out[pass.bucket[i]] +=
                (units_of(now, magic) - (pass.anew ? 0 : units_of(before, magic))) *
                (pass.copies ? pass.copies[i] : 1);
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

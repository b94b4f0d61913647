// seeding_low.cpp: passes of greedy k-means++ for few columns, over a turned float32 copy.
//
// Distances are direct differences, multiplied and then added in the order of the columns, never
// fused: the same bits at every level. The copy holds W rows by columns. Turning the rows anew in
// each of the two passes per seed took longer than everything else together.
#include "load_block.hpp"
#include "seed_units.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kRun = 64; // blocks of W rows whose units of 24 bits fit into lanes of 32

template <int D> struct Seed {
    VF at[D];
    COTERIE_INLINE Seed() = default;
    COTERIE_INLINE Seed(const double* point, const Frame& frame) {
        for (int l = 0; l < D; ++l)
            at[l] = all(static_cast<float>((point[l] - frame.centre[l]) * frame.unit));
    }
    COTERIE_INLINE VF distance(const float* columns) const {
        VF e = load<VF>(columns) - at[0];
        VF sum = e * e;
        for (int l = 1; l < D; ++l) {
            e = load<VF>(columns + l * W) - at[l];
            sum += e * e;
        }
        return sum;
    }
};

// T candidates at once against whole blocks of rows that count once.
template <int D, int T>
COTERIE_INLINE void add_potentials(const SeedPass& pass, int64_t first, int blocks, int candidate,
                                   float scale, int64_t* out) {
    VI sums[T] = {};
    Seed<D> seeds[T];
    for (int t = 0; t < T; ++t)
        seeds[t] = Seed<D>(pass.candidates + (candidate + t) * D, pass.frame);
    for (int b = 0; b < blocks; ++b) {
        const VF near = load<VF>(pass.nearest32 + first + b * W);
        const float* columns = pass.columns + (first + b * W) * D;
        for (int t = 0; t < T; ++t)
            sums[t] += rounded(min(seeds[t].distance(columns), near) * scale);
    }
    for (int t = 0; t < T; ++t)
        for (int q = 0; q < W; ++q)
            out[candidate + t] += sums[t][q];
}

template <int D> void potentials(const SeedPass& pass, int64_t begin, int64_t end, int64_t* out) {
    const float scale = std::ldexp(1.f, pass.shift);
    for (int64_t first = begin; first < end; first += kRun * W) {
        const int rows = end - first < kRun * W ? static_cast<int>(end - first) : kRun * W;
        const int whole = pass.copies ? 0 : rows / W;
        int t = 0;
        for (; t + 3 <= pass.trials; t += 3)
            add_potentials<D, 3>(pass, first, whole, t, scale, out);
        for (; t < pass.trials; ++t)
            add_potentials<D, 1>(pass, first, whole, t, scale, out);
        for (t = 0; t < pass.trials; ++t) {
            const Seed<D> seed(pass.candidates + t * D, pass.frame);
            for (int b = whole * W; b < rows; b += W)
                out[t] += units_left(pass, first + b, rows - b < W ? rows - b : W,
                                     seed.distance(pass.columns + (first + b) * D), scale);
        }
    }
}

template <int D> double approach(const SeedPass& pass, int64_t begin, int64_t end, int64_t* out) {
    const Seed<D> seed(pass.candidates, pass.frame);
    const double magic = magic_of(pass.shift);
    VF largest = {};
    for (int64_t first = begin; first < end; first += W) {
        const int count = end - first < W ? static_cast<int>(end - first) : W;
        const VF distance = seed.distance(pass.columns + first * D);
        largest = max(largest, approach_rows(pass, first, count, distance, magic, out));
    }
    return -smallest(-largest);
}

// Rows beyond the end repeat the last one.
template <int D> void turn(const SeedPass& pass, int64_t begin, int64_t end, float* columns) {
    const Rows& rows = *pass.rows;
    for (int64_t first = begin; first < end; first += W) {
        float* out = columns + first * D;
        if (end - first >= W && !rows.sparse()) {
            VF x[D];
            load_block<D>(rows, pass.frame, first, x);
            for (int l = 0; l < D; ++l)
                store(out + l * W, x[l]);
            continue;
        }
        for (int q = 0; q < W; ++q) {
            double row[D];
            read_row(rows, first + q < end ? first + q : end - 1, row);
            for (int l = 0; l < D; ++l)
                out[l * W + q] =
                    static_cast<float>((row[l] - pass.frame.centre[l]) * pass.frame.unit);
        }
    }
}

// Calls f<D> for the number of columns.
#define COTERIE_BY_COLUMNS(call)                                                                   \
    switch (pass.rows->d) {                                                                        \
    case 1: return call(1);                                                                        \
    case 2: return call(2);                                                                        \
    case 3: return call(3);                                                                        \
    case 4: return call(4);                                                                        \
    case 5: return call(5);                                                                        \
    case 6: return call(6);                                                                        \
    case 7: return call(7);                                                                        \
    default: return call(8);                                                                       \
    }

} // namespace

void potentials_low(const SeedPass& pass, int64_t begin, int64_t end, int64_t* out) {
#define COTERIE_CALL(D) potentials<D>(pass, begin, end, out)
    COTERIE_BY_COLUMNS(COTERIE_CALL)
#undef COTERIE_CALL
}

double approach_low(const SeedPass& pass, int64_t begin, int64_t end, int64_t* out) {
#define COTERIE_CALL(D) approach<D>(pass, begin, end, out)
    COTERIE_BY_COLUMNS(COTERIE_CALL)
#undef COTERIE_CALL
}

void turn_columns(const SeedPass& pass, int64_t begin, int64_t end, float* columns) {
#define COTERIE_CALL(D) turn<D>(pass, begin, end, columns)
    COTERIE_BY_COLUMNS(COTERIE_CALL)
#undef COTERIE_CALL
}

} // namespace coterie::COTERIE_LEVEL

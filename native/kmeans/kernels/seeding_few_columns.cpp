// seeding_few_columns.cpp: passes of greedy k-means++ for few columns, over a transposed float32
// copy.
//
// Distances are direct differences, multiplied and then added in the order of the columns, never
// fused: the same bits at every level. The copy holds W rows by columns. Turning the rows anew in
// each of the two passes per seed took longer than everything else together.
//
// A run of rows is passed over where no row of its box can be nearer to the new seed than the
// farthest of the run is to its own. The distance of a box is computed by the same operations as
// that of a row. Each of them is monotone, rounding included, so the box is never too far.
#include "core/scratch.hpp"
#include "kmeans/kernels/load_block.hpp"
#include "kmeans/kernels/seed_units.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {
namespace {

template <int D> struct Seed {
    VF at[D];
    COTERIE_INLINE Seed() = default;
    COTERIE_INLINE explicit Seed(const float* point) {
        for (int l = 0; l < D; ++l)
            at[l] = all(point[l]);
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
    // Of W boxes: (2, D, W).
    COTERIE_INLINE VF distance_of_boxes(const float* low) const {
        const float* high = low + D * W;
        VF sum = {};
        for (int l = 0; l < D; ++l) {
            const VF below = load<VF>(low + l * W) - at[l], above = at[l] - load<VF>(high + l * W);
            const VF e = max(max(below, above), VF{});
            sum += e * e;
        }
        return sum;
    }
};

template <int D>
COTERIE_INLINE void scale_point(const SeedPass& pass, const double* point, float* out) {
    for (int l = 0; l < D; ++l)
        out[l] = static_cast<float>((point[l] - pass.scaling.centre[l]) * pass.scaling.unit);
}

COTERIE_INLINE int at_most(int64_t count, int most) {
    return count < most ? static_cast<int>(count) : most;
}

// Units of a run of `rows` rows with the candidates who[0 .. T). Units have 24 bits, so that those
// of a run fit into lanes of 32. Beyond the end distances are zero.
template <int D, int T>
COTERIE_INLINE void add_candidates(const SeedPass& pass, int64_t first, int rows, float scale,
                                   const float* points, const int32_t* who, int64_t* out) {
    static_assert(kRunRows / W < 128);
    Seed<D> seeds[T];
    for (int t = 0; t < T; ++t)
        seeds[t] = Seed<D>(points + who[t] * D);
    VI sums[T] = {};
    for (int b = 0; b < rows; b += W) {
        const VF near = load<VF>(pass.nearest32 + first + b);
        const float* columns = pass.columns + (first + b) * D;
        for (int t = 0; t < T; ++t)
            sums[t] += rounded(min(seeds[t].distance(columns), near) * scale);
    }
    for (int t = 0; t < T; ++t)
        for (int q = 0; q < W; ++q)
            out[who[t]] += sums[t][q];
}

// The same where rows count more than once.
template <int D>
void add_candidate(const SeedPass& pass, int64_t first, int rows, float scale, const float* points,
                   int who, int64_t* out) {
    const Seed<D> seed(points + who * D);
    for (int b = 0; b < rows; b += W)
        out[who] += units_left(pass, first + b, at_most(rows - b, W),
                               seed.distance(pass.columns + (first + b) * D), scale);
}

// The same without a candidate.
int64_t units_of_run(const SeedPass& pass, int64_t first, int rows, float scale) {
    int64_t sum = 0;
    if (!pass.copies) {
        VI sums = {};
        for (int b = 0; b < rows; b += W)
            sums += rounded(load<VF>(pass.nearest32 + first + b) * scale);
        for (int q = 0; q < W; ++q)
            sum += sums[q];
        return sum;
    }
    for (int b = 0; b < rows; b += W)
        sum += units_left(pass, first + b, at_most(rows - b, W), all(__builtin_inff()), scale);
    return sum;
}

struct Candidates {
    float* points;     // (trials, d) scaled
    uint32_t* reached; // (trials,) bits of W runs
    int32_t* who;      // (trials,) those that reach a run

    Candidates(const SeedPass& pass, Scratch& scratch) {
        points = scratch.take<float>(static_cast<size_t>(pass.trials) * pass.rows->d);
        reached = scratch.take<uint32_t>(pass.trials);
        who = scratch.take<int32_t>(pass.trials);
    }
};

// Most candidates reach few runs: all runs are counted without them, and those reached again.
template <int D>
void potentials(const SeedPass& pass, int64_t begin, int64_t end, void* scratch, int64_t* out) {
    const float scale = std::ldexp(1.f, pass.shift);
    const SeedRuns& runs = pass.runs;
    Scratch pieces(scratch);
    const auto [points, reached, who] = Candidates(pass, pieces);
    for (int t = 0; t < pass.trials; ++t)
        scale_point<D>(pass, pass.candidates + t * D, points + t * D);
    int64_t without = 0;
    for (; begin < end; begin += W * kRunRows) {
        const int64_t run = begin / kRunRows;
        const int count = at_most((end - begin + kRunRows - 1) / kRunRows, W);
        const VF farthest = load<VF>(runs.farthest + run);
        uint32_t by_any = 0;
        for (int t = 0; t < pass.trials; ++t) {
            const Seed<D> seed(points + t * D);
            reached[t] = bits(seed.distance_of_boxes(runs.boxes + run * 2 * D) < farthest);
            by_any |= reached[t];
        }
        for (int r = 0; r < count; ++r) {
            const int64_t first = begin + r * kRunRows;
            const int rows = at_most(end - first, kRunRows);
            if (runs.shift[run + r] != pass.shift) {
                runs.units[run + r] = units_of_run(pass, first, rows, scale);
                runs.shift[run + r] = pass.shift;
            }
            without += runs.units[run + r];
            if (!(by_any >> r & 1))
                continue;
            int some = 0;
            for (int t = 0; t < pass.trials; ++t)
                if (reached[t] >> r & 1) {
                    who[some++] = t;
                    out[t] -= runs.units[run + r];
                }
            int t = 0;
            if (pass.copies)
                for (; t < some; ++t)
                    add_candidate<D>(pass, first, rows, scale, points, who[t], out);
            for (; t + 3 <= some; t += 3)
                add_candidates<D, 3>(pass, first, rows, scale, points, who + t, out);
            for (; t < some; ++t)
                add_candidates<D, 1>(pass, first, rows, scale, points, who + t, out);
        }
    }
    for (int t = 0; t < pass.trials; ++t)
        out[t] += without;
}

template <int D> double approach(const SeedPass& pass, int64_t begin, int64_t end, int64_t* out) {
    float point[D];
    scale_point<D>(pass, pass.candidates, point);
    const Seed<D> seed(point);
    const SeedRuns& runs = pass.runs;
    const double magic = magic_of(pass.shift);
    VF largest = {};
    for (; begin < end; begin += W * kRunRows) {
        const int64_t run = begin / kRunRows;
        uint32_t reached =
            bits(seed.distance_of_boxes(runs.boxes + run * 2 * D) < load<VF>(runs.farthest + run));
        const int count = at_most((end - begin + kRunRows - 1) / kRunRows, W);
        if (pass.anew)
            reached = (1ull << count) - 1;
        for (; reached; reached &= reached - 1) {
            const int r = __builtin_ctz(reached);
            const int64_t first = begin + r * kRunRows;
            const int rows = at_most(end - first, kRunRows);
            VF farthest = {};
            for (int b = 0; b < rows; b += W) {
                const VF distance = seed.distance(pass.columns + (first + b) * D);
                farthest = max(farthest, approach_rows(pass, first + b, at_most(rows - b, W),
                                                       distance, magic, out));
            }
            runs.farthest[run + r] = -smallest(-farthest);
            runs.shift[run + r] = SeedRuns::kUncounted;
        }
        largest = max(largest, load<VF>(runs.farthest + run));
    }
    return -smallest(-largest);
}

// Rows beyond the end repeat the last one.
template <int D>
void transpose_runs(const SeedPass& pass, int64_t begin, int64_t end, float* columns) {
    const Rows& rows = *pass.rows;
    for (int64_t first = begin; first < end; first += W) {
        float* out = columns + first * D;
        if (end - first >= W && !rows.sparse()) {
            VF x[(D + 3) / 4 * 4];
            if (pass.order) {
                int64_t index[W];
                for (int q = 0; q < W; ++q)
                    index[q] = pass.row_at(first + q);
                gather_block(rows, pass.scaling, index, D, x);
            } else {
                load_block<D>(rows, pass.scaling, first, x);
            }
            for (int l = 0; l < D; ++l)
                store(out + l * W, x[l]);
            continue;
        }
        for (int q = 0; q < W; ++q) {
            double row[D];
            read_row(rows, pass.row_at(first + q < end ? first + q : end - 1), row);
            float point[D];
            scale_point<D>(pass, row, point);
            for (int l = 0; l < D; ++l)
                out[l * W + q] = point[l];
        }
    }
    for (int64_t first = begin; first < end; first += kRunRows) {
        const int64_t run = first / kRunRows;
        float* box = pass.runs.boxes + run / W * (2 * D * W) + run % W;
        for (int l = 0; l < D; ++l) {
            VF low = all(__builtin_inff()), high = -low;
            for (int b = 0; b < at_most(end - first, kRunRows); b += W) {
                const VF x = load<VF>(columns + (first + b) * D + l * W);
                low = min(low, x);
                high = max(high, x);
            }
            box[l * W] = smallest(low);
            box[(D + l) * W] = -smallest(-high);
        }
    }
}

template <int D>
void cells(const SeedPass& pass, int64_t begin, int64_t end, const float* cuts, int bits,
           uint16_t* out) {
    const int count = (1 << bits) - 1;
    for (int64_t first = begin; first < end; first += W) {
        VI cell = {};
        for (int l = 0; l < D; ++l) {
            const VF x = load<VF>(pass.columns + first * D + l * W);
            VI below = {};
            for (int c = 0; c < count; ++c)
                below -= x > all(cuts[l * count + c]);
            for (int b = 0; b < bits; ++b)
                cell |= (below >> b & 1) << (b * D + l);
        }
        for (int q = 0; q < at_most(end - first, W); ++q)
            out[first - begin + q] = static_cast<uint16_t>(cell[q]);
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

size_t scratch_few_columns(const SeedPass& pass) {
    Scratch count;
    Candidates(pass, count);
    return count.used;
}

void potentials_few_columns(const SeedPass& pass, int64_t begin, int64_t end, void* scratch,
                            int64_t* out) {
#define COTERIE_CALL(D) potentials<D>(pass, begin, end, scratch, out)
    COTERIE_BY_COLUMNS(COTERIE_CALL)
#undef COTERIE_CALL
}

double approach_few_columns(const SeedPass& pass, int64_t begin, int64_t end, int64_t* out) {
#define COTERIE_CALL(D) approach<D>(pass, begin, end, out)
    COTERIE_BY_COLUMNS(COTERIE_CALL)
#undef COTERIE_CALL
}

void transpose_columns(const SeedPass& pass, int64_t begin, int64_t end, float* columns) {
#define COTERIE_CALL(D) transpose_runs<D>(pass, begin, end, columns)
    COTERIE_BY_COLUMNS(COTERIE_CALL)
#undef COTERIE_CALL
}

void find_cells(const SeedPass& pass, int64_t begin, int64_t end, const float* cuts, int bits,
                uint16_t* out) {
#define COTERIE_CALL(D) cells<D>(pass, begin, end, cuts, bits, out)
    COTERIE_BY_COLUMNS(COTERIE_CALL)
#undef COTERIE_CALL
}

} // namespace coterie::COTERIE_LEVEL::kmeans

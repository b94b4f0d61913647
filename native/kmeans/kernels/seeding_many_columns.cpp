// seeding_many_columns.cpp: passes of greedy k-means++ for more columns, over rows as they lie.
//
// Column l is added in lane l mod 8, and the eight lanes by pairs, never fused: the same bits at
// every level, and no row needs to be transposed. Vectors have eight lanes at every level.
#include "kmeans/kernels/seed_sparse.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {
namespace {

constexpr int kGroup = 16; // rows together: a whole number of vectors at every level

COTERIE_INLINE F8 pairs(F8 a, F8 b) {
    return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) +
           __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}

// out: (8,) distances of eight rows from one point, all of `width` floats.
COTERIE_INLINE void eight_distances(const float* rows, const float* point, int width, float* out) {
    F8 sum[8] = {};
    for (int l = 0; l < width; l += 8) {
        const F8 p = load<F8>(point + l);
        for (int r = 0; r < 8; ++r) {
            const F8 e = load<F8>(rows + r * width + l) - p;
            sum[r] += e * e;
        }
    }
    const F8 a = pairs(pairs(sum[0], sum[1]), pairs(sum[2], sum[3]));
    const F8 b = pairs(pairs(sum[4], sum[5]), pairs(sum[6], sum[7]));
    store(out, __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
                   __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15));
}

// Points and rows as scaled float32, zero beyond d.
struct ScaledPoints {
    const SeedPass& pass;
    int d, width;
    float *points, *rows;

    ScaledPoints(const SeedPass& pass_, Scratch& scratch)
        : pass(pass_), d(pass.rows->d), width((d + 7) / 8 * 8),
          points(scratch.take<float>(static_cast<size_t>(pass.trials) * width)),
          rows(scratch.take<float>(static_cast<size_t>(kGroup) * width)) {
        for (int t = 0; scratch && t < pass.trials; ++t)
            scale(pass.candidates + static_cast<size_t>(t) * d,
                  points + static_cast<size_t>(t) * width);
    }

    template <class T> void scale(const T* x, float* out) const {
        for (int l = 0; l < d; ++l)
            out[l] = static_cast<float>((x[l] - pass.scaling.centre[l]) * pass.scaling.unit);
        for (int l = d; l < width; ++l)
            out[l] = 0.f;
    }

    // kGroup rows from `first`; those beyond the end repeat the last one.
    const float* group(int64_t first, int64_t end) const {
        const Rows& all = *pass.rows;
        const float* plain = static_cast<const float*>(all.values) + first * d;
        if (all.kind == Kind::float32 && pass.scaling.plain && d == width && first + kGroup <= end)
            return plain;
        for (int r = 0; r < kGroup; ++r) {
            const int64_t i = first + r < end ? first + r : end - 1;
            float* out = rows + r * width;
            if (all.kind == Kind::float64)
                scale(static_cast<const double*>(all.values) + i * d, out);
            else
                scale(static_cast<const float*>(all.values) + i * d, out);
        }
        return rows;
    }
};

// Calls each(first row, how many of W rows are real, t, distances) for all rows and points.
template <class T, class Each>
COTERIE_INLINE void for_entries(const SeedPass& pass, int64_t begin, int64_t end, void* scratch,
                                Each each) {
    constexpr int kPoints = SparseDistances::kPoints;
    for (int t = 0; t < pass.trials; t += kPoints) {
        const int count = pass.trials - t < kPoints ? pass.trials - t : kPoints;
        Scratch pieces(scratch);
        SparseDistances find(pass, t, count, pieces);
        alignas(64) float distances[kPoints * W] = {};
        for (int64_t first = begin; first < end; first += W) {
            const int real = end - first < W ? static_cast<int>(end - first) : W;
            for (int q = 0; q < real; ++q)
                find.template row_distances<T>(first + q, pass.nearest32[first + q], distances, q,
                                               W);
            for (int c = 0; c < count; ++c)
                each(first, real, t + c, load<VF>(distances + c * W));
        }
    }
}

template <class Each>
COTERIE_INLINE void for_distances(const SeedPass& pass, int64_t begin, int64_t end, void* scratch,
                                  Each each) {
    if (pass.rows->kind == Kind::csr64)
        return for_entries<double>(pass, begin, end, scratch, each);
    if (pass.rows->kind == Kind::csr32)
        return for_entries<float>(pass, begin, end, scratch, each);
    Scratch pieces(scratch);
    const ScaledPoints scaled(pass, pieces);
    const int width = scaled.width;
    for (int64_t first = begin; first < end; first += kGroup) {
        const float* rows = scaled.group(first, end);
        for (int t = 0; t < pass.trials; ++t) {
            const float* point = scaled.points + static_cast<size_t>(t) * width;
            alignas(64) float distances[kGroup];
            eight_distances(rows, point, width, distances);
            eight_distances(rows + 8 * width, point, width, distances + 8);
            for (int q = 0; q < kGroup && first + q < end; q += W) {
                const int64_t left = end - first - q;
                each(first + q, left < W ? static_cast<int>(left) : W, t, load<VF>(distances + q));
            }
        }
    }
}

} // namespace

size_t scratch_many_columns(const SeedPass& pass) {
    Scratch count;
    if (pass.rows->sparse())
        SparseDistances(pass, 0, 0, count);
    else
        ScaledPoints(pass, count);
    return count.used;
}

void potentials_many_columns(const SeedPass& pass, int64_t begin, int64_t end, void* scratch,
                             int64_t* out) {
    const float scale = std::ldexp(1.f, pass.shift);
    for_distances(pass, begin, end, scratch, [&](int64_t first, int count, int t, VF distance) {
        out[t] += units_left(pass, first, count, distance, scale);
    });
}

double approach_many_columns(const SeedPass& pass, int64_t begin, int64_t end, void* scratch,
                             int64_t* out) {
    const double magic = magic_of(pass.shift);
    VF largest = {};
    for_distances(pass, begin, end, scratch, [&](int64_t first, int count, int, VF distance) {
        largest = max(largest, approach_rows(pass, first, count, distance, magic, out));
    });
    return -smallest(-largest);
}

} // namespace coterie::COTERIE_LEVEL::kmeans

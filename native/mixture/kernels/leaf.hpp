// leaf.hpp: a leaf of rows and its responsibilities, for all mixture kernels.
//
// Rows are kept eight by eight: in a group, column after column of eight rows. Logs of densities
// become responsibilities in place: (groups, k, 8).
#pragma once

#include "core/scratch.hpp"
#include "mixture/kernels.hpp"
#include "mixture/triangles.hpp"
#include "simd/exponential.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

constexpr int kGroupsTogether = kParts > 1 ? 1 : 4; // groups of rows that meet components together
constexpr int kSomeGroups = 8;                      // of rows: few enough for the nearest cache

// Calls work<n>(), for 1 <= n <= Most.
template <int Most, class Work> COTERIE_INLINE void pick(int n, const Work& work) {
    if constexpr (Most > 1)
        if (n < Most)
            return pick<Most - 1>(n, work);
    work.template operator()<Most>();
}

// Four rows of four columns become four columns of eight rows, of which these are one half.
COTERIE_INLINE void store_transposed(D4 r0, D4 r1, D4 r2, D4 r3, double* out) {
    const auto column = transposed(r0, r1, r2, r3);
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q)
        store(out + 8 * q, column.at[q]);
}

// Moments about the origin are moved to a centre: does the second moment of a column, or of all,
// keep its digits? Not if the component has become narrow beside its distance from the origin.
COTERIE_INLINE bool keeps_digits(double about_origin, double about_centre) {
    return about_origin <= 2 * kNearOrigin * about_centre;
}

// Adds up logarithms of densities, base 2 until they are asked for: 2^top times total. One
// logarithm is taken at the end, of a product, whose powers of two are kept apart.
class LogLikelihood {
public:
    LogLikelihood();
    void add(const double* top, const double* total, int groups);
    void add(double log) { logs_ += log; }
    double value() const;

private:
    VD tops_[kParts] = {}, product_[kParts];
    VL powers_[kParts] = {};
    double logs_ = 0.0;
};

// The destination of rows that are read four or eight at a time. Kernels use a copy of it: stores
// cannot change a copy, so that it stays in registers.
struct Squares {
    double *columns, *rows; // of a leaf
    int d, padded;
    const double *origin, *scale;

    // Four columns, from j on, of the eight rows of group g, which lie `stride` apart.
    template <class T>
    COTERIE_INLINE void read_four(const T* x, int64_t stride, int g, int j) const {
        const D4 from = load<D4>(origin + j), times = load<D4>(scale + j);
        double* out = columns + 8 * (g * padded + j);
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half, out += 4) {
            D4 row[4];
#pragma GCC unroll 4
            for (int q = 0; q < 4; ++q, x += stride) {
                row[q] = (load4(x) - from) * times;
                if (rows)
                    store(rows + (8 * g + 4 * half + q) * padded + j, row[q]);
            }
            store_transposed(row[0], row[1], row[2], row[3], out);
        }
    }

#if defined(__AVX512F__)
    // Eight columns.
    template <class T> COTERIE_INLINE void read_eight(const T* x, int g, int j) const {
        const VD from = load<VD>(origin + j), times = load<VD>(scale + j);
        double* out = columns + 8 * (g * padded + j);
        VD row[8];
#pragma GCC unroll 8
        for (int q = 0; q < 8; ++q, x += d)
            row[q] = (load8(x) - from) * times;
        if (rows)
            for (int q = 0; q < 8; ++q)
                store(rows + (8 * g + q) * padded + j, row[q]);
        transpose_eight(row);
#pragma GCC unroll 8
        for (int q = 0; q < 8; ++q)
            store(out + 8 * q, row[q]);
    }
#endif
};

// 2^x in place; the vectors beyond the last, up to a multiple of kTogether, are lost.
void exponentials(double* x, int vectors);

// Below a row's largest log density, one that is not above this counts as zero. limits: (k,) or
// null.
COTERIE_INLINE double least_log(const double* limits, int c) {
    return limits ? std::max(limits[c], -1021.0) : -1021.0;
}

// A leaf, in scratch of one thread.
struct Leaf {
    int k, d, padded; // padded: d rounded up to 4
    int n = 0;        // rows in this leaf
    int groups = 0;
    int64_t first = 0;        // in the block
    double* columns;          // (groups, padded, 8); or null
    double* responsibilities; // (groups, k, 8), and room for kTogether vectors
    double* top;              // (256,) log density of which each row's exponentials are parts
    double* total;            // (256,) their sum
    double* share;            // (256,) weight / total; zero beyond the last row
    double* rows = nullptr;   // (256, padded) the same, row by row, where a kernel wants it
    LogLikelihood likelihood; // of all leaves so far

    Leaf(const MixtureTask& task, Scratch& scratch)
        : k(task.shape.k), d(task.shape.d), padded((d + 3) / 4 * 4) {
        columns = scratch.take<double>(static_cast<size_t>(kLeafRows) * padded);
        responsibilities =
            scratch.take<double>(static_cast<size_t>(kLeafRows) * k + kTogether * kLanes);
        top = scratch.take<double>(kLeafRows);
        total = scratch.take<double>(kLeafRows);
        share = scratch.take<double>(kLeafRows);
    }
    double* group(int g) const { return columns + g * 8 * padded; }
    double* logs(int g) const { return responsibilities + static_cast<size_t>(g) * 8 * k; }

    // From now on rows [begin, end).
    void place(int64_t begin, int64_t end) {
        first = begin;
        n = static_cast<int>(end - begin);
        groups = (n + 7) / 8;
    }
    // Reads them; rows beyond the last are zeros.
    void read(const MixtureTask& task) {
        if (task.rows.block->kind == Kind::float32)
            read_from(static_cast<const float*>(task.rows.block->values) + first * d, task);
        else
            read_from(static_cast<const double*>(task.rows.block->values) + first * d, task);
    }

    template <class T> void read_from(const T* x, const MixtureTask& task) {
        if (!columns)
            return read_rows(x, task);
        if (d == 2)
            return read_few<2>(x, task);
        if (d == 3)
            return read_few<3>(x, task);
        const Squares squares{columns, rows, d, padded, task.rows.origin, task.rows.scale};
        const int whole = n / 8; // groups
        for (int g = 0; g < whole; ++g) {
            const T* row = x + static_cast<int64_t>(8 * g) * squares.d;
            int j = 0;
#if defined(__AVX512F__)
            for (; j + 8 <= squares.d; j += 8)
                squares.read_eight(row + j, g, j);
#endif
            for (; j + 4 <= squares.d; j += 4)
                squares.read_four(row + j, squares.d, g, j);
            if (j < squares.d)
                read_edge(x, squares, g, j);
        }
        for (int g = whole; g < groups; ++g)
            for (int j = 0; j < d; j += 4)
                read_edge(x, squares, g, j);
    }

    // Asks for the rows that the leaf after the next one has in places [from, to): they come while
    // this leaf is worked on. Not as far as the first cache, which is full.
    COTERIE_INLINE void ask_ahead(const MixtureTask& task, int from, int to) const {
        const int64_t row =
            d * (task.rows.block->kind == Kind::float32 ? sizeof(float) : sizeof(double));
        const char* at =
            static_cast<const char*>(task.rows.block->values) + (first + 2 * kLeafRows) * row;
        for (int64_t byte = from * row; byte < to * row; byte += 64)
            __builtin_prefetch(at + byte, 0, 2);
    }

    // Row by row only.
    template <class T> void read_rows(const T* x, const MixtureTask& task) {
        double* out = rows;
        for (int r = 0; r < n; ++r, x += d, out += padded) {
            int j = 0;
            for (; j + 4 <= d; j += 4)
                store(out + j, (load4(x + j) - load<D4>(task.rows.origin + j)) *
                                   load<D4>(task.rows.scale + j));
            for (; j < d; ++j)
                out[j] = (double(x[j]) - task.rows.origin[j]) * task.rows.scale[j];
            for (; j < padded; ++j)
                out[j] = 0.0;
        }
        std::memset(out, 0, sizeof(double) * padded * (8 * groups - n));
    }

    // The same at the last rows or columns; values beyond them become zero.
    template <class T> void read_edge(const T* x, Squares squares, int g, int j) {
        double square[8][4] = {};
        const int wide = d - j < 4 ? d - j : 4;
        for (int q = 0; q < 8; ++q)
            for (int l = 0; l < 4; ++l)
                square[q][l] = 8 * g + q < n && l < wide
                                   ? double(x[static_cast<int64_t>(8 * g + q) * d + j + l])
                                   : squares.origin[j + l];
        squares.read_four(&square[0][0], 4, g, j);
    }

    // Two or three columns: four rows lie in as many vectors as there are columns.
    template <int D, class T> void read_few(const T* x, const MixtureTask& task) {
        D4 origin[D], scale[D];
        for (int l = 0; l < D; ++l)
            origin[l] = every4(task.rows.origin[l]), scale[l] = every4(task.rows.scale[l]);
        T last[8 * D] = {};
        for (int g = 0; g < groups; ++g) {
            const T* p = x + g * 8 * D;
            if (8 * g + 8 > n) {
                std::memcpy(last, p, sizeof(T) * (n - 8 * g) * D);
                p = last;
            }
            double* out = group(g);
            for (int half = 0; half < 2; ++half, p += 4 * D) {
                D4 flat[D], column[D];
                for (int v = 0; v < D; ++v)
                    flat[v] = D4{double(p[4 * v]), double(p[4 * v + 1]), double(p[4 * v + 2]),
                                 double(p[4 * v + 3])};
                if constexpr (D == 2) {
                    column[0] = __builtin_shufflevector(flat[0], flat[1], 0, 2, 4, 6);
                    column[1] = __builtin_shufflevector(flat[0], flat[1], 1, 3, 5, 7);
                } else {
                    column[0] = __builtin_shufflevector(
                        __builtin_shufflevector(flat[0], flat[1], 0, 3, 6, 0), flat[2], 0, 1, 2, 5);
                    column[1] = __builtin_shufflevector(
                        __builtin_shufflevector(flat[0], flat[1], 1, 4, 7, 1), flat[2], 0, 1, 2, 6);
                    column[2] = __builtin_shufflevector(
                        __builtin_shufflevector(flat[0], flat[1], 2, 5, 2, 2), flat[2], 0, 1, 4, 7);
                }
                for (int l = 0; l < D; ++l)
                    store(out + 8 * l + 4 * half, (column[l] - origin[l]) * scale[l]);
            }
        }
    }

    // densities<Groups>(g, lowest) finds the log densities of so many groups, from g on, and the
    // lowest of all so far.
    template <class Densities>
    COTERIE_INLINE void expect(const MixtureTask& task, const Densities& densities) {
        for (int from = 0; from < groups; from += kSomeGroups) {
            const int to = std::min(from + kSomeGroups, groups);
            VD lowest[kParts];
            for (auto& one : lowest)
                one = every(INFINITY);
            int g = from;
            for (; g + kGroupsTogether <= to; g += kGroupsTogether) {
                ask_ahead(task, 8 * g, 8 * (g + kGroupsTogether));
                densities.template operator()<kGroupsTogether>(g, lowest);
            }
            for (; g < to; ++g)
                densities.template operator()<1>(g, lowest);
            if (!task.out.labels)
                exponentiate(from, to, far_below(task, lowest), nullptr);
        }
        if (task.out.labels)
            choose_labels(task.out.labels + first);
    }
    void exponentiate(int from, int to, bool lowered, const double* limits);
    bool far_below(const MixtureTask& task, const VD* lowest) const;
    void choose_labels(int32_t* out) const;
    void finish(const MixtureTask& task);
    int64_t weigh() const;
    void take_given(const MixtureTask& task);
};

// A sweep over rows [begin, end), leaf by leaf. expect() finds the responsibilities of a leaf,
// or its labels where those are wanted; given() takes responsibilities that the caller knows;
// maximise() adds the leaf to the sums.
template <class Expect, class Given, class Maximise>
COTERIE_INLINE void for_leaves(const MixtureTask& task, Leaf& leaf, int64_t begin, int64_t end,
                               const Pause& pause, const Expect& expect, const Given& given,
                               const Maximise& maximise) {
    for (int64_t at = begin; at < end; at += kLeafRows) {
        pause();
        leaf.place(at, std::min<int64_t>(end, at + kLeafRows));
        if (!task.computed()) {
            given();
        } else {
            expect();
            if (task.out.labels)
                continue;
            leaf.finish(task);
        }
        if (task.m_step.sums || task.m_step.shares)
            maximise();
    }
}

// Sums moments about the origin, where that is the plan, and about the centres where it is not or
// where digits were lost. sums<about_origin>() says whether all digits were kept.
template <class Sums> COTERIE_INLINE void sum_moments(const MixtureTask& task, const Sums& sums) {
    if (task.path.about_origin) {
        if (sums.template operator()<true>())
            return;
        task.events->repeated.fetch_add(1);
    }
    sums.template operator()<false>();
}

} // namespace coterie::COTERIE_LEVEL::mixture

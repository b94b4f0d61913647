// full_moments_gathered.hpp: rows that matter to a component, gathered as sqrt(r) (z - m) and
// multiplied by themselves in square blocks.
#pragma once

#include <utility>

#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

constexpr int kBlock = kLine, kSquare = kBlock * kBlock; // columns of a block, and its numbers
constexpr int kPanel = 64;                               // rows gathered at a time
constexpr int kGathered = 16 / kBlock;                   // blocks of columns gathered at a time

inline int blocks_over(int d) { return (d + kBlock - 1) / kBlock; }
// Numbers in a triangle of blocks.
inline size_t blocks_of(int blocks) {
    return static_cast<size_t>(blocks) * (blocks + 1) / 2 * kSquare;
}

// A line of which `left` numbers are there, and zeros after them.
template <class T> COTERIE_INLINE Line load_line(const T* p, int left) {
#if defined(__AVX512F__)
    const uint32_t there = left < kBlock ? (1u << left) - 1 : 0xff;
    if constexpr (sizeof(T) == sizeof(float))
        return (Line)_mm512_cvtps_pd(_mm256_maskz_loadu_ps(there, p));
    else
        return (Line)_mm512_maskz_loadu_pd(there, p);
#else
    if (left >= kBlock)
        return load4(p);
    Line line = {};
    for (int l = 0; l < left; ++l)
        line[l] = p[l];
    return line;
#endif
}

template <class T, int N> struct Several {
    T at[N];
};

struct Panel {
    int first = 0, blocks; // blocks of columns that are gathered: [first, blocks)
    double* values;        // (blocks, kPanel, kBlock)
    double* roots;         // (kPanel,)
    int32_t* places;       // (kPanel,)

    Panel(int d, Scratch& scratch) : blocks(blocks_over(d)) {
        values = scratch.take<double>(static_cast<size_t>(blocks) * kPanel * kBlock);
        roots = scratch.take<double>(kPanel);
        places = scratch.take<int32_t>(kPanel);
    }
    double* block(int b) const { return values + static_cast<size_t>(b) * kPanel * kBlock; }

    // The gathered rows, and the sums of r (z - m), even and odd rows apart. columns(b)(place): a
    // block of columns of a row.
    template <class Columns>
    COTERIE_INLINE void gather(const Columns& columns, const double* centre, int d, int rows,
                               double* sums) const {
        int b = first;
        for (; b + kGathered <= blocks; b += kGathered)
            gather_blocks<kGathered>(columns, centre, d, b, rows, sums);
        if constexpr (kGathered > 2)
            for (; b + 2 <= blocks; b += 2)
                gather_blocks<2>(columns, centre, d, b, rows, sums);
        if (b < blocks)
            gather_blocks<1>(columns, centre, d, b, rows, sums);
    }
    template <int Count, class Columns>
    COTERIE_INLINE void gather_blocks(const Columns& columns, const double* centre, int d, int b,
                                      int rows, double* sums) const {
        const auto from = [&]<int... Q>(std::integer_sequence<int, Q...>) {
            return Several<decltype(columns(0)), Count>{columns(b + Q)...};
        }(std::make_integer_sequence<int, Count>());
        Line m[Count], even[Count], odd[Count] = {};
        for (int q = 0; q < Count; ++q) {
            const int j = kBlock * (b + q);
            m[q] = load_line(centre + j, d - j);
            even[q] = load<Line>(sums + j);
        }
        double* const out = block(b);
        const double* const root_of = roots; // stores do not change them
        const int32_t* const place_of = places;
        const auto take = [&](int t, Line* sum) __attribute__((always_inline)) {
            const Line root = every_line(root_of[t]);
#pragma GCC unroll 4
            for (int q = 0; q < Count; ++q) {
                const Line value = (from.at[q](place_of[t]) - m[q]) * root;
                store(out + (q * kPanel + t) * kBlock, value);
                sum[q] = fma(root, value, sum[q]);
            }
        };
        int t = 0;
        for (; t + 2 <= rows; t += 2) {
            take(t, even);
            take(t + 1, odd);
        }
        if (t < rows)
            take(t, even);
        for (int q = 0; q < Count; ++q)
            store(sums + kBlock * (b + q), even[q] + odd[q]);
    }

    // Chooses the rows that have a share, kPanel of them at a time: then and at the end calls
    // full(rows). share(v): of rows from v * kLanes on; mass: (8,) sums of shares.
    template <class Share, class Full>
    COTERIE_INLINE void choose(int vectors, const Share& share, double* mass,
                               const Full& full) const {
        VD sum[kParts];
        for (int p = 0; p < kParts; ++p)
            sum[p] = load<VD>(mass + p * kLanes);
        int rows = 0;
        for (int v = 0; v < vectors; ++v) {
            const VD r = share(v);
            sum[v % kParts] += r;
            if (rows + kLanes > kPanel)
                rows = pass_on(rows, full);
            rows += pack(r, above(r, VD{}), v * kLanes, roots + rows, places + rows);
        }
        if (rows)
            pass_on(rows, full);
        for (int p = 0; p < kParts; ++p)
            store(mass + p * kLanes, sum[p]);
    }

    // The same of rows that are listed in order, with their shares. Panels end where those of
    // `choose` do.
    template <class Full>
    COTERIE_INLINE void choose_listed(const uint8_t* listed, const double* shares, int count,
                                      double* mass, const Full& full) const {
        int rows = 0;
        for (int t = 0; t < count; ++t) {
            const int place = listed[t];
            const double r = shares[t];
            if (!(r > 0))
                continue;
            mass[place % 8] += r;
            if (rows + kLanes > kPanel && place / kLanes != places[rows - 1] / kLanes)
                rows = pass_on(rows, full);
            roots[rows] = r;
            places[rows++] = place;
        }
        if (rows)
            pass_on(rows, full);
    }
    // Returns how many rows are then left to be passed on: none.
    template <class Full> COTERIE_INLINE int pass_on(int rows, const Full& full) const {
        for (int t = 0; t < rows; t += kLanes)
            store(roots + t, sqrt(load<VD>(roots + t)));
        full(rows);
        return 0;
    }

    void multiply_rows(int rows, int from, int to, double* second) const;
};

// Lefts x Rights blocks of a second moment += products of `rows` gathered rows. Each left has its
// own sums; those of neighbouring rights follow each other.
template <int Lefts, int Rights>
COTERIE_INLINE void multiply(Several<const double*, Lefts> left, const double* right, int rows,
                             Several<double*, Lefts> sums) {
    Line block[Lefts][kBlock][Rights];
#pragma GCC unroll 3
    for (int l = 0; l < Lefts; ++l)
#pragma GCC unroll kBlock
        for (int i = 0; i < kBlock; ++i)
            for (int q = 0; q < Rights; ++q)
                block[l][i][q] = load<Line>(sums.at[l] + q * kSquare + kBlock * i);
    for (int t = 0; t < rows; ++t) {
        Line b[Rights];
        for (int q = 0; q < Rights; ++q)
            b[q] = load<Line>(right + (q * kPanel + t) * kBlock);
#pragma GCC unroll 3
        for (int l = 0; l < Lefts; ++l)
#pragma GCC unroll kBlock
            for (int i = 0; i < kBlock; ++i) {
                const Line a = every_line(left.at[l][kBlock * t + i]);
                for (int q = 0; q < Rights; ++q)
                    block[l][i][q] = fma(a, b[q], block[l][i][q]);
            }
    }
#pragma GCC unroll 3
    for (int l = 0; l < Lefts; ++l)
#pragma GCC unroll kBlock
        for (int i = 0; i < kBlock; ++i)
            for (int q = 0; q < Rights; ++q)
                store(sums.at[l] + q * kSquare + kBlock * i, block[l][i][q]);
}

// second += products of the gathered rows, in rows of blocks [from, to) of the triangle. They go in
// threes; those left over alone are all in the last column.
inline void Panel::multiply_rows(int rows, int from, int to, double* second) const {
    const double* alone[3];
    double* alone_sums[3];
    int waiting = 0;
    for (int i = from; i < to; ++i) {
        int j = i;
        for (; j + 3 <= blocks; j += 3, second += 3 * kSquare)
            multiply<1, 3>({block(i)}, block(j), rows, {second});
        if (blocks - j == 2) {
            multiply<1, 2>({block(i)}, block(j), rows, {second});
        } else if (blocks - j == 1) {
            alone[waiting] = block(i);
            alone_sums[waiting++] = second;
        }
        second += (blocks - j) * kSquare;
        if (waiting == 3 || (waiting && i == to - 1)) {
            if (waiting == 3)
                multiply<3, 1>({alone[0], alone[1], alone[2]}, block(blocks - 1), rows,
                               {alone_sums[0], alone_sums[1], alone_sums[2]});
            else if (waiting == 2)
                multiply<2, 1>({alone[0], alone[1]}, block(blocks - 1), rows,
                               {alone_sums[0], alone_sums[1]});
            else
                multiply<1, 1>({alone[0]}, block(blocks - 1), rows, {alone_sums[0]});
            waiting = 0;
        }
    }
}

// Adds sums of one component to where they belong: first (kBlock x blocks), and rows of blocks
// [from, to) of the second moments, to (d,) and a triangle.
inline void add_moments(const double* first, const double* block, int from, int to, int d,
                        double* first_out, double* second_out) {
    const int blocks = blocks_over(d);
    for (int i = kBlock * from; i < std::min(d, kBlock * to); ++i)
        first_out[i] += first[i];
    for (int bi = from; bi < to; ++bi)
        for (int bj = bi; bj < blocks; ++bj, block += kSquare) {
            const double* line = block;
            for (int i = kBlock * bi; i < std::min(d, kBlock * (bi + 1)); ++i, line += kBlock) {
                double* out = second_out + triangle_row(d, i) - i;
                for (int j = std::max(i, kBlock * bj); j < std::min(d, kBlock * (bj + 1)); ++j)
                    out[j] += line[j - kBlock * bj];
            }
        }
}

} // namespace coterie::COTERIE_LEVEL::mixture

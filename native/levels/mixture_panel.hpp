// mixture_panel.hpp: rows that matter to a component, gathered as sqrt(r) (z - m) and multiplied by
// themselves in blocks of 4 x 4.
#pragma once

#include "mixture_leaf.hpp"

namespace coterie::COTERIE_LEVEL {

constexpr int kPanel = 64; // rows gathered at a time

// Numbers in a triangle of blocks.
inline size_t blocks_of(int blocks) {
    return static_cast<size_t>(blocks) * (blocks + 1) / 2 * kSixteen;
}

template <class T, int N> struct Several {
    T at[N];
};

struct Panel {
    int first = 0, blocks; // blocks of four columns that are gathered: [first, blocks)
    double* values;        // (blocks, kPanel, 4)
    double* roots;         // (kPanel,)
    int32_t* places;       // (kPanel,)
    double* rest;

    static size_t doubles(int padded) { return static_cast<size_t>(kPanel) * (padded + 2); }
    Panel(int padded, double* memory) : blocks(padded / 4), values(memory) {
        roots = values + kPanel * padded;
        places = reinterpret_cast<int32_t*>(roots + kPanel);
        rest = roots + 2 * kPanel;
    }
    double* block(int b) const { return values + static_cast<size_t>(b) * kPanel * 4; }

    // The gathered rows, and the sums of r (z - m), even and odd rows apart. columns(b)(place):
    // four columns of a row.
    template <class Columns>
    COTERIE_INLINE void gather(const Columns& columns, const double* centre, int d, int rows,
                               double* sums) const {
        using Four = decltype(columns(0));
        int b = first;
        for (; b + 4 <= blocks; b += 4)
            gather_blocks<4, Four>({columns(b), columns(b + 1), columns(b + 2), columns(b + 3)},
                                   centre, d, b, rows, sums);
        for (; b + 2 <= blocks; b += 2)
            gather_blocks<2, Four>({columns(b), columns(b + 1)}, centre, d, b, rows, sums);
        if (b < blocks)
            gather_blocks<1, Four>({columns(b)}, centre, d, b, rows, sums);
    }
    template <int Count, class Four>
    COTERIE_INLINE void gather_blocks(const Several<Four, Count>& from, const double* centre, int d,
                                      int b, int rows, double* sums) const {
        D4 m[Count], even[Count], odd[Count] = {};
        for (int q = 0; q < Count; ++q) {
            const int j = 4 * (b + q);
            double edge[4] = {};
            std::memcpy(edge, centre + j, sizeof(double) * (d - j < 4 ? d - j : 4));
            m[q] = load<D4>(edge);
            even[q] = load<D4>(sums + j);
        }
        double* const out = block(b);
        const double* const root_of = roots; // what is stored does not change them
        const int32_t* const place_of = places;
        const auto take = [&](int t, D4* sum) __attribute__((always_inline)) {
            const D4 root = every4(root_of[t]);
#pragma GCC unroll 4
            for (int q = 0; q < Count; ++q) {
                const D4 value = (from.at[q](place_of[t]) - m[q]) * root;
                store(out + q * kPanel * 4 + 4 * t, value);
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
            store(sums + 4 * (b + q), even[q] + odd[q]);
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
    D4 block[Lefts][4][Rights];
#pragma GCC unroll 3
    for (int l = 0; l < Lefts; ++l)
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
            for (int q = 0; q < Rights; ++q)
                block[l][i][q] = load<D4>(sums.at[l] + q * kSixteen + 4 * i);
    for (int t = 0; t < rows; ++t) {
        D4 b[Rights];
        for (int q = 0; q < Rights; ++q)
            b[q] = load<D4>(right + q * kPanel * 4 + 4 * t);
#pragma GCC unroll 3
        for (int l = 0; l < Lefts; ++l)
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) {
                const D4 a = every4(left.at[l][4 * t + i]);
                for (int q = 0; q < Rights; ++q)
                    block[l][i][q] = fma(a, b[q], block[l][i][q]);
            }
    }
#pragma GCC unroll 3
    for (int l = 0; l < Lefts; ++l)
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
            for (int q = 0; q < Rights; ++q)
                store(sums.at[l] + q * kSixteen + 4 * i, block[l][i][q]);
}

// second += products of the gathered rows, in rows of blocks [from, to) of the triangle. They go in
// threes; those left over alone are all in the last column.
inline void Panel::multiply_rows(int rows, int from, int to, double* second) const {
    const double* alone[3];
    double* alone_sums[3];
    int waiting = 0;
    for (int i = from; i < to; ++i) {
        int j = i;
        for (; j + 3 <= blocks; j += 3, second += 3 * kSixteen)
            multiply<1, 3>({block(i)}, block(j), rows, {second});
        if (blocks - j == 2) {
            multiply<1, 2>({block(i)}, block(j), rows, {second});
        } else if (blocks - j == 1) {
            alone[waiting] = block(i);
            alone_sums[waiting++] = second;
        }
        second += (blocks - j) * kSixteen;
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

// Adds sums of one component to where they belong: first (4 x blocks), and rows of blocks [from,
// to) of the second moments, to (d,) and a triangle.
inline void add_moments(const double* first, const double* block, int from, int to, int d,
                        double* first_out, double* second_out) {
    const int blocks = (d + 3) / 4;
    for (int i = 4 * from; i < std::min(d, 4 * to); ++i)
        first_out[i] += first[i];
    for (int bi = from; bi < to; ++bi)
        for (int bj = bi; bj < blocks; ++bj, block += kSixteen)
            for (int i = 4 * bi; i < std::min(d, 4 * bi + 4); ++i) {
                double* out = second_out + triangle_row(d, i) - i;
                for (int j = std::max(i, 4 * bj); j < std::min(d, 4 * bj + 4); ++j)
                    out[j] += block[4 * (i - 4 * bi) + j - 4 * bj];
            }
}

} // namespace coterie::COTERIE_LEVEL

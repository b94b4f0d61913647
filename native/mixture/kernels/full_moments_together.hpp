// full_moments_together.hpp: moments of all components at once, where most rows matter to most of
// them.
//
// Products of two columns are found once, about the origin, and each component adds them up by its
// responsibilities: a product of two matrices, without a root, a mean or a gathered row for each
// component. With a column of ones after the others, first moments and masses are such sums as
// well. They are moved to the centres at the end. That costs digits if a centre is far from the
// origin, beside the rows that belong to it; `write` says whether all were near enough.
#pragma once

#include <array>
#include <utility>

#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

constexpr int kSummed = 128;            // rows that are added up before they are added to the sums
constexpr int kApart = kSummed + kLine; // columns begin in different banks of the first cache
constexpr int kAtHand = 16;             // components whose responsibilities stay in that cache

// Adds moments to first: (k, d), second: (k, triangle), about the centres, and to mass: (k,).
// sum(c, i, j): of the products of columns i <= j about the origin, where column d is ones. Returns
// false if too many digits are lost; the sums are then of no use.
template <class Sum>
COTERIE_INLINE bool move_moments(int k, int d, const double* centres, double* mass, double* first,
                                 double* second, const Sum& sum) {
    bool near = true;
    double about_origin[kMostTogether]; // first moments
    for (int c = 0; c < k; ++c, centres += d, first += d) {
        const double all = sum(c, d, d);
        mass[c] += all;
        for (int i = 0; i < d; ++i)
            about_origin[i] = sum(c, i, d);
        for (int i = 0; i < d; ++i) {
            const double moved = about_origin[i] - all * centres[i]; // to the centre
            first[i] += moved;
            for (int j = i; j < d; ++j) {
                const double pair = sum(c, i, j);
                const double about = pair - centres[i] * about_origin[j] - centres[j] * moved;
                near &= i != j || keeps_digits(pair, about);
                *second++ += about;
            }
        }
    }
    return near;
}

struct Products {
    int k, d;
    int count;       // pairs of columns, and so many more that they go in threes
    int wide;        // k, and room for as many more as a vector has
    double* columns; // (d + 1, kApart), the last of them ones
    double* pairs;   // (3, kApart) products of two columns
    double* sums;    // (count, wide)

    static int all_pairs(int d) { return ((d + 1) * (d + 2) / 2 + 2) / 3 * 3; }

    Products(const MixtureTask& task, Scratch& scratch)
        : k(task.shape.k), d(task.shape.d), count(all_pairs(d)), wide(k + kLine - 1) {
        const size_t wanted = task.path.about_origin; // else there are none
        columns = scratch.take<double>(wanted * (d + 1) * kApart);
        pairs = scratch.take<double>(wanted * 3 * kApart);
        sums = scratch.take<double>(wanted * count * wide);
    }

    void clear() const {
        std::memset(sums, 0, sizeof(double) * count * wide);
        std::fill(columns + d * kApart, columns + (d + 1) * kApart, 1.0);
    }

    // Do so many rows of the leaf matter to components that it pays?
    static bool pay(const Leaf& leaf, int64_t matter) {
        return matter > kManyMatter * leaf.n * leaf.k;
    }

    void add(const Leaf& leaf) const {
        for (int g = 0; g < leaf.groups; g += kSummed / 8) {
            const int groups = std::min(kSummed / 8, leaf.groups - g);
            copy(leaf.group(g), 8 * leaf.padded, groups);
            for (int c = 0; c < k; c += kAtHand)
                add_some(c, std::min(kAtHand, k - c), leaf.logs(g) + 8 * c, groups);
        }
    }

    // See move_moments.
    bool write(const double* centres, double* mass, double* first, double* second) const {
        return move_moments(k, d, centres, mass, first, second, [this](int c, int i, int j) {
            return sums[c + (triangle_row(d + 1, i) + j - i) * wide];
        });
    }

private:
    // Columns of groups of eight rows, `stride` apart, each in one piece.
    void copy(const double* group, int stride, int groups) const {
        double* out = columns; // stores cannot change a copy: it stays in a register
        for (const double* end = group + 8 * d; group < end; group += 8, out += kApart)
            for (int q = 0; q < groups; ++q)
#pragma GCC unroll 4
                for (int p = 0; p < kParts; ++p)
                    store(out + 8 * q + p * kLanes, load<VD>(group + q * stride + p * kLanes));
    }

    struct Three {
        const double *left[3], *right[3];
    };

    static constexpr int kMost = kLineSums / 3; // components whose sums are in registers together
    static_assert(kMost == kLine);              // and are stored side by side

    // Adds `side` components, from c on.
    void add_some(int c, int side, const double* responsibilities, int groups) const {
        using Add = void (Products::*)(const double*, const Three&, int, double*) const;
        static constexpr auto kAdd = []<int... Less>(std::integer_sequence<int, Less...>) {
            return std::array<std::array<Add, kMost>, 2>{
                {{&Products::add_to<Less + 1, false>...}, {&Products::add_to<Less + 1, true>...}}};
        }(std::make_integer_sequence<int, kMost>());
        const int tiles = (side + kMost - 1) / kMost;
        int begins[kAtHand / kMost + 1]; // about as many in each
        for (int tile = 0; tile <= tiles; ++tile)
            begins[tile] = tile * side / tiles;
        int i = 0, j = 0;
        for (int f = 0; f < count; f += 3) {
            Three three;
            for (int v = 0; v < 3; ++v) {
                three.left[v] = columns + i * kApart;
                three.right[v] = columns + j * kApart;
                if (j < d)
                    ++j;
                else if (i < d)
                    j = ++i;
            }
            double* to = sums + static_cast<size_t>(f) * wide + c;
            for (int tile = 0; tile < tiles; ++tile) {
                const int from = begins[tile], few = begins[tile + 1] - from;
                const Add add_tile = kAdd[tile == 0][few - 1];
                (this->*add_tile)(responsibilities + 8 * from, three, groups, to + from);
            }
        }
    }

    // The sums of product v over all lanes, by component.
    template <int... L>
    static COTERIE_INLINE Line lanes_of(const Line (&sum)[kMost][3], int v,
                                        std::integer_sequence<int, L...>) {
        return lane_sums(sum[L][v]...);
    }

    // Count components. Find: the products of this three are not there yet.
    template <int Count, bool Find>
    void add_to(const double* responsibilities, const Three& three, int groups, double* to) const {
        Line sum[kMost][3] = {};
        const double *left[3], *right[3];
        for (int v = 0; v < 3; ++v)
            left[v] = three.left[v], right[v] = three.right[v];
        double* const product = pairs;
        const int all = 8 * k;
        constexpr bool kHalves = kLine < 8;
        int step = kHalves ? 4 : all; // to the other half of the group, or to the next group
        for (int t = 0; t < 8 * groups;
             t += kLine, responsibilities += step, step = kHalves ? all - step : all) {
            Line p[3];
#pragma GCC unroll 3
            for (int v = 0; v < 3; ++v)
                if constexpr (Find) {
                    p[v] = load<Line>(left[v] + t) * load<Line>(right[v] + t);
                    store(product + v * kApart + t, p[v]);
                } else {
                    p[v] = load<Line>(product + v * kApart + t);
                }
#pragma GCC unroll 8
            for (int l = 0; l < Count; ++l) {
                const Line responsibility = kept(load<Line>(responsibilities + 8 * l));
#pragma GCC unroll 3
                for (int v = 0; v < 3; ++v)
                    sum[l][v] = fma(responsibility, p[v], sum[l][v]);
            }
        }
#pragma GCC unroll 3
        for (int v = 0; v < 3; ++v, to += wide)
            store(to, load<Line>(to) + lanes_of(sum, v, std::make_integer_sequence<int, kLine>()));
    }
};

} // namespace coterie::COTERIE_LEVEL::mixture

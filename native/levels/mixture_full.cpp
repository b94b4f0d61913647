// mixture_full.cpp: full covariances of five and more columns, by register tiles.
//
// E step: rows times triangular factors; of components that stand apart only those that matter to
// a row. M step: the rows that matter to a component are gathered as sqrt(r) (z - m) and multiplied
// by themselves, in blocks of 4 x 4.
#include <atomic>

#include "mixture_screen.hpp"
#include "mixture_tiles.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kPanel = 64;       // rows gathered for one component, and rows that meet one tile
constexpr int kScreened = 16;    // columns from which it pays to leave densities out,
constexpr double kCrowded = 0.4; // where no more than this part of them matters

struct Scratch {
    int blocks;       // of four columns
    size_t component; // numbers per component: mass (8), first (padded), blocks of the second
    double* sums;     // (k, component)
    double* rows;     // (256, padded) of the leaf
    double* moved;    // (kPanel / 8, padded, 8) rows less a mean
    double* panel;    // (blocks, kPanel, 4)
    double* roots;    // (kPanel,)
    int32_t* places;  // (kPanel,)
    double* rest;

    static size_t per_component(int d) {
        const size_t blocks = (d + 3) / 4;
        return 8 + 4 * blocks + blocks * (blocks + 1) / 2 * kSixteen;
    }
    static size_t doubles(const MixtureTask& task) {
        const size_t padded = (task.shape.d + 3) / 4 * 4;
        return task.shape.k * per_component(task.shape.d) + (kLeafRows + 2 * kPanel) * padded +
               2 * kPanel + Screen::doubles(task);
    }
    Scratch(const Leaf& leaf) : blocks(leaf.padded / 4), component(per_component(leaf.d)) {
        sums = leaf.rest;
        rows = sums + leaf.k * component;
        moved = rows + kLeafRows * leaf.padded;
        panel = moved + kPanel * leaf.padded;
        roots = panel + kPanel * leaf.padded;
        places = reinterpret_cast<int32_t*>(roots + kPanel);
        rest = roots + 2 * kPanel;
    }
};

void densities(const MixtureTask& task, const Leaf& leaf, const Scratch& scratch,
               const Pause& pause) {
    for (int g = 0; g < leaf.groups; g += kPanel / 8)
        for (int c = 0; c < leaf.k; ++c) {
            pause();
            log_densities(task, c, leaf.group(g), 8 * leaf.padded,
                          std::min(kPanel / 8, leaf.groups - g), scratch.moved,
                          leaf.logs(g) + 8 * c, 8 * leaf.k);
        }
}

template <class T, int N> struct Several {
    T at[N];
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

// panel = sqrt(r) (z - m) of the chosen rows, in Count blocks of four columns from b on; and the
// sums of r (z - m), even and odd rows apart.
template <int Count>
COTERIE_INLINE void gather(const Leaf& leaf, const Scratch& scratch, const double* centre, int b,
                           int rows, double* first) {
    const int d = leaf.d, padded = leaf.padded;
    D4 m[Count], even[Count], odd[Count] = {};
    for (int q = 0; q < Count; ++q) {
        const int j = 4 * (b + q);
        double edge[4] = {};
        std::memcpy(edge, centre + j, sizeof(double) * (d - j < 4 ? d - j : 4));
        m[q] = load<D4>(edge);
        even[q] = load<D4>(first + j);
    }
    const double *from = leaf.rows + 4 * b, *roots = scratch.roots;
    const int32_t* places = scratch.places;
    double* out = scratch.panel + static_cast<size_t>(b) * kPanel * 4;
    const auto take = [&](int t, D4* sum) __attribute__((always_inline)) {
        const D4 root = every4(roots[t]);
        const double* row = from + static_cast<size_t>(places[t]) * padded;
#pragma GCC unroll 2
        for (int q = 0; q < Count; ++q) {
            const D4 value = (load<D4>(row + 4 * q) - m[q]) * root;
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
        store(first + 4 * (b + q), even[q] + odd[q]);
}

// Adds `rows` gathered rows to the moments of one component.
void add_panel(const MixtureTask& task, const Leaf& leaf, const Scratch& scratch, int c, int rows,
               double* sums) {
    const int d = leaf.d;
    const double* centre = task.centres + static_cast<size_t>(c) * d;
    double* first = sums + 8;
    int b = 0;
    for (; b + 2 <= scratch.blocks; b += 2)
        gather<2>(leaf, scratch, centre, b, rows, first);
    if (b < scratch.blocks)
        gather<1>(leaf, scratch, centre, b, rows, first);
    // Blocks of a row of blocks go in threes; those left over alone are all in the last column.
    const int blocks = scratch.blocks;
    const auto panel = [&](int i) { return scratch.panel + static_cast<size_t>(i) * kPanel * 4; };
    double* second = first + 4 * blocks;
    const double* alone[3];
    double* alone_sums[3];
    int waiting = 0;
    for (int i = 0; i < blocks; ++i) {
        int j = i;
        for (; j + 3 <= blocks; j += 3, second += 3 * kSixteen)
            multiply<1, 3>({panel(i)}, panel(j), rows, {second});
        if (blocks - j == 2) {
            multiply<1, 2>({panel(i)}, panel(j), rows, {second});
        } else if (blocks - j == 1) {
            alone[waiting] = panel(i);
            alone_sums[waiting++] = second;
        }
        second += (blocks - j) * kSixteen;
        if (waiting == 3 || (waiting && i == blocks - 1)) {
            if (waiting == 3)
                multiply<3, 1>({alone[0], alone[1], alone[2]}, panel(blocks - 1), rows,
                               {alone_sums[0], alone_sums[1], alone_sums[2]});
            else if (waiting == 2)
                multiply<2, 1>({alone[0], alone[1]}, panel(blocks - 1), rows,
                               {alone_sums[0], alone_sums[1]});
            else
                multiply<1, 1>({alone[0]}, panel(blocks - 1), rows, {alone_sums[0]});
            waiting = 0;
        }
    }
}

// Gathers the rows that matter to component c, and adds them to its moments.
void maximise(const MixtureTask& task, const Leaf& leaf, const Scratch& scratch, int c) {
    double* sums = scratch.sums + c * scratch.component;
    VD mass[kParts];
    for (int p = 0; p < kParts; ++p)
        mass[p] = load<VD>(sums + p * kLanes);
    int rows = 0;
    for (int g = 0; g < leaf.groups; ++g)
        for (int p = 0; p < kParts; ++p) {
            const VD r = load<VD>(leaf.logs(g) + 8 * c + p * kLanes) *
                         load<VD>(leaf.share + 8 * g + p * kLanes);
            const VL matters = (VL)(r > VD{});
            uint32_t left = bits(matters);
            if (!left)
                continue;
            mass[p] += (VD)((VL)r & matters);
            if (rows + kLanes > kPanel) {
                add_panel(task, leaf, scratch, c, rows, sums);
                rows = 0;
            }
            if (left == (1u << kLanes) - 1) {
                for (int q = 0; q < kLanes; ++q)
                    scratch.places[rows + q] = 8 * g + p * kLanes + q;
                store(scratch.roots + rows, sqrt(r));
                rows += kLanes;
                continue;
            }
            double roots[kLanes];
            store(roots, sqrt(r));
            for (; left; left &= left - 1) {
                const int q = __builtin_ctz(left);
                scratch.places[rows] = 8 * g + p * kLanes + q;
                scratch.roots[rows++] = roots[q];
            }
        }
    if (rows)
        add_panel(task, leaf, scratch, c, rows, sums);
    for (int p = 0; p < kParts; ++p)
        store(sums + p * kLanes, mass[p]);
}

void write_sums(const MixtureTask& task, const Leaf& leaf, const Scratch& scratch, double* out) {
    const int k = leaf.k, d = leaf.d;
    const int64_t triangle = task.shape.second();
    for (int c = 0; c < k; ++c) {
        const double *from = scratch.sums + c * scratch.component, *first = from + 8;
        out[1 + c] = across(from);
        std::memcpy(out + 1 + k + static_cast<int64_t>(c) * d, first, sizeof(double) * d);
        const double* block = first + 4 * scratch.blocks;
        double* second = out + 1 + k + static_cast<int64_t>(k) * d + c * triangle;
        for (int bi = 0; bi < scratch.blocks; ++bi)
            for (int bj = bi; bj < scratch.blocks; ++bj, block += kSixteen)
                for (int i = 4 * bi; i < std::min(d, 4 * bi + 4); ++i)
                    for (int j = std::max(i, 4 * bj); j < std::min(d, 4 * bj + 4); ++j)
                        second[static_cast<int64_t>(i) * d - i * (i + 1) / 2 + j] =
                            block[4 * (i - 4 * bi) + j - 4 * bj];
    }
}

} // namespace

size_t mixture_full_doubles(const MixtureTask& task) {
    return Leaf::doubles(task) + Scratch::doubles(task);
}

void mixture_full(const MixtureTask& task, int64_t begin, int64_t end, double* memory, double* out,
                  const Pause& pause) {
    Leaf leaf(task, memory);
    const Scratch scratch(leaf);
    const Screen screen(leaf, scratch.rest);
    leaf.rows = scratch.rows;
    const int k = leaf.k;
    // Degrees that are shown to the caller are shown however small they are.
    const double* limits = task.degrees ? nullptr : task.limits;
    std::memset(scratch.sums, 0, sizeof(double) * k * scratch.component);
    double likelihood = 0.0;
    for (int64_t at = begin; at < end; at += kLeafRows) {
        leaf.read(task, at, std::min<int64_t>(end, at + kLeafRows));
        if (task.computed()) {
            if (limits && leaf.d >= kScreened && k > 1 && !task.crowded->load()) {
                const int64_t computed = screen.log_densities(task, leaf, pause);
                if (computed > kCrowded * leaf.n * k)
                    task.crowded->store(true); // the rest of this sweep
            } else {
                densities(task, leaf, scratch, pause);
            }
            if (task.labels) {
                leaf.choose_labels(task.labels + at);
                continue;
            }
            for (int g = 0; g < leaf.groups; ++g)
                leaf.exponentiate_below_top(g, limits);
            likelihood += leaf.finish(task);
        } else {
            leaf.take_given(task);
        }
        if (task.sums)
            for (int c = 0; c < k; ++c) {
                pause();
                maximise(task, leaf, scratch, c);
            }
    }
    if (!task.sums)
        return;
    out[0] = likelihood;
    write_sums(task, leaf, scratch, out);
}

} // namespace coterie::COTERIE_LEVEL

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
constexpr int kScreened = 24;    // columns from which it pays to leave densities out,
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

// sums: (Count) blocks of one row of blocks, += products of `rows` gathered rows.
template <int Count>
COTERIE_INLINE void multiply(const double* left, const double* right, int rows, double* sums) {
    D4 block[4][Count];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
        for (int q = 0; q < Count; ++q)
            block[i][q] = load<D4>(sums + q * kSixteen + 4 * i);
    for (int t = 0; t < rows; ++t) {
        D4 b[Count];
        for (int q = 0; q < Count; ++q)
            b[q] = load<D4>(right + q * kPanel * 4 + 4 * t);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const D4 a = every4(left[4 * t + i]);
            for (int q = 0; q < Count; ++q)
                block[i][q] = fma(a, b[q], block[i][q]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
        for (int q = 0; q < Count; ++q)
            store(sums + q * kSixteen + 4 * i, block[i][q]);
}

// Adds `rows` gathered rows to the moments of one component.
void add_panel(const MixtureTask& task, const Leaf& leaf, const Scratch& scratch, int c, int rows,
               double* sums) {
    const int d = leaf.d;
    const double* centre = task.centres + static_cast<size_t>(c) * d;
    double* first = sums + 8;
    const int padded = leaf.padded;
    for (int b = 0; b < scratch.blocks; ++b) {
        double edge[4] = {};
        std::memcpy(edge, centre + 4 * b, sizeof(double) * (d - 4 * b < 4 ? d - 4 * b : 4));
        const D4 m = load<D4>(edge);
        D4 even = load<D4>(first + 4 * b), odd = {};
        const double *from = leaf.rows + 4 * b, *roots = scratch.roots;
        const int32_t* places = scratch.places;
        double* out = scratch.panel + static_cast<size_t>(b) * kPanel * 4;
        auto take = [&](int t) __attribute__((always_inline)) {
            const D4 value = (load<D4>(from + places[t] * padded) - m) * every4(roots[t]);
            store(out + 4 * t, value);
            return value;
        };
        int t = 0;
        for (; t + 2 <= rows; t += 2) {
            even = fma(every4(roots[t]), take(t), even);
            odd = fma(every4(roots[t + 1]), take(t + 1), odd);
        }
        if (t < rows)
            even = fma(every4(roots[t]), take(t), even);
        store(first + 4 * b, even + odd);
    }
    double* second = first + 4 * scratch.blocks;
    for (int i = 0; i < scratch.blocks; ++i) {
        const double* left = scratch.panel + static_cast<size_t>(i) * kPanel * 4;
        int j = i;
        for (; j + 3 <= scratch.blocks; j += 3, second += 3 * kSixteen)
            multiply<3>(left, scratch.panel + static_cast<size_t>(j) * kPanel * 4, rows, second);
        const double* right = scratch.panel + static_cast<size_t>(j) * kPanel * 4;
        if (scratch.blocks - j == 2)
            multiply<2>(left, right, rows, second);
        else if (scratch.blocks - j == 1)
            multiply<1>(left, right, rows, second);
        second += (scratch.blocks - j) * kSixteen;
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

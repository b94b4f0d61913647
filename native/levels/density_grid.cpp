// density_grid.cpp: counting, connecting and labelling over the cells of a grid.
#include "coterie/grid_kernels.hpp"
#include "coterie/simd.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kRows = 5; // rows of cells that can hold neighbours
constexpr int kOffsets[kRows] = {0, -1, 1, -2, 2};
constexpr int kBefore[3] = {0, 1, 3};   // the own row and the two before
constexpr int64_t kPatience = 1 << 20;  // pairs between looks for signals
constexpr int64_t kManyPairs = 1 << 12; // more are not all compared
constexpr int32_t kProbe = 64;          // but first some, which mostly is enough

struct Span {
    int32_t begin, end; // of cells, or of slots
};

COTERIE_INLINE int lowest(uint32_t set) { return __builtin_ctz(set); }

// The first of the sorted values [begin, end) that is at least `least`.
COTERIE_INLINE int32_t first_from(const int32_t* values, int32_t begin, int32_t end,
                                  int32_t least) {
    while (begin < end) {
        const int32_t middle = begin + (end - begin) / 2;
        if (values[middle] < least)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// Calls use(cell, near): near[k] are the cells of row k that can hold neighbours, the own row
// first. Along a row of cells they only move on.
template <class Use>
COTERIE_INLINE void for_cells(const GridView& g, int32_t begin, int32_t end, Use use) {
    int32_t row = first_from(g.row_begin, 0, g.height, begin + 1) - 1;
    for (int32_t cell = begin; cell < end; ++row) {
        const int32_t row_end = g.row_begin[row + 1] < end ? g.row_begin[row + 1] : end;
        if (cell >= row_end)
            continue;
        Span near[kRows];
        int32_t last[kRows];
        for (int k = 0; k < kRows; ++k) {
            const int32_t r = row + kOffsets[k];
            const bool there = r >= 0 && r < g.height;
            last[k] = there ? g.row_begin[r + 1] : 0;
            near[k].begin = near[k].end =
                there ? first_from(g.column, g.row_begin[r], last[k], g.column[cell] - 2) : 0;
        }
        for (; cell < row_end; ++cell) {
            const int32_t c = g.column[cell];
            for (int k = 0; k < kRows; ++k) {
                int32_t a = near[k].begin, b = near[k].end;
                while (a < last[k] && g.column[a] < c - 2)
                    ++a;
                b = b < a ? a : b;
                while (b < last[k] && g.column[b] <= c + 2)
                    ++b;
                near[k] = {a, b};
            }
            use(cell, near);
        }
    }
}

COTERIE_INLINE Span slots_of(const GridView& g, Span cells) {
    return {g.start[cells.begin], g.start[cells.end]};
}

COTERIE_INLINE VI first_lanes(int32_t count) {
    VI lane;
    for (int q = 0; q < W; ++q)
        lane[q] = q;
    return lane < all(count);
}

COTERIE_INLINE VF squares(const GridView& g, int32_t slot, VF x, VF y) {
    const VF a = load<VF>(g.x + slot) - x, b = load<VF>(g.y + slot) - y;
    return fma(b, b, a * a);
}

// The slots from `from` to `to`, at most W, that are nearby the point at `slot`.
COTERIE_INLINE uint32_t hits_of(const GridTask& task, int32_t slot, int32_t from, int32_t to) {
    const GridView& g = task.grid;
    const VF s = squares(g, from, all(g.x[slot]), all(g.y[slot]));
    const VI there = first_lanes(to - from);
    uint32_t sure = bits((s <= all(g.inner)) & there);
    for (uint32_t maybe = bits((s <= all(g.outer)) & there) & ~sure; maybe; maybe &= maybe - 1)
        if (task.space->nearby(g.row[slot], g.row[from + lowest(maybe)]))
            sure |= maybe & -maybe;
    return sure;
}

struct Patience {
    const GridTask& task;
    int thread;
    int64_t left = kPatience;
    COTERIE_INLINE void spend(int64_t pairs) {
        left -= pairs;
        if (left < 0) {
            task.team->check(thread);
            left = kPatience;
        }
    }
};

COTERIE_INLINE int32_t total(VI v) {
    int32_t sum = 0;
    for (int q = 0; q < W; ++q)
        sum += v[q];
    return sum;
}

// How many points lie within the inner and the outer radius of P points of one cell; once all
// have `enough` within the inner one it may stop.
template <int P>
COTERIE_INLINE void count_points(const GridView& g, const Span* slots, const int32_t* points,
                                 int64_t enough, int64_t* inner, int64_t* outer) {
    VF x[P], y[P];
    for (int p = 0; p < P; ++p) {
        x[p] = all(g.x[points[p]]);
        y[p] = all(g.y[points[p]]);
        inner[p] = outer[p] = 0;
    }
    const VF in = all(g.inner), out = all(g.outer);
    for (int k = 0; k < kRows; ++k) {
        VI near[P] = {}, within[P] = {};
        int32_t j = slots[k].begin;
        for (; j + W <= slots[k].end; j += W)
            for (int p = 0; p < P; ++p) {
                const VF s = squares(g, j, x[p], y[p]);
                near[p] -= s <= in;
                within[p] -= s <= out;
            }
        if (j < slots[k].end) {
            const VI there = first_lanes(slots[k].end - j);
            for (int p = 0; p < P; ++p) {
                const VF s = squares(g, j, x[p], y[p]);
                near[p] -= (s <= in) & there;
                within[p] -= (s <= out) & there;
            }
        }
        bool done = true;
        for (int p = 0; p < P; ++p) {
            inner[p] += total(near[p]);
            outer[p] += total(within[p]);
            done = done && inner[p] >= enough;
        }
        if (done)
            return;
    }
}

void count(const GridTask& task, int thread, int32_t begin, int32_t end, int64_t enough,
           uint8_t* core, int64_t* found) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, const Span* near) {
        const int32_t first = g.start[cell], last = g.start[cell + 1];
        if (!found && last - first >= enough) {
            std::memset(core + first, 1, last - first);
            return;
        }
        Span slots[kRows];
        int64_t around = 0;
        for (int k = 0; k < kRows; ++k) {
            slots[k] = slots_of(g, near[k]);
            around += slots[k].end - slots[k].begin;
        }
        if (!found && around < enough) {
            std::memset(core + first, 0, last - first);
            return;
        }
        constexpr int P = 4;
        for (int32_t i = first; i < last; i += P) {
            patience.spend(P * around);
            int32_t points[P];
            for (int p = 0; p < P; ++p)
                points[p] = i + p < last ? i + p : i;
            int64_t inner[P], outer[P];
            const int64_t stop = found ? g.n + 1 : enough;
            if (last - i == 1)
                count_points<1>(g, slots, points, stop, inner, outer);
            else
                count_points<P>(g, slots, points, stop, inner, outer);
            for (int p = 0; p < P && i + p < last; ++p) {
                if (inner[p] != outer[p] && (found || (inner[p] < enough && enough <= outer[p]))) {
                    inner[p] = 0; // too close to tell
                    for (int k = 0; k < kRows; ++k)
                        for (int32_t j = slots[k].begin; j < slots[k].end; j += W)
                            inner[p] += __builtin_popcount(hits_of(
                                task, i + p, j, j + W < slots[k].end ? j + W : slots[k].end));
                }
                core[i + p] = inner[p] >= enough;
                if (found)
                    found[i + p] = inner[p];
            }
        }
    });
}

void visit(const GridTask& task, int thread, int32_t begin, int32_t end, OnSlots on_slots,
           void* to) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, const Span* near) {
        for (int32_t i = g.start[cell]; i < g.start[cell + 1]; ++i)
            for (int k = 0; k < kRows; ++k) {
                const Span slots = slots_of(g, near[k]);
                for (int32_t j = slots.begin; j < slots.end; j += W) {
                    patience.spend(W);
                    if (const uint32_t hits =
                            hits_of(task, i, j, j + W < slots.end ? j + W : slots.end))
                        on_slots(to, i, j, hits);
                }
            }
    });
}

// Is any of the slots of a nearby any of those of b?
COTERIE_INLINE bool any_of(const GridTask& task, Span a, Span b) {
    for (int32_t i = a.begin; i < a.end; ++i)
        for (int32_t j = b.begin; j < b.end; j += W)
            if (hits_of(task, i, j, j + W < b.end ? j + W : b.end))
                return true;
    return false;
}

COTERIE_INLINE Span cores_of(const GridView& g, const CellLinks& links, int32_t cell) {
    return {g.start[cell], g.start[cell] + links.cores[cell]};
}

COTERIE_INLINE void link(const GridTask& task, Patience& patience, const CellLinks& links,
                         int32_t a, int32_t b) {
    if (links.sets.same(a, b))
        return;
    Span p = cores_of(task.grid, links, a), q = cores_of(task.grid, links, b);
    const int64_t pairs = static_cast<int64_t>(p.end - p.begin) * (q.end - q.begin);
    patience.spend(pairs < kManyPairs ? pairs : kManyPairs);
    if (pairs <= kManyPairs) {
        if (any_of(task, p, q))
            links.sets.unite(a, b);
        return;
    }
    const Span few_p{p.begin, p.end < p.begin + kProbe ? p.end : p.begin + kProbe};
    const Span few_q{q.begin, q.end < q.begin + kProbe ? q.end : q.begin + kProbe};
    if (any_of(task, few_p, few_q) ||
        any_nearby(task, patience.thread, p.begin, p.end - p.begin, q.begin, q.end - q.begin))
        links.sets.unite(a, b);
}

void link_near(const GridTask& task, int thread, int32_t begin, int32_t end,
               const CellLinks& links) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, const Span* near) {
        if (!links.cores[cell])
            return;
        const int32_t c = g.column[cell];
        for (int k = 0; k < 2; ++k) // the own row and the one before
            for (int32_t b = near[k].begin; b < near[k].end && b < cell; ++b)
                if (links.cores[b] && g.column[b] >= c - 1 && g.column[b] <= c + 1)
                    link(task, patience, links, cell, b);
    });
}

void link_far(const GridTask& task, int thread, int32_t begin, int32_t end,
              const CellLinks& links) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, const Span* near) {
        const int32_t root = links.roots[cell];
        if (root < 0)
            return;
        for (const int k : kBefore)
            for (int32_t b = near[k].begin; b < near[k].end && b < cell; ++b)
                if (links.roots[b] >= 0 && links.roots[b] != root)
                    link(task, patience, links, cell, b);
    });
}

void label(const GridTask& task, int thread, int32_t begin, int32_t end, const CellLinks& links,
           int64_t* labels) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, const Span* near) {
        const Span cores = cores_of(g, links, cell);
        const int32_t none = 0x7fffffff, last = g.start[cell + 1];
        const int32_t own = links.cores[cell] ? links.number[cell] : none;
        for (int32_t i = cores.begin; i < cores.end; ++i)
            labels[g.row[i]] = own;
        if (cores.end == last)
            return;
        // A point that is no core point joins the lowest-numbered cluster that reaches it.
        int32_t lower[kRows * 5];
        int count = 0;
        for (int k = 0; k < kRows; ++k)
            for (int32_t b = near[k].begin; b < near[k].end; ++b)
                if (links.cores[b] && links.number[b] < own)
                    lower[count++] = b;
        for (int32_t i = cores.end; i < last; ++i) {
            int32_t best = own;
            for (int q = 0; q < count; ++q) {
                const int32_t b = lower[q];
                if (links.number[b] >= best)
                    continue;
                patience.spend(links.cores[b]);
                if (any_of(task, {i, i + 1}, cores_of(g, links, b)))
                    best = links.number[b];
            }
            labels[g.row[i]] = best == none ? -1 : best;
        }
    });
}

} // namespace

GridKernels grid() { return {count, visit, link_near, link_far, label}; }

} // namespace coterie::COTERIE_LEVEL

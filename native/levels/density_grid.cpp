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

// The first from `at` on of the sorted columns before `last` that is at least `least`.
COTERIE_INLINE int32_t move_on(const int32_t* column, int32_t at, int32_t last, int32_t least) {
    for (;;) {
        uint32_t below = bits(load<VI>(column + at) < all(least));
        if (last - at < W)
            below &= (1u << (last - at)) - 1;
        const int steps = lowest(~below);
        at += steps;
        if (steps < W)
            return at;
    }
}

// The cells of five rows that can hold neighbours of one cell, the own row first. Along a row of
// cells they only move on, and only when they are asked for.
class Around {
public:
    COTERIE_INLINE Around(const GridView& g, int32_t row, int32_t cell) : g_(g) {
        for (int k = 0; k < kRows; ++k) {
            const int32_t r = row + kOffsets[k];
            const bool there = r >= 0 && r < g.height;
            last_[k] = there ? g.row_begin[r + 1] : 0;
            begin_[k] =
                there ? first_from(g.column, g.row_begin[r], last_[k], g.column[cell] - 2) : 0;
        }
    }
    COTERIE_INLINE void stand_at(int32_t column) { column_ = column; }
    COTERIE_INLINE Span operator[](int k) { return within(k, 2); }
    // Only so many columns to the left and right.
    COTERIE_INLINE Span within(int k, int columns) {
        begin_[k] = move_on(g_.column, begin_[k], last_[k], column_ - 2);
        const int32_t begin =
            columns == 2 ? begin_[k] : move_on(g_.column, begin_[k], last_[k], column_ - columns);
        return {begin, move_on(g_.column, begin, last_[k], column_ + columns + 1)};
    }

private:
    const GridView& g_;
    int32_t column_ = 0, begin_[kRows], last_[kRows];
};

// Calls use(cell, around) for the cells [begin, end).
template <class Use>
COTERIE_INLINE void for_cells(const GridView& g, int32_t begin, int32_t end, Use use) {
    int32_t row = first_from(g.row_begin, 0, g.height, begin + 1) - 1;
    for (int32_t cell = begin; cell < end; ++row) {
        const int32_t row_end = g.row_begin[row + 1] < end ? g.row_begin[row + 1] : end;
        if (cell >= row_end)
            continue;
        Around around(g, row, cell);
        for (; cell < row_end; ++cell) {
            around.stand_at(g.column[cell]);
            use(cell, around);
        }
    }
}

COTERIE_INLINE Span slots_of(const GridView& g, Span cells) {
    return {g.start[cells.begin], g.start[cells.end]};
}

// The first `count` lanes, of which there may be more than enough.
COTERIE_INLINE uint32_t lanes(int32_t count) {
    return count >= W ? (1u << W) - 1 : (1u << count) - 1;
}

COTERIE_INLINE VF squares(const GridView& g, int32_t slot, VF x, VF y) {
    const VF a = load<VF>(g.x + slot) - x, b = load<VF>(g.y + slot) - y;
    return fma(b, b, a * a);
}

// Which of the slots from `from` to `to`, the first W of them, are nearby the point at `slot`.
COTERIE_INLINE uint32_t hits_of(const GridTask& task, int32_t slot, int32_t from, int32_t to) {
    const GridView& g = task.grid;
    const VF s = squares(g, from, all(g.x[slot]), all(g.y[slot]));
    const uint32_t there = lanes(to - from);
    uint32_t sure = bits(s <= all(g.inner)) & there;
    for (uint32_t maybe = bits(s <= all(g.outer)) & there & ~sure; maybe; maybe &= maybe - 1)
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

// Adds to found[p] how many slots are certainly nearby P points; true if some are too close to
// tell.
template <int P>
COTERIE_INLINE bool count_points(const GridView& g, Span slots, const VF* x, const VF* y,
                                 int64_t* found) {
    const VF inner = all(g.inner), outer = all(g.outer);
    VI doubt = {};
    for (int32_t j = slots.begin; j < slots.end; j += W) {
        const uint32_t there = lanes(slots.end - j);
        for (int p = 0; p < P; ++p) {
            const VF s = squares(g, j, x[p], y[p]);
            const VI near = s <= inner;
            doubt |= near ^ (s <= outer);
            found[p] += __builtin_popcount(bits(near) & there);
        }
    }
    return bits(doubt) != 0;
}

// The points of one cell, P at a time: how many points are nearby, up to `enough`.
template <int P>
COTERIE_INLINE void count_some(const GridTask& task, const Span* slots, int32_t first,
                               int32_t count, int64_t enough, int64_t* found) {
    const GridView& g = task.grid;
    VF x[P], y[P];
    for (int p = 0; p < P; ++p) {
        x[p] = all(g.x[first + (p < count ? p : 0)]);
        y[p] = all(g.y[first + (p < count ? p : 0)]);
        found[p] = 0;
    }
    bool doubt = false;
    for (int k = 0; k < kRows; ++k) {
        doubt |= count_points<P>(g, slots[k], x, y, found);
        int64_t least = found[0];
        for (int p = 1; p < P; ++p)
            least = found[p] < least ? found[p] : least;
        if (least >= enough)
            return;
    }
    if (!doubt)
        return;
    for (int p = 0; p < count; ++p) {
        if (found[p] >= enough)
            continue;
        found[p] = 0;
        for (int k = 0; k < kRows; ++k)
            for (int32_t j = slots[k].begin; j < slots[k].end; j += W)
                found[p] += __builtin_popcount(hits_of(task, first + p, j, slots[k].end));
    }
}

void count(const GridTask& task, int thread, int32_t begin, int32_t end, int64_t enough,
           uint8_t* core, int64_t* found) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, Around& around) {
        const int32_t first = g.start[cell], last = g.start[cell + 1];
        if (!found && last - first >= enough) {
            std::memset(core + first, 1, last - first);
            return;
        }
        Span slots[kRows];
        int64_t points = 0;
        for (int k = 0; k < kRows; ++k) {
            slots[k] = slots_of(g, around[k]);
            points += slots[k].end - slots[k].begin;
        }
        if (!found && points < enough) {
            std::memset(core + first, 0, last - first);
            return;
        }
        constexpr int P = 4;
        for (int32_t i = first; i < last; i += P) {
            patience.spend(P * points);
            const int32_t some = last - i < P ? last - i : P;
            const int64_t stop = found ? g.n + 1 : enough;
            int64_t near[P];
            if (some == 1)
                count_some<1>(task, slots, i, some, stop, near);
            else if (some == 2)
                count_some<2>(task, slots, i, some, stop, near);
            else
                count_some<P>(task, slots, i, some, stop, near);
            for (int p = 0; p < some; ++p) {
                core[i + p] = near[p] >= enough;
                if (found)
                    found[i + p] = near[p];
            }
        }
    });
}

void visit(const GridTask& task, int thread, int32_t begin, int32_t end, OnSlots on_slots,
           void* to) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, Around& around) {
        for (int k = 0; k < kRows; ++k) {
            const Span slots = slots_of(g, around[k]);
            for (int32_t i = g.start[cell]; i < g.start[cell + 1]; ++i)
                for (int32_t j = slots.begin; j < slots.end; j += W) {
                    patience.spend(W);
                    if (const uint32_t hits = hits_of(task, i, j, slots.end))
                        on_slots(to, i, j, hits);
                }
        }
    });
}

// Is any of the slots of a nearby any of those of b?
COTERIE_INLINE bool any_of(const GridTask& task, Span a, Span b) {
    for (int32_t i = a.begin; i < a.end; ++i)
        for (int32_t j = b.begin; j < b.end; j += W)
            if (hits_of(task, i, j, b.end))
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
    for_cells(g, begin, end, [&](int32_t cell, Around& around) {
        if (!links.cores[cell])
            return;
        for (int k = 0; k < 2; ++k) { // the own row and the one before
            const Span near = around.within(k, 1);
            for (int32_t b = near.begin; b < near.end && b < cell; ++b)
                if (links.cores[b])
                    link(task, patience, links, cell, b);
        }
    });
}

// Which of the cells from `from` to `to`, the first W of them, have core points of another set.
COTERIE_INLINE uint32_t other_sets(const CellLinks& links, int32_t from, int32_t to, int32_t root) {
    const VI roots = load<VI>(links.roots + from);
    return bits((roots != all(root)) & (roots >= 0)) & lanes(to - from);
}

void link_far(const GridTask& task, int thread, int32_t begin, int32_t end,
              const CellLinks& links) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, Around& around) {
        const int32_t root = links.roots[cell];
        if (root < 0)
            return;
        for (const int k : kBefore) {
            const Span near = around[k];
            const int32_t last = near.end < cell ? near.end : cell;
            for (int32_t b = near.begin; b < last; b += W)
                for (uint32_t set = other_sets(links, b, last, root); set; set &= set - 1)
                    link(task, patience, links, cell, b + lowest(set));
        }
    });
}

void label(const GridTask& task, int thread, int32_t begin, int32_t end, const CellLinks& links,
           int64_t* labels) {
    const GridView& g = task.grid;
    constexpr int32_t none = 0x7fffffff;
    Patience patience{task, thread};
    for_cells(g, begin, end, [&](int32_t cell, Around& around) {
        const Span cores = cores_of(g, links, cell);
        const int32_t last = g.start[cell + 1], root = links.roots[cell];
        const int32_t own = root < 0 ? none : links.number[root];
        for (int32_t i = cores.begin; i < cores.end; ++i)
            labels[g.row[i]] = own;
        if (cores.end == last)
            return;
        // A point that is no core point joins the lowest-numbered cluster that reaches it.
        struct {
            int32_t cell, cluster;
        } lower[kRows * 5];
        int count = 0;
        for (int k = 0; k < kRows; ++k) {
            const Span near = around[k];
            for (int32_t b = near.begin; b < near.end; b += W)
                for (uint32_t set = other_sets(links, b, near.end, root); set; set &= set - 1)
                    if (const int32_t at = b + lowest(set); links.number[links.roots[at]] < own)
                        lower[count++] = {at, links.number[links.roots[at]]};
        }
        for (int32_t i = cores.end; i < last; ++i) {
            int32_t best = own;
            for (int q = 0; q < count; ++q) {
                if (lower[q].cluster >= best)
                    continue;
                patience.spend(links.cores[lower[q].cell]);
                if (any_of(task, {i, i + 1}, cores_of(g, links, lower[q].cell)))
                    best = lower[q].cluster;
            }
            labels[g.row[i]] = best == none ? -1 : best;
        }
    });
}

} // namespace

GridKernels grid() { return {count, visit, link_near, link_far, label}; }

} // namespace coterie::COTERIE_LEVEL

// grid.cpp: counting, connecting and labelling over the cells of a grid.
#include "dbscan/kernels.hpp"
#include "dbscan/kernels/grid_neighbours.hpp"
#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL::dbscan {
namespace {

constexpr int64_t kPatience = 1 << 20;  // pairs between looks for signals
constexpr int64_t kManyPairs = 1 << 12; // more are not all compared
constexpr int32_t kProbe = 64;          // but first some, which mostly is enough

constexpr int32_t kLane[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// The first `count` lanes, of which there may be more than enough.
COTERIE_INLINE VI first_lanes(int32_t count) { return load<VI>(kLane) < all(count); }

// The same as bits.
COTERIE_INLINE uint32_t lanes(int32_t count) {
    return count >= W ? (1u << W) - 1 : (1u << count) - 1;
}

COTERIE_INLINE int lowest(uint32_t set) { return __builtin_ctz(set); }

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

// Sums of four vectors, in the first four lanes: neighbours are added until a lane is one vector's.
template <size_t... Q>
COTERIE_INLINE VI sums_of_four(VI a, VI b, VI c, VI d, std::index_sequence<Q...>) {
#define COTERIE_LANES(u, v, first, second)                                                         \
    __builtin_shufflevector(u, v, (first)...) + __builtin_shufflevector(u, v, (second)...)
    const VI ab = COTERIE_LANES(a, b, int(Q & ~1) + (Q & 1 ? W : 0), int(Q | 1) + (Q & 1 ? W : 0));
    const VI cd = COTERIE_LANES(c, d, int(Q & ~1) + (Q & 1 ? W : 0), int(Q | 1) + (Q & 1 ? W : 0));
    VI sum = COTERIE_LANES(ab, cd, int(Q & ~2) + (Q & 2 ? W : 0), int(Q | 2) + (Q & 2 ? W : 0));
#undef COTERIE_LANES
    if constexpr (W >= 8)
        sum += __builtin_shufflevector(sum, sum, int(Q ^ 4)...);
    if constexpr (W >= 16)
        sum += __builtin_shufflevector(sum, sum, int(Q ^ 8)...);
    return sum;
}

// Up to P points of one cell: how many points are nearby each, up to `enough`.
template <int P>
COTERIE_INLINE void count_some(const GridTask& task, const Surroundings& around, int32_t first,
                               int32_t count, int32_t enough, int32_t* found) {
    const GridView& g = task.grid;
    VF x[P], y[P];
    VI near[P] = {}, doubt = {};
    for (int p = 0; p < P; ++p) {
        x[p] = all(g.x[first + (p < count ? p : 0)]);
        y[p] = all(g.y[first + (p < count ? p : 0)]);
    }
    for (int k = 0; k < kRows; ++k) {
        const Span slots = around.slots[k];
        for (int32_t j = slots.begin; j < slots.end; j += W) {
            const VI there = first_lanes(slots.end - j);
            for (int p = 0; p < P; ++p) {
                const VF s = squares(g, j, x[p], y[p]);
                const VI sure = there & (s <= all(g.inner));
                near[p] -= sure;
                doubt |= sure ^ (there & (s <= all(g.outer)));
            }
        }
        if (k == 0 || k == 3)
            continue; // seldom enough, or seldom more than before
        const VI sums = sums_of_four(near[0], near[P > 1 ? 1 : 0], near[P > 2 ? 2 : 0],
                                     near[P > 3 ? 3 : 0], std::make_index_sequence<W>{});
        std::memcpy(found, &sums, 4 * sizeof(int32_t));
        if ((bits(sums < all(enough)) & ((1u << P) - 1)) == 0)
            return;
    }
    if (!bits(doubt))
        return;
    for (int p = 0; p < count; ++p) {
        if (found[p] >= enough)
            continue;
        found[p] = 0;
        for (const Span& slots : around.slots)
            for (int32_t j = slots.begin; j < slots.end; j += W)
                found[p] += __builtin_popcount(hits_of(task, first + p, j, slots.end));
    }
}

struct Counting {
    const GridTask& task;
    int32_t enough;
    uint8_t* core;   // (n,) out
    int32_t* cores;  // (cells,) out
    int64_t* counts; // (n,) out or null
    Patience patience;

    COTERIE_INLINE bool clique(int32_t cell) const {
        return !counts && task.grid.start[cell + 1] - task.grid.start[cell] >= enough;
    }
    COTERIE_INLINE void all_alike(int32_t cell, bool are_core) const {
        const Span own = slots_of(task.grid, {cell, cell + 1});
        std::memset(core + own.begin, are_core, own.end - own.begin);
        cores[cell] = are_core ? own.end - own.begin : 0;
    }
    COTERIE_INLINE void compare(int32_t cell, const Surroundings& around) {
        const Span own = slots_of(task.grid, {cell, cell + 1});
        const int64_t points = around.points();
        if (!counts && points < enough)
            return all_alike(cell, false);
        constexpr int P = 4;
        const int32_t stop = counts ? 0x7fffffff : enough;
        cores[cell] = 0;
        for (int32_t i = own.begin; i < own.end; i += P) {
            patience.spend(P * points);
            const int32_t some = own.end - i < P ? own.end - i : P;
            int32_t found[P];
            if (some == 1)
                count_some<1>(task, around, i, some, stop, found);
            else if (some == 2)
                count_some<2>(task, around, i, some, stop, found);
            else
                count_some<P>(task, around, i, some, stop, found);
            for (int p = 0; p < some; ++p) {
                core[i + p] = found[p] >= enough;
                cores[cell] += found[p] >= enough;
                if (counts)
                    counts[i + p] = found[p];
            }
        }
    }
};

void count(const GridTask& task, int thread, int32_t begin, int32_t end, int64_t enough,
           uint8_t* core, int32_t* cores, int64_t* counts) {
    const GridView& g = task.grid;
    const auto wanted = static_cast<int32_t>(enough < 0x7fffffff ? enough : 0x7fffffff);
    Counting counting{task, wanted, core, cores, counts, {task, thread}};
    Around around(g, g.key[begin]);
    for (int32_t cell = begin; cell < end;) {
        int32_t cells[Around::kMost], keys[Around::kMost];
        int some = 0;
        for (; cell < end && some < Around::kMost; ++cell) {
            cells[some] = cell;
            keys[some] = g.key[cell];
            if (counting.clique(cell))
                counting.all_alike(cell, true);
            else
                ++some;
        }
        around.look(keys, some);
        for (int q = 0; q < some; ++q)
            counting.compare(cells[q], around[q]);
    }
}

void visit(const GridTask& task, int thread, int32_t begin, int32_t end, OnSlots on_slots,
           void* to) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    Around around(g, g.key[begin]);
    for (int32_t cell = begin; cell < end; ++cell) {
        around.look(g.key + cell, 1);
        for (const Span& slots : around[0].slots)
            for (int32_t i = g.start[cell]; i < g.start[cell + 1]; ++i)
                for (int32_t j = slots.begin; j < slots.end; j += W) {
                    patience.spend(W);
                    if (const uint32_t hits = hits_of(task, i, j, slots.end))
                        on_slots(to, i, j, hits);
                }
    }
}

// Is any of the slots of a nearby any of those of b?
COTERIE_INLINE bool any_of(const GridTask& task, Span a, Span b) {
    for (int32_t i = a.begin; i < a.end; ++i)
        for (int32_t j = b.begin; j < b.end; j += W)
            if (hits_of(task, i, j, b.end))
                return true;
    return false;
}

COTERIE_INLINE void link(const GridTask& task, Patience& patience, const CellLinks& links,
                         int32_t a, int32_t b) {
    if (links.sets.same(a, b))
        return;
    const Span p = slots_of(task.grid, {a, a + 1}), q = slots_of(task.grid, {b, b + 1});
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
    Stretch before(g, g.key[begin], -1, 1);
    for (int32_t cell = begin; cell < end; ++cell) {
        const int32_t key = g.key[cell];
        if (cell > 0 && g.key[cell - 1] == key - 1)
            link(task, patience, links, cell, cell - 1);
        const Span near = before(key);
        for (int32_t b = near.begin; b < near.end; ++b)
            link(task, patience, links, cell, b);
    }
}

// Which of the cells from `from` to `to`, the first W of them, belong to another set.
COTERIE_INLINE uint32_t other_sets(const CellLinks& links, int32_t from, int32_t to, int32_t root) {
    return bits(load<VI>(links.roots + from) != all(root)) & lanes(to - from);
}

void link_far(const GridTask& task, int thread, int32_t begin, int32_t end,
              const CellLinks& links) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    Stretch rows[] = {{g, g.key[begin], 0, 2}, {g, g.key[begin], -1, 2}, {g, g.key[begin], -2, 2}};
    for (int32_t cell = begin; cell < end; ++cell)
        for (Stretch& row : rows) {
            const Span near = row(g.key[cell]);
            const int32_t last = near.end < cell ? near.end : cell;
            for (int32_t b = near.begin; b < last; b += W)
                for (uint32_t set = other_sets(links, b, last, links.roots[cell]); set;
                     set &= set - 1)
                    link(task, patience, links, cell, b + lowest(set));
        }
}

// The smallest number of a core point nearby the point at `slot`; `none` without one.
COTERIE_INLINE int32_t smallest_nearby(const GridTask& task, const Surroundings& around,
                                       int32_t slot, const int32_t* number, int32_t none) {
    const GridView& g = task.grid;
    const VF x = all(g.x[slot]), y = all(g.y[slot]);
    VI best = all(none);
    int32_t smallest = none;
    for (const Span& slots : around.slots)
        for (int32_t j = slots.begin; j < slots.end; j += W) {
            const VF s = squares(g, j, x, y);
            const VI numbers = load<VI>(number + j), there = first_lanes(slots.end - j);
            const VI near = there & (s <= all(g.inner));
            best = (near & (numbers < best)) ? numbers : best;
            for (uint32_t ask = bits(there & (s <= all(g.outer)) & ~near); ask; ask &= ask - 1) {
                const int32_t at = j + lowest(ask);
                if (number[at] < smallest && task.space->nearby(g.row[slot], g.row[at]))
                    smallest = number[at];
            }
        }
    if (bits(best < all(none)))
        for (int q = 0; q < W; ++q)
            smallest = best[q] < smallest ? best[q] : smallest;
    return smallest;
}

// A point that is no core point joins the lowest-numbered cluster that reaches it.
void join(const GridTask& task, const GridView& others, int thread, int32_t begin, int32_t end,
          const int32_t* number, int64_t* labels) {
    constexpr int32_t none = 0x7fffffff;
    Patience patience{task, thread};
    Around around(task.grid, others.key[begin]);
    for (int32_t cell = begin; cell < end; cell += Around::kMost) {
        const int some = end - cell < Around::kMost ? end - cell : Around::kMost;
        around.look(others.key + cell, some);
        for (int q = 0; q < some; ++q) {
            const int64_t points = around[q].points();
            for (int32_t i = others.start[cell + q]; i < others.start[cell + q + 1]; ++i) {
                patience.spend(points);
                const int32_t found =
                    points ? smallest_nearby(task, around[q], i, number, none) : none;
                labels[others.row[i]] = found == none ? -1 : found;
            }
        }
    }
}

} // namespace

GridKernels grid() { return {count, visit, link_near, link_far, join}; }

} // namespace coterie::COTERIE_LEVEL::dbscan

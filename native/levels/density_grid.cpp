// density_grid.cpp: counting, connecting and labelling over the cells of a grid.
#include "coterie/grid_kernels.hpp"
#include "coterie/simd.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kRows = 5; // rows of cells that can hold neighbours
constexpr int kOffsets[kRows] = {0, -1, 1, -2, 2};
constexpr int64_t kPatience = 1 << 20;  // pairs between looks for signals
constexpr int64_t kManyPairs = 1 << 12; // more are not all compared
constexpr int32_t kProbe = 64;          // but first some, which mostly is enough

struct Span {
    int32_t begin, end; // of cells, or of slots
};

constexpr int32_t kLane[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// The first `count` lanes, of which there may be more than enough.
COTERIE_INLINE VI first_lanes(int32_t count) { return load<VI>(kLane) < all(count); }

template <int Half, size_t... Q> COTERIE_INLINE VI swapped(VI v, std::index_sequence<Q...>) {
    return __builtin_shufflevector(v, v, (int(Q) ^ Half)...);
}
template <int Half = W / 2> COTERIE_INLINE int32_t total(VI v) {
    if constexpr (Half == 0)
        return v[0];
    else
        return total<Half / 2>(v + swapped<Half>(v, std::make_index_sequence<W>{}));
}

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

// The cells of one row that lie at most so many columns away from where one stands. They only move
// on, from key to key, and only when they are asked for.
class Stretch {
public:
    COTERIE_INLINE Stretch(const GridView& g, int32_t key, int rows, int columns)
        : keys_(g.key), shift_(rows * g.stride - columns), width_(2 * columns + 1),
          at_(first_from(g.key, 0, g.cells, key + shift_)) {}
    COTERIE_INLINE Span operator()(int32_t key) {
        const VI least = all(key + shift_), beyond = least + width_;
        VI seen = load<VI>(keys_ + at_);
        int before = lowest(~bits(seen < least));
        while (before == W) {
            seen = load<VI>(keys_ + (at_ += W));
            before = lowest(~bits(seen < least));
        }
        int within = lowest(~bits(seen < beyond));
        const int32_t first = at_;
        at_ += before;
        if (within < W)
            return {at_, first + within};
        int32_t end = at_;
        while ((within = lowest(~bits(load<VI>(keys_ + end) < beyond))) == W)
            end += W;
        return {at_, end + within};
    }

private:
    const int32_t* keys_;
    int32_t shift_, width_, at_;
};

// The cells of five rows that can hold neighbours of the points of one cell, the own row first.
class Around {
public:
    COTERIE_INLINE Around(const GridView& g, int32_t key) : Around(g, key, Five{}) {}
    COTERIE_INLINE Span operator()(int k, int32_t key) { return rows_[k](key); }

private:
    using Five = std::make_integer_sequence<int, kRows>;
    template <int... K>
    COTERIE_INLINE Around(const GridView& g, int32_t key, std::integer_sequence<int, K...>)
        : rows_{Stretch(g, key, kOffsets[K], 2)...} {}
    Stretch rows_[kRows];
};

COTERIE_INLINE Span slots_of(const GridView& g, Span cells) {
    return {g.start[cells.begin], g.start[cells.end]};
}

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

// How many points are nearby P points of one cell: at least `sure`, at most `most` of them.
template <int P> struct Tally {
    const GridView& g;
    VF x[P], y[P];
    VI sure[P] = {}, most[P] = {}; // by lane

    COTERIE_INLINE Tally(const GridView& grid, int32_t first, int32_t count) : g(grid) {
        for (int p = 0; p < P; ++p) {
            x[p] = all(g.x[first + (p < count ? p : 0)]);
            y[p] = all(g.y[first + (p < count ? p : 0)]);
        }
    }
    COTERIE_INLINE void add(Span slots) {
        const VF inner = all(g.inner), outer = all(g.outer);
        for (int32_t j = slots.begin; j < slots.end; j += W) {
            const VI there = first_lanes(slots.end - j);
            for (int p = 0; p < P; ++p) {
                const VF s = squares(g, j, x[p], y[p]);
                sure[p] -= there & (s <= inner);
                most[p] -= there & (s <= outer);
            }
        }
    }
};

// The points of one cell, P at a time: how many points are nearby, up to `enough`.
template <int P>
COTERIE_INLINE void count_some(const GridTask& task, const Span* slots, int32_t first,
                               int32_t count, int64_t enough, int64_t* found) {
    Tally<P> tally(task.grid, first, count);
    for (int k = 0; k < kRows; ++k) {
        tally.add(slots[k]);
        if (k == 0 || k == 3)
            continue; // seldom enough, or seldom more than before
        int64_t least = found[0] = total(tally.sure[0]);
        for (int p = 1; p < P; ++p) {
            found[p] = total(tally.sure[p]);
            least = found[p] < least ? found[p] : least;
        }
        if (least >= enough)
            return;
    }
    for (int p = 0; p < count; ++p) {
        if (found[p] >= enough || total(tally.most[p]) == found[p])
            continue;
        found[p] = 0;
        for (int k = 0; k < kRows; ++k)
            for (int32_t j = slots[k].begin; j < slots[k].end; j += W)
                found[p] += __builtin_popcount(hits_of(task, first + p, j, slots[k].end));
    }
}

void count(const GridTask& task, int thread, int32_t begin, int32_t end, int64_t enough,
           uint8_t* core, int32_t* cores, int64_t* found) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    Around around(g, g.key[begin]);
    for (int32_t cell = begin; cell < end; ++cell) {
        const int32_t first = g.start[cell], last = g.start[cell + 1];
        if (!found && last - first >= enough) {
            std::memset(core + first, 1, last - first);
            cores[cell] = last - first;
            continue;
        }
        cores[cell] = 0;
        Span slots[kRows];
        int64_t points = 0;
        for (int k = 0; k < kRows; ++k) {
            slots[k] = slots_of(g, around(k, g.key[cell]));
            points += slots[k].end - slots[k].begin;
        }
        if (!found && points < enough) {
            std::memset(core + first, 0, last - first);
            continue;
        }
        constexpr int P = 4;
        for (int32_t i = first; i < last; i += P) {
            patience.spend(P * points);
            const int32_t some = last - i < P ? last - i : P;
            const int64_t stop = found ? task.space->n() + 1 : enough;
            int64_t near[P];
            if (some == 1)
                count_some<1>(task, slots, i, some, stop, near);
            else if (some == 2)
                count_some<2>(task, slots, i, some, stop, near);
            else
                count_some<P>(task, slots, i, some, stop, near);
            for (int p = 0; p < some; ++p) {
                core[i + p] = near[p] >= enough;
                cores[cell] += near[p] >= enough;
                if (found)
                    found[i + p] = near[p];
            }
        }
    }
}

void visit(const GridTask& task, int thread, int32_t begin, int32_t end, OnSlots on_slots,
           void* to) {
    const GridView& g = task.grid;
    Patience patience{task, thread};
    Around around(g, g.key[begin]);
    for (int32_t cell = begin; cell < end; ++cell)
        for (int k = 0; k < kRows; ++k) {
            const Span slots = slots_of(g, around(k, g.key[cell]));
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

// A point that is no core point joins the lowest-numbered cluster that reaches it.
void join(const GridTask& task, const GridView& others, int thread, int32_t begin, int32_t end,
          const int32_t* number, int64_t* labels) {
    const GridView& g = task.grid;
    constexpr int32_t none = 0x7fffffff;
    Patience patience{task, thread};
    Around around(g, others.key[begin]);
    for (int32_t cell = begin; cell < end; ++cell) {
        Span slots[kRows];
        int64_t points = 0;
        for (int k = 0; k < kRows; ++k) {
            slots[k] = slots_of(g, around(k, others.key[cell]));
            points += slots[k].end - slots[k].begin;
        }
        for (int32_t i = others.start[cell]; i < others.start[cell + 1]; ++i) {
            patience.spend(points);
            VI best = all(none);
            int32_t lowest_asked = none;
            const VF x = all(g.x[i]), y = all(g.y[i]);
            for (int k = 0; points && k < kRows; ++k)
                for (int32_t j = slots[k].begin; j < slots[k].end; j += W) {
                    const VF s = squares(g, j, x, y);
                    const VI there = first_lanes(slots[k].end - j), numbers = load<VI>(number + j);
                    const VI near = there & (s <= all(g.inner));
                    const VI lower = near & (numbers < best);
                    best = lower ? numbers : best;
                    for (uint32_t ask = bits(there & (s <= all(g.outer)) & ~near); ask;
                         ask &= ask - 1) {
                        const int32_t at = j + lowest(ask);
                        if (number[at] < lowest_asked && task.space->nearby(g.row[i], g.row[at]))
                            lowest_asked = number[at];
                    }
                }
            for (int q = 0; q < W; ++q)
                lowest_asked = best[q] < lowest_asked ? best[q] : lowest_asked;
            labels[g.row[i]] = lowest_asked == none ? -1 : lowest_asked;
        }
    }
}

} // namespace

GridKernels grid() { return {count, visit, link_near, link_far, join}; }

} // namespace coterie::COTERIE_LEVEL

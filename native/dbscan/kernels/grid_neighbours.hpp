// grid_neighbours.hpp: the points of a grid that can be nearby the points of a cell.
#pragma once

#include "dbscan/kernels.hpp"
#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL::dbscan {

constexpr int kRows = 5; // rows of cells that can hold neighbours
constexpr int kOffsets[kRows] = {0, -1, 1, -2, 2};

struct Span {
    int32_t begin, end; // of cells, or of slots
};

// Bits that are set from the lowest one on, and no others: how many. BSF would tell as well,
// but takes some machines eight times as long.
COTERIE_INLINE int run_of(uint32_t set) {
#if defined(__POPCNT__)
    return __builtin_popcount(set);
#else
    return __builtin_ctz(~set);
#endif
}

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
        int before = run_of(bits(seen < least));
        while (before == W) {
            seen = load<VI>(keys_ + (at_ += W));
            before = run_of(bits(seen < least));
        }
        int within = run_of(bits(seen < beyond));
        const int32_t first = at_;
        at_ += before;
        if (within < W)
            return {at_, first + within};
        int32_t end = at_;
        while ((within = run_of(bits(load<VI>(keys_ + end) < beyond))) == W)
            end += W;
        return {at_, end + within};
    }

private:
    const int32_t* keys_;
    int32_t shift_, width_, at_;
};

COTERIE_INLINE Span slots_of(const GridView& g, Span cells) {
    return {g.start[cells.begin], g.start[cells.end]};
}

// Five rows of cells can hold neighbours of the points of one cell.
struct Surroundings {
    Span slots[kRows]; // the own row first
    int64_t points() const {
        int64_t sum = 0;
        for (const Span& some : slots)
            sum += some.end - some.begin;
        return sum;
    }
};

// Finds them for some cells at once. After a wrong branch prediction about one cell, the next would
// wait; so nothing else comes in between.
class Around {
public:
    COTERIE_INLINE Around(const GridView& g, int32_t key) : Around(g, key, Five{}) {}
    COTERIE_INLINE void look(const int32_t* keys, int count) { look(keys, count, Five{}); }
    const Surroundings& operator[](int q) const { return found_[q]; }
    static constexpr int kMost = 16; // cells

private:
    using Five = std::make_integer_sequence<int, kRows>;
    template <int... K>
    COTERIE_INLINE Around(const GridView& g, int32_t key, std::integer_sequence<int, K...>)
        : g_(g), rows_{Stretch(g, key, kOffsets[K], 2)...} {}
    template <int... K>
    COTERIE_INLINE void look(const int32_t* keys, int count, std::integer_sequence<int, K...>) {
        Stretch rows[] = {rows_[K]...}; // in registers
        for (int q = 0; q < count; ++q)
            ((found_[q].slots[K] = slots_of(g_, rows[K](keys[q]))), ...);
        ((rows_[K] = rows[K]), ...);
    }
    const GridView& g_;
    Stretch rows_[kRows];
    Surroundings found_[kMost];
};

} // namespace coterie::COTERIE_LEVEL::dbscan

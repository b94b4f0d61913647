// union_find.hpp: disjoint sets, united by several threads at once without locks.
//
// A union-find with path halving (Tarjan and van Leeuwen, 1984) and atomic links. Every element
// points to a smaller one of its set, the smallest to itself, so the answer does not depend on the
// order in which pairs are united.
#pragma once

#include <cstdint>

#include "core/inline.hpp"

namespace coterie {

class UnionFind {
public:
    UnionFind() = default;
    explicit UnionFind(uint32_t* parents) : parents_(parents) {}

    // Each element must be set once before it is used: as a set of its own, or below a root that
    // no other thread is uniting yet.
    COTERIE_INLINE void start(uint32_t x, uint32_t root) const { set(x, root); }

    // The smallest element of the set, as far as it is united by now.
    COTERIE_INLINE uint32_t find(uint32_t x) const {
        uint32_t y = parent(x);
        while (y != x) {
            const uint32_t z = parent(y);
            if (z != y) // an update lost to another thread costs time only
                set(x, z);
            x = z;
            y = parent(x);
        }
        return x;
    }

    COTERIE_INLINE bool same(uint32_t a, uint32_t b) const {
        for (;;) {
            a = find(a);
            b = find(b);
            if (a == b)
                return true;
            if (parent(a) == a)
                return false; // a was still a root after b's was found
        }
    }

    COTERIE_INLINE void unite(uint32_t a, uint32_t b) const {
        for (;;) {
            a = find(a);
            b = find(b);
            if (a == b)
                return;
            uint32_t high = a < b ? b : a;
            const uint32_t low = a < b ? a : b;
            uint32_t* place = parents_ + high;
            if (__atomic_compare_exchange_n(place, &high, low, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
                return;
        }
    }

private:
    COTERIE_INLINE uint32_t parent(uint32_t x) const {
        return __atomic_load_n(parents_ + x, __ATOMIC_RELAXED);
    }
    COTERIE_INLINE void set(uint32_t x, uint32_t value) const {
        __atomic_store_n(parents_ + x, value, __ATOMIC_RELAXED);
    }
    uint32_t* parents_ = nullptr; // (n,)
};

// Makes *place the smaller of its value and `value`, while other threads may do the same.
COTERIE_INLINE void lower(int32_t* place, int32_t value) {
    int32_t seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(place, &seen, value, true, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
}

} // namespace coterie

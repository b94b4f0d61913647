// screen_pairs.hpp: responsibilities of a leaf where few matter, pair by pair of a component
// and a row. The results are bit for bit those of leaf.cpp for all of them: the others are zeros.
#pragma once

#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

struct Pairs {
    static constexpr int kWords = kLeafRows / 64;

    double* values;  // (k, 256) log densities that were put; once joined, (count,) of them alone
    uint64_t* marks; // (k, kWords) a bit for each row: was one put?
    uint8_t* places; // (k * 256,) rows of the pairs, by component and in order
    int32_t* starts; // (k + 1,) where the pairs of each component begin

    void clear(int k) const { std::memset(marks, 0, sizeof(uint64_t) * kWords * k); }
    void put(int c, int row, double log) const {
        values[c * kLeafRows + row] = log;
        marks[c * kWords + row / 64] |= uint64_t{1} << row % 64;
    }
    void join(int k) const;

    // After that: labels, or first exponentials and then weights.
    void choose_labels(const Leaf& leaf, int32_t* out) const;
    void exponentiate(const Leaf& leaf, const double* limits) const;
    void weigh(const Leaf& leaf) const;

    // visit(c, row, value) for every pair: by component, then by row.
    template <class Visit> COTERIE_INLINE void for_each(int k, const Visit& visit) const {
        for (int c = 0; c < k; ++c)
            for (int t = starts[c]; t < starts[c + 1]; ++t)
                visit(c, places[t], values[t]);
    }
};

} // namespace coterie::COTERIE_LEVEL::mixture

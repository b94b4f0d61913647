// screen_pairs.cpp: from log densities to responsibilities, pair by pair.
#include "mixture/kernels/screen_pairs.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

// None is put before the place that it is taken from, so values need no second room.
void Pairs::join(int k) const {
    int count = 0;
    for (int c = 0; c < k; ++c) {
        starts[c] = count;
        for (int w = 0; w < kWords; ++w)
            for (uint64_t left = marks[c * kWords + w]; left; left &= left - 1, ++count) {
                const int row = 64 * w + __builtin_ctzll(left);
                places[count] = static_cast<uint8_t>(row);
                values[count] = values[c * kLeafRows + row];
            }
    }
    starts[k] = count;
}

void Pairs::choose_labels(const Leaf& leaf, int32_t* out) const {
    double best[kLeafRows];
    std::fill(best, best + leaf.n, -INFINITY);
    std::fill(out, out + leaf.n, 0);
    for_each(leaf.k, [&](int c, int row, double log) {
        if (log > best[row]) {
            best[row] = log;
            out[row] = c;
        }
    });
}

// Values become exponentials, and of these totals and shares of the leaf.
void Pairs::exponentiate(const Leaf& leaf, const double* limits) const {
    const int rows = 8 * leaf.groups;
    double *const top = leaf.top, *const total = leaf.total;
    std::fill(top, top + rows, -INFINITY);
    std::fill(total, total + rows, 0.0);
    for_each(leaf.k, [&](int, int row, double log) { top[row] = std::max(top[row], log); });
    for (int c = 0; c < leaf.k; ++c) {
        const double least = least_log(limits, c);
        for (int t = starts[c]; t < starts[c + 1]; ++t) {
            const double below = values[t] - top[places[t]];
            values[t] = below > least ? below : kLogOfZero;
        }
    }
    exponentials(values, (starts[leaf.k] + kLanes - 1) / kLanes);
    for_each(leaf.k, [&](int, int row, double value) { total[row] += value; });
    for (int r = 0; r < rows; r += kLanes)
        store(leaf.share + r, every(1.0) / load<VD>(total + r));
}

// Exponentials become weights times responsibilities.
void Pairs::weigh(const Leaf& leaf) const {
    for (int t = 0; t < starts[leaf.k]; ++t)
        values[t] *= leaf.share[places[t]];
}

} // namespace coterie::COTERIE_LEVEL::mixture

// kd_tree_top.hpp: the upper levels of a tree, from a sample.
#pragma once

#include "dbscan/kd_tree_rows.hpp"

namespace coterie::dbscan {

constexpr int kTogether = 8; // rows routed side by side

// Rows go to buckets by the splits of a sample, kept as a heap: node v has children 2 v, 2 v + 1.
template <class T> class TreeTop {
public:
    TreeTop(Team& team, const Space& space, const TreeScaling& scaling);

    int64_t buckets() const { return buckets_; }

    // x: (kTogether, d) of rows first, first + 1, ...; out: (count,). Several rows side by side
    // hide the time a lookup takes.
    void route(const T* x, int64_t first, int count, int d, uint16_t* out) const;

private:
    void choose(Team& team, int64_t v, int64_t begin, int64_t end, const std::vector<T>& sample,
                std::vector<int32_t>& order, int d);

    int levels_ = 0;
    int64_t buckets_ = 1;
    std::vector<int> column_;
    std::vector<T> value_;
};

extern template class TreeTop<float>;
extern template class TreeTop<double>;

} // namespace coterie::dbscan

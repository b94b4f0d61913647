// kd_tree_top.cpp: choosing the upper levels of a tree, and sending rows down them.
#include "dbscan/kd_tree_top.hpp"

#include <algorithm>

namespace coterie::dbscan {
namespace {

constexpr int kBucketRows = 2048; // about as many as should be in a bucket: they fit in cache
constexpr int kTopLevels = 12, kSamplePerBucket = 32;

// A coin for rows that lie on a splitting plane, so that equal rows spread over both sides.
inline uint32_t coin(int64_t i, int level) {
    return static_cast<uint32_t>((static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15ull) >>
                                 (63 - level)) &
           1;
}

} // namespace

template <class T> TreeTop<T>::TreeTop(Team& team, const Space& space, const TreeScaling& scaling) {
    const int64_t n = space.n();
    while ((n >> levels_) > kBucketRows && levels_ < kTopLevels)
        ++levels_;
    buckets_ = int64_t{1} << levels_;
    column_.assign(buckets_, 0);
    value_.assign(buckets_, T(0));
    if (levels_ == 0)
        return;
    const int d = space.width();
    const int64_t count = std::min<int64_t>(n, buckets_ * kSamplePerBucket);
    std::vector<T> sample(count * d);
    const Reader<T> read(space, scaling);
    const int64_t step = n / count;
    for (int64_t q = 0; q < count; ++q) // somewhere in each step, so that no period is hit
        read(q * step + static_cast<int64_t>(q * 2654435761u) % step, sample.data() + q * d);
    std::vector<int32_t> order(count);
    for (int64_t q = 0; q < count; ++q)
        order[q] = static_cast<int32_t>(q);
    choose(team, 1, 0, count, sample, order, d);
}

template <class T>
void TreeTop<T>::choose(Team& team, int64_t v, int64_t begin, int64_t end,
                        const std::vector<T>& sample, std::vector<int32_t>& order, int d) {
    if (v >= buckets_ || begin == end)
        return;
    team.check(0);
    int widest = 0;
    T width = -1;
    for (int l = 0; l < d; ++l) {
        T low = sample[static_cast<int64_t>(order[begin]) * d + l], high = low;
        for (int64_t q = begin; q < end; ++q) {
            const T x = sample[static_cast<int64_t>(order[q]) * d + l];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        if (high - low > width) {
            width = high - low;
            widest = l;
        }
    }
    const int64_t middle = (begin + end) / 2;
    std::nth_element(order.begin() + begin, order.begin() + middle, order.begin() + end,
                     [&](int32_t a, int32_t b) {
                         return sample[static_cast<int64_t>(a) * d + widest] <
                                sample[static_cast<int64_t>(b) * d + widest];
                     });
    column_[v] = widest;
    value_[v] = sample[static_cast<int64_t>(order[middle]) * d + widest];
    choose(team, 2 * v, begin, middle, sample, order, d);
    choose(team, 2 * v + 1, middle, end, sample, order, d);
}

template <class T>
void TreeTop<T>::route(const T* x, int64_t first, int count, int d, uint16_t* out) const {
    uint32_t v[kTogether];
    for (uint32_t& start : v)
        start = 1;
    for (int level = 0; level < levels_; ++level)
        for (int q = 0; q < kTogether; ++q) {
            const T c = x[q * d + column_[v[q]]], s = value_[v[q]];
            if (__builtin_expect(c == s, 0))
                v[q] = 2 * v[q] + coin(first + q, level);
            else
                v[q] = 2 * v[q] + (c > s);
        }
    for (int q = 0; q < count; ++q)
        out[q] = static_cast<uint16_t>(v[q] - buckets_);
}

template class TreeTop<float>;
template class TreeTop<double>;

} // namespace coterie::dbscan

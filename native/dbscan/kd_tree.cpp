// kd_tree.cpp: building the kd-tree.
#include "dbscan/kd_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dbscan/kd_tree_top.hpp"

namespace coterie::dbscan {
namespace {

constexpr int kSegments = 64;  // parts of the data, read independently
constexpr int kFewColumns = 4; // up to here, looser extents choose the widest column as well

// Order of floats as order of integers, with the position below, so that all keys differ.
inline uint64_t key_of(float value, uint32_t position) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return static_cast<uint64_t>(bits) << 32 | position;
}

// Puts the elements below the pivot first without branches; returns how many there are.
int32_t partition(uint64_t* a, int32_t n, uint64_t pivot, uint64_t* spare) {
    int32_t low = 0, high = 0;
    for (int32_t i = 0; i < n; ++i) {
        const uint64_t v = a[i];
        a[low] = v;
        spare[high] = v;
        low += v < pivot;
        high += v >= pivot;
    }
    std::memcpy(a + low, spare, sizeof(uint64_t) * high);
    return low;
}

// The smallest k elements first.
void select(uint64_t* a, int32_t n, int32_t k, uint64_t* spare) {
    while (n > 64) {
        uint64_t sample[16];
        const int count = n > 400 ? 15 : 7;
        for (int q = 0; q < count; ++q)
            sample[q] = a[static_cast<int64_t>(q) * (n - 1) / (count - 1)];
        std::sort(sample, sample + count);
        const int place = static_cast<int>(static_cast<int64_t>(k) * count / n);
        const int32_t below = partition(a, n, sample[std::clamp(place, 1, count - 1)], spare);
        if (k < below) {
            n = below;
        } else {
            a += below;
            n -= below;
            k -= below;
        }
    }
    std::nth_element(a, a + k, a + n);
}

} // namespace

// One bucket on its way into leaves. Coordinates lie (rows, d) in the order of `rows`.
template <class T> struct Tree<T>::Bottom {
    Team* team;
    int thread;
    const T* coordinates;
    const int32_t* rows;
    int32_t next_node; // free nodes of this bucket
    std::vector<uint64_t> keys, spare;
    std::vector<T> fetched; // where coordinates are fetched bucket by bucket
};

template <class T>
Tree<T>::Tree(Team& team, const Space& space, const TreeScaling& scaling)
    : width_(space.width()), stride_(box_stride(width_)) {
    const int64_t n = space.n();
    const int d = width_;
    const TreeTop<T> top(team, space, scaling);
    const int64_t buckets = top.buckets();
    const int64_t segment = (n + kSegments - 1) / kSegments;

    // Which bucket each row goes to; how many of each segment go where.
    Buffer<uint16_t> bucket(n);
    std::vector<int32_t> places(kSegments * buckets, 0);
    team.for_chunks(kSegments, 1, [&](int, int64_t s, int64_t) {
        const Reader<T> read(space, scaling);
        std::vector<T> x(kTogether * d);
        const int64_t last = std::min(n, (s + 1) * segment);
        for (int64_t i = s * segment; i < last; i += kTogether) {
            const int count = static_cast<int>(std::min<int64_t>(kTogether, last - i));
            for (int q = 0; q < count; ++q)
                read(i + q, x.data() + q * d);
            top.route(x.data(), i, count, d, bucket.data() + i);
            for (int q = 0; q < count; ++q)
                ++places[s * buckets + bucket[i + q]];
        }
    });
    std::vector<int32_t> starts(buckets + 1), leaf_starts(buckets + 1), node_starts(buckets + 1);
    int32_t position = 0, leaf = 0, node = static_cast<int32_t>(2 * buckets - 1);
    for (int64_t b = 0; b < buckets; ++b) {
        starts[b] = position;
        leaf_starts[b] = leaf;
        node_starts[b] = node;
        for (int64_t s = 0; s < kSegments; ++s) {
            const int32_t count = places[s * buckets + b];
            places[s * buckets + b] = position;
            position += count;
        }
        const int32_t leaves = (position - starts[b] + kLeaf - 1) / kLeaf;
        leaf += leaves;
        node += leaves > 0 ? 2 * leaves - 2 : 0;
    }
    starts[buckets] = position;
    leaf_starts[buckets] = leaf;
    leaves_ = leaf;
    nodes_ = node;

    // Rows in the order of buckets; with few columns their coordinates too.
    const bool copied = d <= 16;
    Buffer<int32_t> rows(n);
    Buffer<T> coordinates(copied ? n * d : 0);
    team.for_chunks(kSegments, 1, [&](int, int64_t s, int64_t) {
        const Reader<T> read(space, scaling);
        int32_t* place = places.data() + s * buckets;
        for (int64_t i = s * segment; i < std::min(n, (s + 1) * segment); ++i) {
            const int64_t to = place[bucket[i]]++;
            rows[to] = static_cast<int32_t>(i);
            if (copied)
                read(i, coordinates.data() + to * d);
        }
    });

    node_.resize(nodes_);
    boxes_.resize(nodes_ * 2 * stride_);
    boxes_.zero();
    points_.resize(leaves_ * kLeaf * d);
    rows_.resize(leaves_ * kLeaf);
    leaf_node_.resize(leaves_);
    filled_.resize(leaves_);
    node_[0].parent = -1;
    std::vector<Bottom> bottoms(team.size());
    team.for_chunks(buckets, 1, [&](int thread, int64_t b, int64_t) {
        Bottom& bottom = bottoms[thread];
        const int32_t count = starts[b + 1] - starts[b];
        const auto root = static_cast<int32_t>(buckets - 1 + b);
        if (count == 0) {
            node_[root] = {kIsEmpty, node_[root].parent, leaf_starts[b], 0};
            std::fill(box(root), box(root) + width_, std::numeric_limits<T>::max());
            std::fill(box(root) + stride_, box(root) + stride_ + width_,
                      std::numeric_limits<T>::lowest());
            return;
        }
        bottom.team = &team;
        bottom.thread = thread;
        bottom.rows = rows.data() + starts[b];
        bottom.next_node = node_starts[b];
        if (copied) {
            bottom.coordinates = coordinates.data() + static_cast<int64_t>(starts[b]) * d;
        } else {
            const Reader<T> read(space, scaling);
            bottom.fetched.resize(static_cast<size_t>(count) * d);
            for (int32_t i = 0; i < count; ++i)
                read(bottom.rows[i], bottom.fetched.data() + static_cast<int64_t>(i) * d);
            bottom.coordinates = bottom.fetched.data();
        }
        bottom.keys.resize(count);
        bottom.spare.resize(count + 1);
        for (int32_t i = 0; i < count; ++i)
            bottom.keys[i] = i;
        measure(bottom, root, 0, count);
        split(bottom, root, 0, count, leaf_starts[b], leaf_starts[b + 1] - leaf_starts[b]);
    });
    close_top(buckets);
    set_radii(space, scaling);
}

template <class T>
void Tree<T>::measure(const Bottom& bottom, int32_t node, int32_t begin, int32_t end) {
    T *low = box(node), *high = low + stride_;
    const T* first =
        bottom.coordinates + static_cast<int64_t>(uint32_t(bottom.keys[begin])) * width_;
    std::copy(first, first + width_, low);
    std::copy(first, first + width_, high);
    for (int32_t i = begin + 1; i < end; ++i) {
        const T* x = bottom.coordinates + static_cast<int64_t>(uint32_t(bottom.keys[i])) * width_;
        for (int l = 0; l < width_; ++l) {
            low[l] = x[l] < low[l] ? x[l] : low[l];
            high[l] = x[l] > high[l] ? x[l] : high[l];
        }
    }
}

// `node` has its box, exact or, with few columns, that of its parent cut at the splitting plane.
template <class T>
void Tree<T>::split(Bottom& bottom, int32_t node, int32_t begin, int32_t end, int32_t leaf,
                    int32_t leaves) {
    const int d = width_;
    bottom.team->check(bottom.thread);
    node_[node].leaf = leaf;
    node_[node].points = end - begin;
    if (leaves == 1)
        return make_leaf(bottom, node, begin, end, leaf);
    const T *low = box(node), *high = low + stride_;
    int widest = 0;
    for (int l = 1; l < d; ++l)
        if (high[l] - low[l] > high[widest] - low[widest])
            widest = l;
    for (int32_t i = begin; i < end; ++i) {
        const auto at = static_cast<uint32_t>(bottom.keys[i]);
        // From the edge of the box: far from zero float32 could not tell the rows apart.
        const T x = bottom.coordinates[static_cast<int64_t>(at) * d + widest] - low[widest];
        bottom.keys[i] = key_of(static_cast<float>(x), at);
    }
    const int32_t half = leaves / 2, middle = begin + half * kLeaf;
    select(bottom.keys.data() + begin, end - begin, half * kLeaf, bottom.spare.data());
    const int32_t child = bottom.next_node;
    bottom.next_node += 2;
    node_[node].child = child;
    node_[child].parent = node_[child + 1].parent = node;
    if (d <= kFewColumns) {
        std::copy(low, low + 2 * stride_, box(child));
        std::copy(low, low + 2 * stride_, box(child + 1));
        const auto at = static_cast<int64_t>(uint32_t(bottom.keys[middle]));
        box(child)[stride_ + widest] = box(child + 1)[widest] = bottom.coordinates[at * d + widest];
    } else {
        measure(bottom, child, begin, middle);
        measure(bottom, child + 1, middle, end);
    }
    split(bottom, child, begin, middle, leaf, half);
    split(bottom, child + 1, middle, end, leaf + half, leaves - half);
    if (d <= kFewColumns)
        enclose(node);
}

// The box around those of both children.
template <class T> void Tree<T>::enclose(int32_t node) {
    const int32_t a = node_[node].child, b = a + 1;
    for (int l = 0; l < width_; ++l) {
        box(node)[l] = std::min(box(a)[l], box(b)[l]);
        box(node)[stride_ + l] = std::max(box(a)[stride_ + l], box(b)[stride_ + l]);
    }
}

template <class T>
void Tree<T>::make_leaf(Bottom& bottom, int32_t node, int32_t begin, int32_t end, int32_t leaf) {
    const int d = width_, count = end - begin;
    measure(bottom, node, begin, end);
    node_[node].child = kIsLeaf;
    leaf_node_[leaf] = node;
    filled_[leaf] = count == 32 ? ~0u : (1u << count) - 1;
    T* points = points_.data() + static_cast<int64_t>(leaf) * d * kLeaf;
    for (int k = 0; k < kLeaf; ++k) {
        const int32_t at = static_cast<int32_t>(uint32_t(bottom.keys[begin + (k < count ? k : 0)]));
        const T* x = bottom.coordinates + static_cast<int64_t>(at) * d;
        rows_[static_cast<int64_t>(leaf) * kLeaf + k] = k < count ? bottom.rows[at] : -1;
        for (int l = 0; l < d; ++l)
            points[l * kLeaf + k] = x[l];
    }
}

// The inner nodes above the buckets.
template <class T> void Tree<T>::close_top(int64_t buckets) {
    for (int64_t v = buckets - 1; v >= 1; --v) {
        const auto node = static_cast<int32_t>(v - 1), left = static_cast<int32_t>(2 * v - 1);
        node_[left].parent = node_[left + 1].parent = node;
        node_[node].child = left;
        node_[node].leaf = node_[left].leaf;
        node_[node].points = node_[left].points + node_[left + 1].points;
        enclose(node);
    }
}

// Each coordinate is off by at most half a unit in the last place of `reach`, each difference and
// each addition by another relative rounding; the definition's own rounding is in the bounds.
template <class T> void Tree<T>::set_radii(const Space& space, const TreeScaling& scaling) {
    const double d = width_, u = std::numeric_limits<T>::epsilon() / 2;
    const auto [inner, outer] = space.bounds();
    const Metric metric = space.measure().metric;
    const bool exact = std::is_same_v<T, double> && metric != Metric::cosine &&
                       metric != Metric::haversine && metric != Metric::minkowski;
    const bool squares = space.norm() == Norm::squares;
    auto summed = [squares](double r) { return squares ? r * r : r; };
    const double each = 2 * 1.01 * u * scaling.reach;
    const double off = each * (squares ? std::sqrt(d) : space.norm() == Norm::sum ? d : 1.0);
    const double relative = (d + 8) * 2 * u;
    double in = std::max(0.0, inner * scaling.unit - off), out = outer * scaling.unit + off;
    in = summed(in) * (1 - relative);
    out = summed(out) * (1 + relative);
    if (inner * scaling.unit <= off)
        in = -1;
    if (exact) // additions in the same order, nothing rounded before: this is the definition
        in = out = summed(space.measure().eps * scaling.unit);
    radii_.inner = static_cast<T>(in);
    radii_.outer = static_cast<T>(out);
    if (!exact) {
        radii_.inner = std::nextafter(radii_.inner, std::numeric_limits<T>::lowest());
        radii_.outer = std::nextafter(radii_.outer, std::numeric_limits<T>::max());
    }
    radii_.box_inner = static_cast<T>(in < 0 ? -1 : in * (1 - 2 * relative));
    radii_.box_outer = static_cast<T>(out * (1 + 2 * relative));
}

template <class T> TreeView<T> Tree<T>::view() const {
    return {width_,        stride_,        leaves_,      nodes_,         node_.data(),
            boxes_.data(), points_.data(), rows_.data(), filled_.data(), leaf_node_.data()};
}

template class Tree<float>;
template class Tree<double>;

} // namespace coterie::dbscan

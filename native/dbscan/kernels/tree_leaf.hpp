// tree_leaf.hpp: leaves and boxes of a tree compared by vectors.
#pragma once

#include "dbscan/kernels.hpp"
#include "simd/eight_floats.hpp"
#include "simd/lanes.hpp"

namespace coterie::COTERIE_LEVEL::dbscan {

// Boxes are padded for vectors of at most eight.
#if defined(__AVX512F__)
template <class T> struct BoxLanes : Lanes<T> {};
template <> struct BoxLanes<float> {
    typedef F8 V;
    static constexpr int count = 8;
};
#else
template <class T> using BoxLanes = Lanes<T>;
#endif

// One more coordinate difference x of a sum s.
template <Norm N, class V> COTERIE_INLINE V added(V s, V x) {
    if constexpr (N == Norm::squares)
        return add_square(s, x);
    else if constexpr (N == Norm::sum)
        return s + abs(x);
    else
        return max(s, abs(x));
}
template <Norm N, class T> COTERIE_INLINE T added_one(T s, T x) { // x >= 0
    if constexpr (N == Norm::squares)
        return s + x * x;
    else if constexpr (N == Norm::sum)
        return s + x;
    else
        return s > x ? s : x;
}

COTERIE_INLINE int lowest(uint32_t set) { return __builtin_ctz(set); }
COTERIE_INLINE int size_of(uint32_t set) { return __builtin_popcount(set); }

template <Norm N, class V> COTERIE_INLINE V joined(V a, V b) {
    if constexpr (N == Norm::largest)
        return a > b ? a : b;
    else
        return a + b;
}

// The lanes of a sum, halved and joined until one is left.
template <class T, Norm N, int L, class V> COTERIE_INLINE T folded(V s) {
    if constexpr (L == 2)
        return joined<N>(s[0], s[1]);
    else if constexpr (L == 4)
        return folded<T, N, 2>(
            joined<N>(__builtin_shufflevector(s, s, 0, 1), __builtin_shufflevector(s, s, 2, 3)));
    else
        return folded<T, N, 4>(joined<N>(__builtin_shufflevector(s, s, 0, 1, 2, 3),
                                         __builtin_shufflevector(s, s, 4, 5, 6, 7)));
}

// Sum over the columns of f(l) as scalars, or of g(l) by vectors where boxes are padded.
template <class T, Norm N, class F, class G>
COTERIE_INLINE T box_sum(int d, int stride, F one, G several) {
    if (stride < 8) {
        T s = 0;
        for (int l = 0; l < d; ++l)
            s = added_one<N>(s, one(l));
        return s;
    }
    typename BoxLanes<T>::V s = {};
    for (int l = 0; l < stride; l += BoxLanes<T>::count)
        s = added<N>(s, several(l));
    return folded<T, N, BoxLanes<T>::count>(s);
}

// The stride of boxes, known where the width is.
template <int D> COTERIE_INLINE int stride_of(int stride) { return D ? box_stride(D) : stride; }

// Smallest and largest distance between boxes (2, stride), summed but not rooted.
template <class T, Norm N, int D>
COTERIE_INLINE T box_gap(const T* a, const T* b, int width, int stride) {
    using V = typename BoxLanes<T>::V;
    const int d = D ? D : width;
    return box_sum<T, N>(
        d, stride_of<D>(stride),
        [&](int l) {
            const T g = a[l] - b[stride + l], h = b[l] - a[stride + l], m = g > h ? g : h;
            return m > 0 ? m : T(0);
        },
        [&](int l) {
            const V g = load<V>(a + l) - load<V>(b + stride + l);
            return max(max(g, load<V>(b + l) - load<V>(a + stride + l)), V{});
        });
}
template <class T, Norm N, int D>
COTERIE_INLINE T box_span(const T* a, const T* b, int width, int stride) {
    using V = typename BoxLanes<T>::V;
    const int d = D ? D : width;
    return box_sum<T, N>(
        d, stride_of<D>(stride),
        [&](int l) {
            const T g = a[stride + l] - b[l], h = b[stride + l] - a[l];
            return g > h ? g : h;
        },
        [&](int l) {
            return max(load<V>(a + stride + l) - load<V>(b + l),
                       load<V>(b + stride + l) - load<V>(a + l));
        });
}

// Which of the points `want` of a leaf reach the box.
template <class T, Norm N, int D>
COTERIE_INLINE uint32_t reaching(const TreeView<T>& tree, int32_t leaf, const T* box, int stride,
                                 T radius, uint32_t want) {
    using V = typename Lanes<T>::V;
    constexpr int lanes = Lanes<T>::count, vectors = kLeaf / lanes;
    const int d = D ? D : tree.width;
    const T* a = tree.points + static_cast<int64_t>(leaf) * d * kLeaf;
    V s[vectors] = {};
    for (int l = 0; l < d; ++l) {
        const V low = spread(box[l]), high = spread(box[stride + l]);
        for (int v = 0; v < vectors; ++v) {
            const V x = load<V>(a + l * kLeaf + v * lanes);
            s[v] = added<N>(s[v], max(max(low - x, x - high), V{}));
        }
    }
    uint32_t out = 0;
    for (int v = 0; v < vectors; ++v)
        out |= bits(s[v] <= spread(radius)) << (v * lanes);
    return out & want;
}

// Points compared with a leaf at once: as many as registers hold sums for.
template <class T>
constexpr int together = 8 / (kLeaf / Lanes<T>::count) > 0 ? 8 / (kLeaf / Lanes<T>::count) : 1;

// For P points x[p] (coordinates kLeaf apart) and a leaf: the sets of its points that are nearby
// for sure, and that are at most `outer` away.
template <class T, Norm N, int D, int P>
COTERIE_INLINE void compare(const T* const* x, const T* leaf, int width, const Radii<T>& radii,
                            uint32_t* sure, uint32_t* maybe) {
    using V = typename Lanes<T>::V;
    constexpr int lanes = Lanes<T>::count, vectors = kLeaf / lanes;
    const int d = D ? D : width;
    const V inner = spread(radii.inner), outer = spread(radii.outer);
    V s[P][vectors] = {};
    for (int l = 0; l < d; ++l) {
        for (int p = 0; p < P; ++p) {
            const V a = spread(x[p][l * kLeaf]);
            for (int v = 0; v < vectors; ++v)
                s[p][v] = added<N>(s[p][v], load<V>(leaf + l * kLeaf + v * lanes) - a);
        }
        if (!D && l % 8 == 7 && d - l > 4) { // sums only grow: none may be left
            V least = s[0][0];
            for (int p = 0; p < P; ++p)
                for (int v = 0; v < vectors; ++v)
                    least = min(least, s[p][v]);
            if (!bits(least <= outer)) {
                for (int p = 0; p < P; ++p)
                    sure[p] = maybe[p] = 0;
                return;
            }
        }
    }
    for (int p = 0; p < P; ++p) {
        sure[p] = maybe[p] = 0;
        for (int v = 0; v < vectors; ++v) {
            sure[p] |= bits(s[p][v] <= inner) << (v * lanes);
            maybe[p] |= bits(s[p][v] <= outer) << (v * lanes);
        }
        maybe[p] &= ~sure[p];
    }
}

// The points of one leaf, asked about their neighbours in another.
template <class T, Norm N, int D> struct LeafPair {
    const TreeTask<T>& task;
    const TreeView<T>& from; // the tree of the points that ask
    const Space* from_space;
    int32_t leaf;

    // Calls hit(point, set) for each point of `ask` with neighbours among the points `want` of
    // leaf b; hit returns true to end the search.
    template <class Hit>
    COTERIE_INLINE bool operator()(uint32_t ask, int32_t b, uint32_t want, Hit hit) const {
        const int d = D ? D : task.tree.width;
        constexpr int P = together<T>;
        const T* own = from.points + static_cast<int64_t>(leaf) * d * kLeaf;
        const T* other = task.tree.points + static_cast<int64_t>(b) * d * kLeaf;
        while (ask) {
            const T* x[P];
            int point[P];
            int count = 0;
            for (int p = 0; p < P; ++p) {
                point[p] = ask ? lowest(ask) : point[0];
                count += ask != 0;
                ask &= ask - 1;
                x[p] = own + point[p];
            }
            uint32_t sure[P], maybe[P];
            compare<T, N, D, P>(x, other, d, task.radii, sure, maybe);
            for (int p = 0; p < count; ++p) {
                const uint32_t set = settle(point[p], b, sure[p] & want, maybe[p] & want);
                if (set && hit(point[p], set))
                    return true;
            }
        }
        return false;
    }

private:
    // Adds those of the doubtful points that are nearby by the definition.
    COTERIE_INLINE uint32_t settle(int point, int32_t b, uint32_t sure, uint32_t doubtful) const {
        while (doubtful) {
            const int k = lowest(doubtful);
            doubtful &= doubtful - 1;
            const int32_t i = from.rows[static_cast<int64_t>(leaf) * kLeaf + point];
            const int32_t j = task.tree.rows[static_cast<int64_t>(b) * kLeaf + k];
            const bool near = from_space == task.space ? task.space->nearby(i, j)
                                                       : from_space->nearby(i, *task.space, j);
            sure |= static_cast<uint32_t>(near) << k;
        }
        return sure;
    }
};

} // namespace coterie::COTERIE_LEVEL::dbscan

// mutual_reachability.cpp: nearest points, and nearest points of other components, leaf by leaf.
//
// The points of a leaf walk through the tree together, from their own leaf upwards and into the
// nearer child first. Each point has a bound: it asks for points nearer than that, and the walk
// enters a node if one of the points may want it.
#include "dbscan/kernels.hpp"
#include "dbscan/kernels/tree_leaf.hpp"

namespace coterie::COTERIE_LEVEL::dbscan {
namespace {

constexpr int kStack = 128;   // deeper than any tree of 2^31 points
constexpr int kPatience = 64; // leaves compared between looks for signals
constexpr int lanes = Lanes<double>::count, vectors = kLeaf / lanes;
constexpr double kNobody = -1; // a bound that nothing is below

COTERIE_INLINE const double* box_of(const TreeView<double>& tree, int32_t node) {
    return tree.boxes + static_cast<int64_t>(node) * 2 * tree.stride;
}
template <int D>
COTERIE_INLINE const double* points_of(const TreeView<double>& tree, int32_t leaf) {
    return tree.points + static_cast<int64_t>(leaf) * (D ? D : tree.width) * kLeaf;
}

// Not above the distance of any two points of the boxes. Rounding is monotone, so a sum in the
// order of the columns needs no care; vectors add in another order.
template <Norm N, int D>
COTERIE_INLINE double gap(const TreeView<double>& tree, const double* a, const double* b) {
    const double g = box_gap<double, N, D>(a, b, tree.width, tree.stride);
    return stride_of<D>(tree.stride) < 8 ? g : g * (1 - (tree.width + 8) * 0x1p-50);
}

COTERIE_INLINE double largest(const double* bound) {
    VD most = load<VD>(bound);
    for (int v = 1; v < vectors; ++v)
        most = max(most, load<VD>(bound + v * lanes));
    double out = most[0];
    for (int q = 1; q < lanes; ++q)
        out = out > most[q] ? out : most[q];
    return out;
}

// Which points of a leaf are nearer to the box than their bound.
template <Norm N, int D>
COTERIE_INLINE uint32_t wanting(const TreeView<double>& tree, int32_t leaf, const double* box,
                                const double* bound) {
    const int d = D ? D : tree.width;
    const double* a = points_of<D>(tree, leaf);
    VD s[vectors] = {};
    for (int l = 0; l < d; ++l) {
        const VD low = spread(box[l]), high = spread(box[tree.stride + l]);
        for (int v = 0; v < vectors; ++v) {
            const VD x = load<VD>(a + l * kLeaf + v * lanes);
            s[v] = added<N>(s[v], max(max(low - x, x - high), VD{}));
        }
    }
    uint32_t out = 0;
    for (int v = 0; v < vectors; ++v)
        out |= bits(s[v] < load<VD>(bound + v * lanes)) << (v * lanes);
    return out;
}

// s: out, the definition's sums of point x (coordinates kLeaf apart) and the points of a leaf.
// False if none is below the bound; s is not complete then.
template <Norm N, int D>
COTERIE_INLINE bool sums(const double* x, const double* leaf, int width, double bound, VD* s) {
    const int d = D ? D : width;
    for (int v = 0; v < vectors; ++v)
        s[v] = VD{};
    for (int l = 0; l < d; ++l) {
        const VD a = spread(x[l * kLeaf]);
        for (int v = 0; v < vectors; ++v)
            s[v] = added<N>(s[v], load<VD>(leaf + l * kLeaf + v * lanes) - a);
        if (!D && l % 8 == 7) { // sums only grow: none may be left
            VD least = s[0];
            for (int v = 1; v < vectors; ++v)
                least = min(least, s[v]);
            if (!bits(least < spread(bound)))
                return false;
        }
    }
    return true;
}

COTERIE_INLINE uint32_t below(const VD* s, double bound) {
    uint32_t out = 0;
    for (int v = 0; v < vectors; ++v)
        out |= bits(s[v] < spread(bound)) << (v * lanes);
    return out;
}

// Calls at_leaf(node) for the leaves that may hold something nearer than `reach`, the largest
// bound, which shrinks on the way; lower(node) is another bound from below, or infinite for nodes
// that no point wants.
template <Norm N, int D, class Lower, class AtLeaf>
COTERIE_INLINE void walk(const TreeView<double>& tree, int32_t leaf, const double& reach,
                         Lower lower, AtLeaf at_leaf) {
    const int32_t own = tree.leaf_node[leaf];
    const double* box = box_of(tree, own);
    struct Place {
        int32_t node;
        double gap;
    } stack[kStack];
    auto distance = [&](int32_t node) {
        const double g = gap<N, D>(tree, box, box_of(tree, node)), h = lower(node);
        return g > h ? g : h;
    };
    at_leaf(own);
    for (int32_t v = own; reach > 0 && tree.node[v].parent >= 0; v = tree.node[v].parent) {
        const int32_t left = tree.node[tree.node[v].parent].child;
        const int32_t sibling = left == v ? left + 1 : left;
        int depth = 0;
        stack[depth++] = {sibling, distance(sibling)};
        while (depth > 0) {
            const Place place = stack[--depth];
            const int32_t child = tree.node[place.node].child;
            if (!(place.gap < reach) || child == kIsEmpty)
                continue;
            if (child == kIsLeaf) {
                at_leaf(place.node);
                continue;
            }
            const double a = distance(child), b = distance(child + 1);
            const bool swap = b < a;
            stack[depth++] = {child + !swap, swap ? a : b};
            stack[depth++] = {child + swap, swap ? b : a};
        }
    }
}

template <Norm N, int D> void nearest(const NearestTask& task, int thread, int32_t leaf) {
    const TreeView<double>& tree = task.tree;
    const int64_t k = task.k;
    const int32_t own = tree.leaf_node[leaf];
    const int32_t* rows = tree.rows + static_cast<int64_t>(leaf) * kLeaf;
    double bound[kLeaf];
    for (int p = 0; p < kLeaf; ++p)
        bound[p] = tree.filled[leaf] >> p & 1 ? task.sums[rows[p] * k + k - 1] : kNobody;
    double reach = largest(bound);
    int visits = 0;
    auto at_leaf = [&](int32_t node) {
        if (++visits % kPatience == 0)
            task.team->check(thread);
        const int32_t b = tree.node[node].leaf;
        uint32_t ask =
            node == own ? tree.filled[leaf] : wanting<N, D>(tree, leaf, box_of(tree, node), bound);
        for (; ask; ask &= ask - 1) {
            const int p = lowest(ask);
            VD s[vectors];
            if (!sums<N, D>(points_of<D>(tree, leaf) + p, points_of<D>(tree, b), tree.width,
                            bound[p], s))
                continue;
            uint32_t hits = below(s, bound[p]) & tree.filled[b];
            if (node == own)
                hits &= ~(1u << p);
            double* near = task.sums + rows[p] * k;
            int32_t* slots = task.slots + rows[p] * k;
            for (; hits; hits &= hits - 1) {
                const int q = lowest(hits);
                const double sum = s[q / lanes][q % lanes];
                if (!(sum < near[k - 1]))
                    continue;
                int64_t at = k - 1;
                for (; at > 0 && near[at - 1] > sum; --at) {
                    near[at] = near[at - 1];
                    slots[at] = slots[at - 1];
                }
                near[at] = sum;
                slots[at] = b * kLeaf + q;
            }
            bound[p] = near[k - 1];
        }
        reach = largest(bound);
    };
    walk<N, D>(tree, leaf, reach, [](int32_t) { return 0.0; }, at_leaf);
}

// Sums are never negative, so they are in the order of their bits.
COTERIE_INLINE double next(double x) {
    int64_t word;
    std::memcpy(&word, &x, 8);
    word += x < __builtin_inf();
    std::memcpy(&x, &word, 8);
    return x;
}
COTERIE_INLINE double read(const double* place) {
    double x;
    __atomic_load(place, &x, __ATOMIC_RELAXED);
    return x;
}
COTERIE_INLINE void lower_to(double* place, double value) {
    double seen = read(place);
    while (value < seen && !__atomic_compare_exchange(place, &seen, &value, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
    }
}

// Other threads lower task.least meanwhile. That only spares work: a point whose shortest edge is
// the shortest of its component finds the same other end whenever it asks, because ties go to the
// first on its walk and no walk leaves out a node that may hold an edge as short as `least`.
template <Norm N, int D> void foreign(const ForeignTask& task, int thread, int32_t leaf) {
    const TreeView<double>& tree = task.tree;
    const int32_t own = tree.leaf_node[leaf], first = leaf * kLeaf;
    const int32_t* component = task.component + first;
    double bound[kLeaf], weight[kLeaf];
    int32_t other[kLeaf];
    uint32_t asking = 0;
    auto set_bound = [&](int p) {
        const double enough = next(read(task.least + component[p]));
        bound[p] = weight[p] < enough ? weight[p] : enough;
        if (!(task.floor[first + p] < bound[p]))
            bound[p] = kNobody;
    };
    for (int p = 0; p < kLeaf; ++p)
        bound[p] = kNobody;
    for (uint32_t set = tree.filled[leaf]; set; set &= set - 1) {
        const int p = lowest(set);
        weight[p] = task.weight[first + p];
        other[p] = task.other[first + p];
        set_bound(p);
        asking |= static_cast<uint32_t>(bound[p] > kNobody) << p;
    }
    if (!asking)
        return;
    double reach = largest(bound);
    const int32_t mine = task.node_component[own]; // kMixed if the points of the leaf differ
    int visits = 0;
    auto at_leaf = [&](int32_t node) {
        if (++visits % kPatience == 0)
            task.team->check(thread);
        const int32_t b = tree.node[node].leaf, theirs = task.node_component[node];
        uint32_t ask = asking;
        if (node != own)
            ask &= wanting<N, D>(tree, leaf, box_of(tree, node), bound);
        for (; ask; ask &= ask - 1) {
            const int p = lowest(ask);
            if (theirs == component[p] || !(bound[p] > kNobody))
                continue;
            VD s[vectors];
            if (!sums<N, D>(points_of<D>(tree, leaf) + p, points_of<D>(tree, b), tree.width,
                            bound[p], s))
                continue;
            const VD core = spread(task.core[first + p]);
            for (int v = 0; v < vectors; ++v)
                s[v] = max(max(s[v], core), load<VD>(task.core + b * kLeaf + v * lanes));
            double best = bound[p];
            for (uint32_t hits = below(s, best) & tree.filled[b]; hits; hits &= hits - 1) {
                const int q = lowest(hits);
                const double w = s[q / lanes][q % lanes];
                if (w < best && task.component[b * kLeaf + q] != component[p]) {
                    best = weight[p] = w;
                    other[p] = b * kLeaf + q;
                }
            }
            if (best < bound[p])
                lower_to(task.least + component[p], best);
            set_bound(p);
        }
        reach = largest(bound);
    };
    auto lower = [&](int32_t node) {
        const bool unwanted = mine != kMixed && task.node_component[node] == mine;
        return unwanted ? __builtin_inf() : task.node_core[node];
    };
    walk<N, D>(tree, leaf, reach, lower, at_leaf);
    for (; asking; asking &= asking - 1) {
        const int p = lowest(asking);
        const double least = read(task.least + component[p]);
        // Nothing as short was left out, or nothing can be shorter: this is the shortest.
        if (weight[p] <= least || weight[p] <= task.floor[first + p]) {
            task.floor[first + p] = task.weight[first + p] = weight[p];
            task.other[first + p] = other[p];
        } else if (task.floor[first + p] < next(least)) {
            task.floor[first + p] = next(least);
        }
    }
}

template <Norm N, int D> ReachabilityKernels kernels_for() {
    return {nearest<N, D>, foreign<N, D>};
}

} // namespace

ReachabilityKernels reachability_tree(Norm norm, int width) {
    if (norm == Norm::sum)
        return kernels_for<Norm::sum, 0>();
    if (norm == Norm::largest)
        return kernels_for<Norm::largest, 0>();
    switch (width) {
    case 2: return kernels_for<Norm::squares, 2>();
    case 3: return kernels_for<Norm::squares, 3>();
    case 4: return kernels_for<Norm::squares, 4>();
    default: return kernels_for<Norm::squares, 0>();
    }
}

} // namespace coterie::COTERIE_LEVEL::dbscan

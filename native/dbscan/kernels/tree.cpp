// tree.cpp: counting and connecting over a tree.
#include "dbscan/kernels/tree_leaf.hpp"

namespace coterie::COTERIE_LEVEL::dbscan {
namespace {

constexpr int kStack = 128;      // deeper than any tree of 2^31 points
constexpr int kWidestBox = 4096; // numbers of a box that is made to shrink
constexpr int kPatience = 64;    // leaves compared between looks for signals

template <class T> COTERIE_INLINE const T* box_of(const TreeView<T>& tree, int32_t node) {
    return tree.boxes + static_cast<int64_t>(node) * 2 * tree.stride;
}

template <class T, Norm N, int D> bool clique(const TreeTask<T>& task, int32_t node) {
    const T* box = box_of(task.tree, node);
    return box_span<T, N, D>(box, box, task.tree.width, task.tree.stride) <= task.radii.box_inner;
}

// Is a box at most twice the inner radius wide? Only such a one can have another box whole within
// reach: the farthest points of two boxes are at least half the diameter of each apart.
template <class T, Norm N, int D> bool is_narrow(const TreeTask<T>& task, const T* box) {
    const T twice = N == Norm::squares ? 4 : 2;
    return box_span<T, N, D>(box, box, task.tree.width, task.tree.stride) <=
           twice * task.radii.box_inner;
}

// Calls at_leaf(node) for the leaves below `top` whose boxes come within reach of `box`, nearest
// child first; enter(node) says whether to go into a node at all. at_leaf returns true to end.
template <class T, Norm N, int D, class Enter, class AtLeaf>
COTERIE_INLINE bool descend(const TreeTask<T>& task, int32_t top, const T* box, Enter enter,
                            AtLeaf at_leaf) {
    const TreeView<T>& tree = task.tree;
    const T reach = task.radii.box_outer;
    int32_t stack[kStack];
    int depth = 0;
    if (box_gap<T, N, D>(box, box_of(tree, top), tree.width, tree.stride) <= reach)
        stack[depth++] = top;
    while (depth > 0) {
        const int32_t node = stack[--depth];
        const int32_t child = tree.node[node].child;
        if (child == kIsEmpty || !enter(node))
            continue;
        if (child == kIsLeaf) {
            if (at_leaf(node))
                return true;
            continue;
        }
        const T* left = box_of(tree, child);
        const T a = box_gap<T, N, D>(box, left, tree.width, tree.stride);
        const T b = box_gap<T, N, D>(box, left + 2 * tree.stride, tree.width, tree.stride);
        // Without branches, which nothing could predict: the nearer child on top.
        const bool swap = b < a;
        stack[depth] = child + !swap;
        depth += (swap ? a : b) <= reach;
        stack[depth] = child + swap;
        depth += (swap ? b : a) <= reach;
    }
    return false;
}

COTERIE_INLINE int32_t sibling(const TreeNode* nodes, int32_t node) {
    const int32_t left = nodes[nodes[node].parent].child;
    return left == node ? left + 1 : left;
}

// The box around some points of a leaf, at least one.
template <class T, int D>
COTERIE_INLINE void enclose(const TreeView<T>& tree, int32_t leaf, uint32_t points, T* box) {
    const int d = D ? D : tree.width;
    const T* x = tree.points + static_cast<int64_t>(leaf) * d * kLeaf;
    T* high = box + stride_of<D>(tree.stride);
    for (int l = 0; l < d; ++l, x += kLeaf) {
        T a = x[lowest(points)], b = a;
        for (uint32_t set = points & (points - 1); set; set &= set - 1) {
            const T v = x[lowest(set)];
            a = v < a ? v : a;
            b = v > b ? v : b;
        }
        box[l] = a;
        high[l] = b;
    }
}

template <class T, Norm N, int D>
void count(const TreeTask<T>& task, int thread, int32_t leaf, LeafCount& out) {
    const TreeView<T>& tree = task.tree;
    const int32_t own = tree.leaf_node[leaf];
    const uint32_t filled = tree.filled[leaf];
    out.core = out.listed = 0;
    if (out.known)
        for (int k = 0; k < kLeaf * kKnown; ++k)
            out.known[k] = -1;
    // A clique around the leaf that is large enough makes all of it core.
    if (!out.all)
        for (int32_t v = own; v >= 0 && clique<T, N, D>(task, v); v = tree.node[v].parent)
            if (tree.node[v].points >= out.enough) {
                out.core = filled;
                return;
            }
    out.listed = filled;
    uint8_t turn[kLeaf] = {};
    for (int k = 0; k < kLeaf; ++k)
        out.found[k] = 0;
    uint32_t asking = filled;
    int visits = 0;
    // The box of the leaf, and later that of the points which still ask: it reaches fewer leaves.
    T shrunk[D ? 2 * box_stride(D) : kWidestBox];
    const int numbers = 2 * stride_of<D>(tree.stride);
    const bool shrinks = D || numbers <= kWidestBox;
    const T* box = box_of(tree, own);
    if (shrinks) {
        std::memcpy(shrunk, box, sizeof(T) * numbers);
        box = shrunk;
    }
    int boxed = size_of(filled);
    const LeafPair<T, N, D> pair{task, tree, task.space, leaf};
    auto at_leaf = [&](int32_t node) {
        if (++visits % kPatience == 0)
            task.team->check(thread);
        const int32_t b = tree.node[node].leaf;
        const uint32_t ask = node == own
                                 ? asking
                                 : reaching<T, N, D>(tree, leaf, box_of(tree, node), tree.stride,
                                                     task.radii.box_outer, asking);
        pair(ask, b, tree.filled[b], [&](int k, uint32_t hits) {
            const int64_t before = out.found[k];
            out.found[k] += size_of(hits);
            if (out.known) // one of each leaf, the last few
                if (const uint32_t others = node == own ? hits & ~(1u << k) : hits)
                    out.known[k * kKnown + turn[k]++ % kKnown] = b * kLeaf + lowest(others);
            if (out.found[k] >= out.enough) {
                out.core |= 1u << k;
                if (!out.all)
                    asking &= ~(1u << k);
            } else if (out.found[k] <= out.capacity) {
                int32_t* to = out.near + static_cast<int64_t>(k) * out.capacity + before;
                for (; hits; hits &= hits - 1)
                    *to++ = b * kLeaf + lowest(hits);
            } else {
                out.listed &= ~(1u << k);
            }
            return false;
        });
        if (shrinks && asking && 2 * size_of(asking) <= boxed) {
            boxed = size_of(asking);
            enclose<T, D>(tree, leaf, asking, shrunk);
        }
        return asking == 0;
    };
    // All points of a node that lies within reach as a whole are counted at once. None does if
    // the own leaf is wider than twice the radius.
    const bool narrow = is_narrow<T, N, D>(task, box);
    auto enter = [&](int32_t node) {
        const int32_t points = tree.node[node].points;
        if (!narrow || (!out.all && points < out.enough))
            return true;
        if (box_span<T, N, D>(box, box_of(tree, node), tree.width, tree.stride) >
            task.radii.box_inner)
            return true;
        for (uint32_t set = asking; set; set &= set - 1)
            out.found[lowest(set)] += points;
        for (uint32_t set = asking; set; set &= set - 1)
            if (out.found[lowest(set)] >= out.enough)
                out.core |= 1u << lowest(set);
        out.listed = 0; // counted, not listed: looked for again if they turn out to be borders
        if (!out.all)
            asking &= ~out.core;
        return false;
    };
    at_leaf(own);
    for (int32_t v = own; asking && tree.node[v].parent >= 0; v = tree.node[v].parent)
        descend<T, N, D>(
            task, sibling(tree.node, v), box, [&](int32_t node) { return asking && enter(node); },
            at_leaf);
    out.listed &= filled & ~out.core;
}

template <class T, Norm N, int D>
void visit(const TreeTask<T>& task, const TreeView<T>& from, const Space* from_space, int thread,
           int32_t leaf, uint32_t want, OnHits on_hits, void* to) {
    int visits = 0;
    const LeafPair<T, N, D> pair{task, from, from_space, leaf};
    descend<T, N, D>(
        task, 0, box_of(from, from.leaf_node[leaf]), [](int32_t) { return true; },
        [&](int32_t node) {
            if (++visits % kPatience == 0)
                task.team->check(thread);
            const int32_t b = task.tree.node[node].leaf;
            const uint32_t ask = reaching<T, N, D>(from, leaf, box_of(task.tree, node),
                                                   task.tree.stride, task.radii.box_outer, want);
            pair(ask, b, task.tree.filled[b], [&](int k, uint32_t hits) {
                on_hits(to, k, b, hits);
                return false;
            });
            return false;
        });
}

COTERIE_INLINE bool is_united(const LinkState& state, int32_t node) {
    return __atomic_load_n(state.united + node, __ATOMIC_RELAXED);
}

// Which of the core points of a leaf are not yet in the set of `slot`.
COTERIE_INLINE uint32_t outside(const LinkState& state, int32_t leaf, uint32_t slot) {
    const uint32_t root = state.sets.find(slot);
    uint32_t out = 0;
    for (uint32_t set = state.core[leaf]; set; set &= set - 1)
        if (state.sets.find(leaf * kLeaf + lowest(set)) != root)
            out |= set & -set;
    return out;
}

// Two leaves. If both are united, one pair of neighbours says all; if one is, only points of the
// other that are not in its set are compared.
template <class T, Norm N, int D>
COTERIE_INLINE void link_pair(const TreeTask<T>& task, const LinkState& state, int32_t a,
                              int32_t b) {
    const TreeView<T>& tree = task.tree;
    uint32_t ask = state.core[a], want = state.core[b];
    if (!ask || !want)
        return;
    const int32_t node_a = tree.leaf_node[a], node_b = tree.leaf_node[b];
    const bool a_united = is_united(state, node_a), b_united = is_united(state, node_b),
               both = a_united && b_united;
    if (both && state.sets.same(state.first[node_a], state.first[node_b]))
        return;
    if (b_united && !both)
        ask = outside(state, a, state.first[node_b]);
    else if (a_united && !both)
        want = outside(state, b, state.first[node_a]);
    if (!ask || !want)
        return;
    ask = reaching<T, N, D>(tree, a, box_of(tree, node_b), tree.stride, task.radii.box_outer, ask);
    const LeafPair<T, N, D> pair{task, tree, task.space, a};
    pair(ask, b, want, [&](int k, uint32_t hits) {
        const uint32_t x = a * kLeaf + k;
        for (; hits; hits &= hits - 1) {
            state.sets.unite(x, b * kLeaf + lowest(hits));
            if (b_united)
                break;
        }
        return both;
    });
}

// A clique is one set from the start.
template <class T, Norm N, int D>
void start(const TreeTask<T>& task, const LinkState& state, int32_t leaf) {
    const uint32_t core = state.core[leaf], base = leaf * kLeaf;
    const int32_t node = task.tree.leaf_node[leaf];
    const bool one = clique<T, N, D>(task, node);
    state.first[node] = core ? static_cast<int32_t>(base + lowest(core)) : -1;
    state.united[node] = !core || one;
    for (uint32_t k = 0; k < kLeaf; ++k)
        state.sets.start(base + k, one && core >> k & 1 ? base + lowest(core) : base + k);
}

// Are all core points of a leaf in one set by now?
template <class T>
COTERIE_INLINE bool unites(const TreeTask<T>& task, const LinkState& state, int32_t leaf) {
    const int32_t node = task.tree.leaf_node[leaf];
    if (is_united(state, node))
        return true;
    const uint32_t root = state.sets.find(state.first[node]);
    for (uint32_t set = state.core[leaf]; set; set &= set - 1)
        if (state.sets.find(leaf * kLeaf + lowest(set)) != root)
            return false;
    __atomic_store_n(state.united + node, 1, __ATOMIC_RELAXED);
    return true;
}

template <class T, Norm N, int D>
void link_inside(const TreeTask<T>& task, const LinkState& state, int32_t leaf) {
    if (unites(task, state, leaf))
        return;
    link_pair<T, N, D>(task, state, leaf, leaf);
    unites(task, state, leaf);
}

template <class T, Norm N, int D>
void link_next(const TreeTask<T>& task, const LinkState& state, int32_t leaf) {
    if (leaf > 0)
        link_pair<T, N, D>(task, state, leaf, leaf - 1);
}

template <class T, Norm N, int D>
void link_before(const TreeTask<T>& task, const LinkState& state, int thread, int32_t leaf) {
    const TreeView<T>& tree = task.tree;
    const uint32_t core = state.core[leaf];
    if (!core)
        return;
    const int32_t own = tree.leaf_node[leaf];
    const T* box = box_of(tree, own);
    int visits = 0;
    bool united = is_united(state, own);
    for (int32_t v = own; tree.node[v].parent >= 0; v = tree.node[v].parent) {
        const int32_t left = tree.node[tree.node[v].parent].child;
        if (left == v)
            continue;
        descend<T, N, D>(
            task, left, box,
            [&](int32_t node) {
                const int32_t first = state.first[node];
                return first >= 0 && !(united && is_united(state, node) &&
                                       state.sets.same(state.first[own], first));
            },
            [&](int32_t node) {
                if (++visits % kPatience == 0)
                    task.team->check(thread);
                link_pair<T, N, D>(task, state, leaf, tree.node[node].leaf);
                if (!united)
                    united = unites(task, state, leaf);
                return false;
            });
    }
}

template <class T, Norm N, int D> TreeKernels<T> kernels_for() {
    return {count<T, N, D>,     visit<T, N, D>,       start<T, N, D>, link_inside<T, N, D>,
            link_next<T, N, D>, link_before<T, N, D>, clique<T, N, D>};
}

template <class T> TreeKernels<T> any_width(Norm norm) {
    switch (norm) {
    case Norm::sum: return kernels_for<T, Norm::sum, 0>();
    case Norm::largest: return kernels_for<T, Norm::largest, 0>();
    default: return kernels_for<T, Norm::squares, 0>();
    }
}

} // namespace

TreeKernels<double> double_tree(Norm norm, int) { return any_width<double>(norm); }

TreeKernels<float> float_tree(Norm norm, int width) {
    if (norm == Norm::squares)
        switch (width) {
        case 2: return kernels_for<float, Norm::squares, 2>();
        case 3: return kernels_for<float, Norm::squares, 3>();
        case 4: return kernels_for<float, Norm::squares, 4>();
        case 5: return kernels_for<float, Norm::squares, 5>();
        case 6: return kernels_for<float, Norm::squares, 6>();
        default: break;
        }
    return any_width<float>(norm);
}

} // namespace coterie::COTERIE_LEVEL::dbscan

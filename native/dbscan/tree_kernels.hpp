// tree_kernels.hpp: what kernels do with the leaves of a tree.
#pragma once

#include "core/union_find.hpp"
#include "dbscan/kd_tree.hpp"

namespace coterie {

template <class T> struct TreeTask {
    TreeView<T> tree;
    Radii<T> radii;
    const Space* space = nullptr;
    Team* team = nullptr;
};

// Counting the points nearby those of one leaf.
struct LeafCount {
    int64_t enough = 0;      // in: a point that found this many is core and need not go on
    bool all = false;        // in: go on nevertheless
    int32_t capacity = 0;    // in: of a list of neighbours
    uint32_t core = 0;       // out: points that found enough
    uint32_t listed = 0;     // out: other points whose neighbours are all listed
    int64_t found[kLeaf];    // out: how many
    int32_t* near = nullptr; // out: (kLeaf, capacity) their slots
    int32_t* kin = nullptr;  // out, or null: (kLeaf, kKin) some neighbours of every point, or -1
};
constexpr int kKin = 4;

// Connecting core points. A node whose core points are all known to belong together is united.
struct LinkState {
    UnionFind sets;                 // over slots
    const uint32_t* core = nullptr; // (leaves,)
    int32_t* first = nullptr;       // (nodes,) the first core slot below, -1 if none
    uint8_t* united = nullptr;      // (nodes,)
};

// Point `point` of the leaf asked about is nearby the points `hits` of leaf `leaf`.
using OnHits = void (*)(void* to, int point, int32_t leaf, uint32_t hits);

template <class T> struct TreeKernels {
    void (*count)(const TreeTask<T>&, int thread, int32_t leaf, LeafCount&);

    // All points nearby the points `want` of a leaf of the tree `from`, which may be another one.
    void (*visit)(const TreeTask<T>&, const TreeView<T>& from, const Space* from_space, int thread,
                  int32_t leaf, uint32_t want, OnHits on_hits, void* to);

    // Core points of a leaf: their sets begin; with each other; with those of the leaf before;
    // with all others before.
    void (*start)(const TreeTask<T>&, const LinkState&, int32_t leaf);
    void (*link_inside)(const TreeTask<T>&, const LinkState&, int32_t leaf);
    void (*link_next)(const TreeTask<T>&, const LinkState&, int32_t leaf);
    void (*link_before)(const TreeTask<T>&, const LinkState&, int thread, int32_t leaf);

    // Are any two points of a node certainly nearby each other?
    bool (*clique)(const TreeTask<T>&, int32_t node);
};

// The kernels of the level in use.
template <class T> TreeKernels<T> tree_kernels(Norm norm, int width);
template <> TreeKernels<float> tree_kernels(Norm norm, int width);
template <> TreeKernels<double> tree_kernels(Norm norm, int width);

} // namespace coterie

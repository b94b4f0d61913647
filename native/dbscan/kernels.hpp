// kernels.hpp: the kernels of DBSCAN, over leaves of a k-d tree and over cells of a grid.
#pragma once

#include "core/union_find.hpp"
#include "dbscan/clique_grid.hpp"
#include "dbscan/kd_tree.hpp"

namespace coterie::dbscan {

// --- leaves of a tree ---------------------------------------------------------------------------

template <class T> struct TreeTask {
    TreeView<T> tree;
    Radii<T> radii;
    const Space* space = nullptr;
    Team* team = nullptr;
};

// Counting the points nearby those of one leaf.
struct LeafCount {
    int64_t enough = 0;       // in: a point that found this many is core and need not go on
    bool all = false;         // in: go on nevertheless
    int32_t capacity = 0;     // in: of a list of neighbours
    uint32_t core = 0;        // out: points that found enough
    uint32_t listed = 0;      // out: other points whose neighbours are all listed
    int64_t found[kLeaf];     // out: how many
    int32_t* near = nullptr;  // out: (kLeaf, capacity) their slots
    int32_t* known = nullptr; // out, or null: (kLeaf, kKnown) some neighbours of every point, or -1
};
constexpr int kKnown = 4;

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

// --- cells of a grid ----------------------------------------------------------------------------

struct GridTask {
    GridView grid;
    const Space* space = nullptr;
    Team* team = nullptr;
};

// Point `slot` is nearby the points first + q for the bits q of `hits`.
using OnSlots = void (*)(void* to, int32_t slot, int32_t first, uint32_t hits);

// Connecting cells of core points.
struct CellLinks {
    UnionFind sets;                 // over cells
    const int32_t* roots = nullptr; // (cells,) the set of a cell, when it was last looked up
};

// Kernels work on the cells [begin, end).
struct GridKernels {
    // core: (n,) out by slot, 1 for points with at least `enough` points nearby.
    // cores: (cells,) out, how many they are in each cell.
    // found: (n,) out by slot, or null: how many points are nearby.
    void (*count)(const GridTask&, int thread, int32_t begin, int32_t end, int64_t enough,
                  uint8_t* core, int32_t* cores, int64_t* found);

    // All points nearby the points of these cells.
    void (*visit)(const GridTask&, int thread, int32_t begin, int32_t end, OnSlots, void* to);

    // Of a grid of core points: cells with cells that touch them; with all others that `roots`
    // does not unite with them.
    void (*link_near)(const GridTask&, int thread, int32_t begin, int32_t end, const CellLinks&);
    void (*link_far)(const GridTask&, int thread, int32_t begin, int32_t end, const CellLinks&);

    // Of a grid of core points, for the cells of `others`: the smallest of the numbers of the core
    // points nearby each point, or -1. number: (n,) by slot; labels: (n,) out by row.
    void (*join)(const GridTask&, const GridView& others, int thread, int32_t begin, int32_t end,
                 const int32_t* number, int64_t* labels);
};

// --- the mutual-reachability structure ----------------------------------------------------------
//
// Its tree has float64 coordinates, so a sum over the columns of a leaf is the definition itself:
// nothing is proposed, nothing has to be settled.

// The nearest k points of every point, itself not counted.
struct NearestTask {
    TreeView<double> tree;
    int64_t k = 0;
    double* sums = nullptr;   // in, out: (n, k) increasing by row; infinite where none is found yet
    int32_t* slots = nullptr; // out: (n, k)
    Team* team = nullptr;
};

// For every point the nearest point of another component, as far as it can matter to its own
// component. All by slot, except for values of nodes.
struct ForeignTask {
    TreeView<double> tree;
    const double* core = nullptr;            // distance at which a point becomes core
    const int32_t* component = nullptr;      // the smallest slot of the component
    const int32_t* node_component = nullptr; // (nodes,) if all points below agree, else kMixed
    const double* node_core = nullptr;       // (nodes,) the least below
    double* least = nullptr;                 // by component: no edge that leaves it is shorter
                                             // than the one found up to now
    double* floor = nullptr;                 // by point: no edge that leaves it is shorter
    double* weight = nullptr;                // by point: the edge found, infinite if none
    int32_t* other = nullptr;                // its other end
    Team* team = nullptr;
};
constexpr int32_t kMixed = -1, kNothing = -2;

struct ReachabilityKernels {
    void (*nearest)(const NearestTask&, int thread, int32_t leaf);
    void (*foreign)(const ForeignTask&, int thread, int32_t leaf);
};

// --- all of them --------------------------------------------------------------------------------

// One level's kernels, by norm and number of columns.
struct Kernels {
    TreeKernels<float> (*float_tree)(Norm, int width);
    TreeKernels<double> (*double_tree)(Norm, int width);
    ReachabilityKernels (*reachability_tree)(Norm, int width);
    GridKernels (*grid)();
};

// Those of the level in use.
template <class T> TreeKernels<T> tree_kernels(Norm norm, int width);
template <> TreeKernels<float> tree_kernels(Norm norm, int width);
template <> TreeKernels<double> tree_kernels(Norm norm, int width);
ReachabilityKernels reachability_kernels(Norm norm, int width);
GridKernels grid_kernels();

// Is any of `a` slots from a_begin on nearby one of `b` slots from b_begin on? For many of both.
bool any_nearby(const GridTask& task, int thread, int32_t a_begin, int32_t a, int32_t b_begin,
                int32_t b);

} // namespace coterie::dbscan

#if defined(COTERIE_LEVEL)
namespace coterie::COTERIE_LEVEL::dbscan {
using namespace coterie::dbscan;
}
#endif

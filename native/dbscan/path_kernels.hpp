// path_kernels.hpp: what the mutual-reachability structure asks of the leaves of a tree.
//
// The tree has float64 coordinates, so a sum over the columns of a leaf is the definition itself:
// nothing is proposed, nothing has to be settled.
#pragma once

#include "dbscan/kd_tree.hpp"

namespace coterie {

// The nearest k points of every point, itself not counted.
struct NearestTask {
    TreeView<double> tree;
    int64_t k = 0;
    double* sums = nullptr;   // in, out: (n, k) increasing by row; infinite where none is found yet
    int32_t* slots = nullptr; // out: (n, k)
    Team* team = nullptr;
};

// For every point the nearest point of another component, as far as it can matter to its own
// component. All by slot, except for what belongs to nodes.
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

struct ReachKernels {
    void (*nearest)(const NearestTask&, int thread, int32_t leaf);
    void (*foreign)(const ForeignTask&, int thread, int32_t leaf);
};

// The kernels of the level in use.
ReachKernels reach_kernels(Norm norm, int width);

} // namespace coterie

// grid_kernels.hpp: what kernels do with the cells of a grid.
#pragma once

#include "core/union_find.hpp"
#include "dbscan/clique_grid.hpp"

namespace coterie {

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

// The kernels of the level in use.
GridKernels grid_kernels();

// Is any of `a` slots from a_begin on nearby one of `b` slots from b_begin on? For many of both.
bool any_nearby(const GridTask& task, int thread, int32_t a_begin, int32_t a, int32_t b_begin,
                int32_t b);

} // namespace coterie

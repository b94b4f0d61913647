// clique_grid.hpp: points of a plane in square cells whose points are all nearby each other.
//
// The side of a cell is a little less than eps / sqrt 2: two points of one cell are neighbours for
// certain, and neighbours are at most two rows and two columns of cells apart. Only occupied cells
// are kept, by key: row of cells * stride + column, with a stride so wide that the keys around a
// cell are five short runs of numbers. So the cells that can hold neighbours of a point are five
// stretches of one ascending list. The grid depends on the data only, not on the number of threads.
#pragma once

#include <string>

#include "core/memory.hpp"
#include "dbscan/metric.hpp"

namespace coterie::dbscan {

// Vectors may look up to kBeyond elements beyond the end of keys and coordinates.
constexpr int kBeyond = 16;

// A grid, or some of its points, as kernels see it. Points have slots, in the order of cells;
// within a cell they keep the order of their rows.
struct GridView {
    int32_t cells = 0, stride = 0;
    const int32_t* key = nullptr;           // (cells,) ascending; beyond them larger than any
    const int32_t* start = nullptr;         // (cells + 1,) the first slot
    const float *x = nullptr, *y = nullptr; // (n,) by slot: in sides of a cell, about the middle
    const int32_t* row = nullptr;           // (n,) by slot: which row of the data
    float inner = 0, outer = 0; // squared: up to inner nearby, above outer not; else ask
};

// The place of the cells. `why_not` is a reason against a grid, if there is one.
struct GridLayout {
    double low[2] = {0, 0};
    double per_unit = 1; // cells
    int32_t width = 0, height = 0, stride = 0;
    std::string why_not;

    static GridLayout around(Team& team, const Space& space);
};

class CliqueGrid {
public:
    // The layout must have nothing against it.
    CliqueGrid(Team& team, const Space& space, const GridLayout& layout);
    GridView view() const { return view_of(cells_); }

    // Keeps in view the marked points only, and the cells that have some. The others are left out
    // of it, in cells of their own. marks: (n,) by slot, in. marked: (cells,) how many each has.
    void divide(Team& team, const uint8_t* marks, const int32_t* marked);
    GridView left_out() const { return view_of(left_out_); }

private:
    struct Cells {
        int32_t count = 0;
        Buffer<int32_t> key, start;
        void resize(int32_t cells, int32_t end); // end: of the last cell, a slot
    };
    template <class T> void sort(Team& team, const T* values, const GridLayout& layout);
    void set_radii(const Space& space, const GridLayout& layout);
    GridView view_of(const Cells& cells) const;

    int64_t n_;
    int32_t stride_;
    Cells cells_, left_out_; // slots of rows that are left out come last
    Buffer<float> x_, y_;
    Buffer<int32_t> row_;
    float inner_ = 0, outer_ = 0;
};

// Cells handed out together: enough chunks for every thread, also where cells are few and full.
int64_t some_cells(int64_t cells);

} // namespace coterie::dbscan

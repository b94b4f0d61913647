// clique_grid.hpp: points of a plane in square cells whose points are all nearby each other.
//
// The side of a cell is a little less than eps / sqrt 2: two points of one cell are neighbours for
// certain, and neighbours are at most two rows and two columns of cells apart. Only occupied cells
// are kept, row after row and by column within a row, so those that can hold neighbours of a point
// are five short stretches. The grid depends on the data only, not on the number of threads.
#pragma once

#include <string>

#include "coterie/memory.hpp"
#include "coterie/nearby.hpp"

namespace coterie {

// The grid as kernels see it. Points have slots, in the order of cells; within a cell they keep
// the order of their rows.
// Vectors may look up to kBeyond elements beyond the end of columns and coordinates.
constexpr int kBeyond = 16;

struct GridView {
    int64_t n = 0;
    int32_t height = 0, cells = 0;
    const int32_t* row_begin = nullptr;     // (height + 1,) the first cell of each row of cells
    const int32_t* column = nullptr;        // (cells,)
    const int32_t* start = nullptr;         // (cells + 1,) the first slot
    const float *x = nullptr, *y = nullptr; // (n,) by slot: in sides of a cell, about the middle
    const int32_t* row = nullptr;           // (n,) by slot: which row of the data
    float inner = 0, outer = 0; // squared: up to inner nearby, above outer not; else ask
};

// Where the cells lie. `why_not` says what speaks against a grid, if anything does.
struct GridFrame {
    double low[2] = {0, 0};
    double per_unit = 1; // cells
    int32_t width = 0, height = 0;
    std::string why_not;

    static GridFrame around(Team& team, const Space& space);
};

class CliqueGrid {
public:
    // The frame must have nothing against it.
    CliqueGrid(Team& team, const Space& space, const GridFrame& frame);
    GridView view() const;

    // Puts the marked points of every cell first, in the same order. marks: (n,) by slot, in.
    // first: (cells,) out, how many each cell has.
    void marked_first(Team& team, const uint8_t* marks, int32_t* first);

private:
    template <class T> void sort(Team& team, const T* values, const GridFrame& frame);
    void set_radii(const Space& space, const GridFrame& frame);

    int64_t n_;
    int32_t height_, cells_ = 0;
    Buffer<int32_t> row_begin_, column_, start_, row_;
    Buffer<float> x_, y_;
    float inner_ = 0, outer_ = 0;
};

// Cells handed out together: enough chunks for every thread, also where cells are few and full.
int64_t some_cells(int64_t cells);

} // namespace coterie

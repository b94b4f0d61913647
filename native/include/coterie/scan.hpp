// scan.hpp: what must be known of a block before anything else: ranges, magnitudes, soundness.
#pragma once

#include "coterie/model.hpp"
#include "coterie/team.hpp"

namespace coterie {

struct Scan {
    Ranges ranges;
    std::vector<double> smallest; // (d,) smallest magnitude that is not zero, +inf if none
    int64_t bad_row = -1;         // first row with a value that is not finite, and its column
    int bad_column = -1;
};

Scan scan(Team& team, const Rows& rows);

// Exact sums over the block: sums (levels, d) and squares (levels of the square grid, d).
void moments(Team& team, const Rows& rows, const Grid& grid, const Grid& squares, int64_t* out_sums,
             int64_t* out_squares);

// The exact sum of (w) x^2 over all values, for columns too wild for a grid of squares.
WideSum wide_squares(Team& team, const Rows& rows);

// out: (n, k) squared distances by the definition.
void distances(Team& team, const Rows& rows, const double* means, int k, double* out);

// Smallest and largest v.x over the block, products added in the order of the columns.
std::pair<double, double> projection_range(Team& team, const Rows& rows, const double* v);

// out: (d, d) sums of x x', added up in leaves of 256 rows counted from row 0, then leaf by leaf.
void second_moments(Team& team, const Rows& rows, double* out);

// The `count` rows farthest from their own mean: squared distance by the definition and row.
std::vector<std::pair<double, int64_t>> farthest(Team& team, const Rows& rows, const double* means,
                                                 const int32_t* labels, int count);

} // namespace coterie

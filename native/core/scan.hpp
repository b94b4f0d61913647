// scan.hpp: the first look at a block: ranges, magnitudes, soundness.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/exact_sum.hpp"
#include "core/rows.hpp"
#include "core/team.hpp"

namespace coterie {

// Rows per chunk of a pass that does little with each value.
inline int64_t chunk_of(const Rows& rows) { return rows.d < 4096 ? (1 << 16) / (rows.d + 1) : 16; }

// Smallest and largest value of each column.
struct Ranges {
    std::vector<double> low, high; // (d,)
};

struct Scan {
    Ranges ranges;
    std::vector<double> smallest; // (d,) smallest magnitude that is not zero, +inf if none
    int64_t bad_row = -1;         // first row with a value that is not finite, and its column
    int bad_column = -1;
};

Scan scan(Team& team, const Rows& rows);

// Exact sums over the block: sums (levels, d) += x by column; the sum of all x^2.
WideSum moments(Team& team, const Rows& rows, const Grid& grid, int64_t* sums);

// The same of w x and w x^2; `squares` is the grid of w x^2, if columns are tame enough for one.
WideSum weighted_moments(Team& team, const Rows& rows, const Grid& grid,
                         const std::optional<Grid>& squares, int64_t* sums);

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

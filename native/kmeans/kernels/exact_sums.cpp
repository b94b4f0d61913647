// exact_sums.cpp: exact sums of w x and of w x^2 over the rows of a block, column by column.
#include "kmeans/kernels/add_row.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

// row: (6, padded) scratch. Every product is taken together with its rounding error, so nothing is
// lost.
void exact_sums(const Rows& rows, const LimbGrid& grid, const LimbGrid& squares, int64_t begin,
                int64_t end, double* row, int64_t* out_sums, int64_t* out_squares) {
    const int padded = grid.padded;
    double *x = row, *error = row + padded, *high = row + 2 * padded, *low = row + 3 * padded;
    double *high_error = row + 4 * padded, *low_error = row + 5 * padded;
    std::memset(row, 0, sizeof(double) * 6 * padded);
    for (int64_t i = begin; i < end; ++i) {
        read_row(rows, i, x);
        for (int l = 0; l < padded; ++l) {
            high[l] = x[l] * x[l];
            low[l] = std::fma(x[l], x[l], -high[l]);
        }
        const double w = rows.weights[i];
        for (int l = 0; l < padded; ++l) {
            const double wx = w * x[l], wh = w * high[l], wl = w * low[l];
            error[l] = std::fma(w, x[l], -wx);
            high_error[l] = std::fma(w, high[l], -wh);
            low_error[l] = std::fma(w, low[l], -wl);
            x[l] = wx;
            high[l] = wh;
            low[l] = wl;
        }
        add_values<+1>(x, grid, out_sums);
        add_values<+1>(error, grid, out_sums);
        add_values<+1>(high_error, squares, out_squares);
        add_values<+1>(low_error, squares, out_squares);
        add_values<+1>(high, squares, out_squares);
        add_values<+1>(low, squares, out_squares);
    }
}

} // namespace coterie::COTERIE_LEVEL::kmeans

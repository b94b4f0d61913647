// triangles.hpp: symmetric and upper triangular matrices as upper triangles, row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/inline.hpp"

namespace coterie::mixture {

COTERIE_INLINE size_t triangle_size(size_t d) { return d * (d + 1) / 2; }

// The begin of row i of a triangle, which has column i first: (i, j) is at j - i from there.
COTERIE_INLINE size_t triangle_row(int d, int i) {
    return static_cast<size_t>(i) * d - static_cast<size_t>(i) * (i - 1) / 2;
}

// triangle: of a (d, d) matrix.
inline void fold(const double* matrix, size_t d, double* triangle) {
    for (size_t i = 0; i < d; ++i, matrix += d)
        triangle = std::copy(matrix + i, matrix + d, triangle);
}

// matrix: with this upper triangle; below it the same, or zeros.
inline void unfold(const double* triangle, size_t d, bool symmetric, double* matrix) {
    for (size_t i = 0; i < d; ++i) {
        for (size_t j = 0; j < i; ++j)
            matrix[i * d + j] = symmetric ? matrix[j * d + i] : 0.0;
        std::copy(triangle, triangle + d - i, matrix + i * d + i);
        triangle += d - i;
    }
}

// out: the covariance about the centre plus shift, from moments about the centre. means: (d,) room.
inline void covariance_about(const double* second, double mass, const double* first,
                             const double* shift, size_t d, double* means, double* out) {
    for (size_t j = 0; j < d; ++j)
        means[j] = first[j] / mass;
    for (size_t i = 0; i < d; ++i) {
        const double mean = means[i], move = shift[i];
        for (size_t j = i; j < d; ++j) {
            const double cross = mean * shift[j] + means[j] * move;
            out[j - i] = (second[j - i] / mass - cross) + move * shift[j];
        }
        second += d - i, out += d - i;
    }
}

// out: a symmetric matrix in units of root by column, less `times` the unit matrix.
inline void less_unit(const double* triangle, const double* root, double times, size_t d,
                      double* out) {
    for (size_t i = 0; i < d; ++i) {
        for (size_t j = i; j < d; ++j)
            out[j - i] = triangle[j - i] / (root[i] * root[j]);
        out[0] -= times;
        triangle += d - i, out += d - i;
    }
}

// The largest entry of |U|'|v|.
inline double largest_reach(const double* triangle, const double* v, size_t d, double* sums) {
    std::fill(sums, sums + d, 0.0);
    for (size_t i = 0; i < d; ++i)
        for (size_t j = i; j < d; ++j)
            sums[j] += std::fabs(v[i]) * std::fabs(*triangle++);
    double largest = 0.0;
    for (size_t j = 0; j < d; ++j)
        largest = sums[j] > largest || std::isnan(sums[j]) ? sums[j] : largest;
    return largest;
}

} // namespace coterie::mixture

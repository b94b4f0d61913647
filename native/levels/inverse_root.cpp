// inverse_root.cpp: the upper U with U U' = C^-1, from Cholesky's C = R'R as U = R^-1.
//
// Matrices are upper triangles, row by row, and are replaced. Four rows at a time meet all others,
// so that what is loaded is used four times.
#include <vector>

#include "coterie/mixture.hpp"
#include "wide.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kFour = 4;

struct Triangle {
    double* values;
    int d;
    // Row i, such that [j] is column j >= i.
    double* row(int i) const { return values + triangle_row(d, i) - i; }
};

// Rows[q][j] += sum over t of by[q][t] * from[t][j], for j in [begin, end).
template <int Rows>
COTERIE_INLINE void add_four(double* const* rows, const double (*by)[kFour],
                             const double* const* from, int begin, int end) {
    int j = begin;
    for (; j + kLanes <= end; j += kLanes) {
        VD x[kFour];
        for (int t = 0; t < kFour; ++t)
            x[t] = load<VD>(from[t] + j);
        for (int q = 0; q < Rows; ++q) {
            VD sum = load<VD>(rows[q] + j);
            for (int t = 0; t < kFour; ++t)
                sum = fma(every(by[q][t]), x[t], sum);
            store(rows[q] + j, sum);
        }
    }
    for (; j < end; ++j)
        for (int q = 0; q < Rows; ++q)
            for (int t = 0; t < kFour; ++t)
                rows[q][j] += by[q][t] * from[t][j];
}

} // namespace

// False if the matrix is not positive definite.
bool cholesky(double* values, int d) {
    const Triangle C{values, d};
    for (int i = 0; i < d; i += kFour) {
        const int next = std::min(d, i + kFour);
        for (int p = i; p < next; ++p) {
            double* pivot = C.row(p);
            if (!(pivot[p] > 0) || std::isinf(pivot[p]))
                return false;
            const double root = std::sqrt(pivot[p]), inverse = 1 / root;
            pivot[p] = root;
            for (int j = p + 1; j < d; ++j)
                pivot[j] *= inverse;
            for (int q = p + 1; q < next; ++q)
                for (int j = q; j < d; ++j)
                    C.row(q)[j] -= pivot[q] * pivot[j];
        }
        if (next == d)
            break;
        const double* from[kFour];
        for (int t = 0; t < kFour; ++t)
            from[t] = C.row(i + t);
        for (int r = next; r < d; ++r) {
            double by[1][kFour];
            for (int t = 0; t < kFour; ++t)
                by[0][t] = -from[t][r];
            double* row = C.row(r);
            add_four<1>(&row, by, from, r, d);
        }
    }
    return true;
}

// The same.
bool inverse_root(double* values, int d) {
    if (!cholesky(values, d))
        return false;
    const Triangle R{values, d};
    std::vector<double> memory(static_cast<size_t>(kFour) * d);
    double* sums[kFour]; // of what is known of a row of U times R; then that row
    for (int q = 0; q < kFour; ++q)
        sums[q] = memory.data() + static_cast<size_t>(q) * d;
    for (int i = 0; i < d; i += kFour) { // rows of U from i on need rows of R from i on only
        std::fill(memory.begin(), memory.end(), 0.0);
        for (int l = i; l < d; l += kFour) {
            const int next = std::min(d, l + kFour);
            double by[kFour][kFour];
            for (int q = 0; q < kFour; ++q)
                for (int p = l; p < next; ++p) {
                    const double* pivot = R.row(p);
                    const double u = ((i + q == p ? 1.0 : 0.0) - sums[q][p]) / pivot[p];
                    sums[q][p] = by[q][p - l] = u;
                    for (int j = p + 1; j < next; ++j)
                        sums[q][j] += u * pivot[j];
                }
            if (next == d)
                break;
            const double* from[kFour];
            for (int t = 0; t < kFour; ++t)
                from[t] = R.row(l + t);
            add_four<kFour>(sums, by, from, next, d);
        }
        for (int q = 0; q < std::min(kFour, d - i); ++q)
            std::copy(sums[q] + i + q, sums[q] + d, R.row(i + q) + i + q);
    }
    return true;
}

} // namespace coterie::COTERIE_LEVEL

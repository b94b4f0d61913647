// inverse_root.cpp: the upper U with U U' = C^-1, from Cholesky's C = R'R as U = R^-1.
//
// Matrices are upper triangles, row by row, and are replaced. Four rows at a time meet all others,
// two by two.
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

COTERIE_INLINE double add_product(double a, double b, double c) {
    return kFused ? std::fma(a, b, c) : a * b + c;
}

// rows[q][j] += sum over t of by[q][t] * from[t][j], for j in [begin, end). Two rows at a time:
// what they are multiplied by stays in registers. No entry tells where a vector began.
template <int Rows>
COTERIE_INLINE void add_four(double* const* rows, const double (*by)[kFour],
                             const double* const* from, int begin, int end) {
    static_assert(Rows <= 2);
    VD factor[Rows][kFour];
    for (int q = 0; q < Rows; ++q)
        for (int t = 0; t < kFour; ++t)
            factor[q][t] = every(by[q][t]);
    int j = begin;
    for (; j + kLanes <= end; j += kLanes) {
        VD sum[Rows];
        for (int q = 0; q < Rows; ++q)
            sum[q] = load<VD>(rows[q] + j);
        for (int t = 0; t < kFour; ++t) {
            const VD x = load<VD>(from[t] + j);
            for (int q = 0; q < Rows; ++q)
                sum[q] = fma(factor[q][t], x, sum[q]);
        }
        for (int q = 0; q < Rows; ++q)
            store(rows[q] + j, sum[q]);
    }
    for (; j < end; ++j)
        for (int q = 0; q < Rows; ++q)
            for (int t = 0; t < kFour; ++t)
                rows[q][j] = add_product(by[q][t], from[t][j], rows[q][j]);
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
        for (int r = next; r < d; r += 2) {
            const int last = std::min(r + 1, d - 1);
            double* const rows[2] = {C.row(r), C.row(last)};
            double by[2][kFour];
            for (int t = 0; t < kFour; ++t)
                by[0][t] = -from[t][r], by[1][t] = -from[t][last];
            add_four<1>(rows, by, from, r, r + 1); // the upper row has one column more
            if (last > r)
                add_four<2>(rows, by, from, last, d);
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
            add_four<2>(sums, by, from, next, d);
            add_four<2>(sums + 2, by + 2, from, next, d);
        }
        for (int q = 0; q < std::min(kFour, d - i); ++q)
            std::copy(sums[q] + i + q, sums[q] + d, R.row(i + q) + i + q);
    }
    return true;
}

} // namespace coterie::COTERIE_LEVEL

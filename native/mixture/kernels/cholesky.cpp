// cholesky.cpp: the upper U with U U' = C^-1, from Cholesky's C = R'R as U = R^-1.
//
// Matrices are upper triangles, row by row, and are replaced, four rows at a time. The products
// of earlier rows or columns are added up in registers, by tiles of those four.
#include "core/scratch.hpp"
#include "mixture/kernels.hpp"
#include "mixture/triangles.hpp"
#include "simd/doubles.hpp"

namespace coterie::COTERIE_LEVEL::mixture {
namespace {

constexpr int kFour = 4;
constexpr int kVectors = kLanes == 2 ? 2 : 3, kWide = kVectors * kLanes; // of a tile; by fours

struct Triangle {
    double* values;
    int d;
    // Row i, such that [j] is column j >= i.
    double* row(int i) const { return values + triangle_row(d, i) - i; }
};

COTERIE_INLINE double add_product(double a, double b, double c) {
    return kFused ? std::fma(a, b, c) : a * b + c;
}

// sums[q][j] += sum over l in [first, last) of by(l)[q * step] * R(l, j), for j in [begin, end) and
// four q, in the order of l. No entry tells where a vector began.
template <int Vectors, class By>
COTERIE_INLINE void add_tile(double* const* sums, const Triangle& R, int first, int last,
                             const By& by, int step, int j) {
    VD sum[kFour][Vectors];
#pragma GCC unroll 4
    for (int q = 0; q < kFour; ++q)
        for (int v = 0; v < Vectors; ++v)
            sum[q][v] = load<VD>(sums[q] + j + v * kLanes);
    for (int l = first; l < last; ++l) {
        const double *row = R.row(l) + j, *factor = by(l);
        VD x[Vectors];
        for (int v = 0; v < Vectors; ++v)
            x[v] = load<VD>(row + v * kLanes);
#pragma GCC unroll 4
        for (int q = 0; q < kFour; ++q) {
            const VD f = every(factor[q * step]);
            for (int v = 0; v < Vectors; ++v)
                sum[q][v] = fma(f, x[v], sum[q][v]);
        }
    }
#pragma GCC unroll 4
    for (int q = 0; q < kFour; ++q)
        for (int v = 0; v < Vectors; ++v)
            store(sums[q] + j + v * kLanes, sum[q][v]);
}
template <class By>
COTERIE_INLINE void add_products(double* const* sums, const Triangle& R, int first, int last,
                                 const By& by, int step, int begin, int end) {
    int j = begin;
    for (; j + kWide <= end; j += kWide)
        add_tile<kVectors>(sums, R, first, last, by, step, j);
    for (; j + kLanes <= end; j += kLanes)
        add_tile<1>(sums, R, first, last, by, step, j);
    for (; j < end; ++j)
        for (int q = 0; q < kFour; ++q)
            for (int l = first; l < last; ++l)
                sums[q][j] = add_product(by(l)[q * step], R.row(l)[j], sums[q][j]);
}

// Four rows, side by side.
struct FourRows {
    double* row[kFour];
    size_t size;
    FourRows(int d, Scratch& scratch) : size(static_cast<size_t>(kFour) * d) {
        double* memory = scratch.take<double>(size);
        for (int q = 0; q < kFour; ++q)
            row[q] = memory ? memory + static_cast<size_t>(q) * d : nullptr;
    }
    void clear() { std::fill(row[0], row[0] + size, 0.0); }
};

struct Memory {
    FourRows rows;
    double* less; // (d, kFour)

    Memory(int d, Scratch& scratch) : rows(d, scratch) { less = scratch.take<double>(rows.size); }
};

// Columns [l, l + 4) of four rows of U, from the sums to the left of them; `diagonal`: U
// has its diagonal there. A vector holds one column, so that the four divisions of each, which wait
// for those before, are one.
COTERIE_INLINE void solve_four(double* const* sums, const Triangle& R, int l, bool diagonal) {
    auto column = transposed(load<D4>(sums[0] + l), load<D4>(sums[1] + l), load<D4>(sums[2] + l),
                             load<D4>(sums[3] + l));
#pragma GCC unroll 4
    for (int p = 0; p < kFour; ++p) {
        const double* pivot = R.row(l + p) + l;
        D4 one = {};
        one[p] = diagonal ? 1.0 : 0.0;
        column.at[p] = (one - column.at[p]) / every4(pivot[p]);
#pragma GCC unroll 4
        for (int j = p + 1; j < kFour; ++j)
            column.at[j] += column.at[p] * every4(pivot[j]);
    }
    const auto row = transposed(column.at[0], column.at[1], column.at[2], column.at[3]);
    for (int q = 0; q < kFour; ++q)
        store(sums[q] + l, row.at[q]);
}

// The same for the last columns, if they are fewer.
inline void solve_last(double* const* sums, const Triangle& R, int l, bool diagonal) {
    for (int q = 0; q < kFour; ++q)
        for (int p = l; p < R.d; ++p) {
            const double* pivot = R.row(p);
            sums[q][p] = ((diagonal && l + q == p ? 1.0 : 0.0) - sums[q][p]) / pivot[p];
            for (int j = p + 1; j < R.d; ++j)
                sums[q][j] += sums[q][p] * pivot[j];
        }
}

} // namespace

size_t root_scratch(int d) {
    Scratch count;
    Memory(d, count);
    return count.used;
}

// False if the matrix is not positive definite.
bool cholesky(double* values, int d, void* scratch) {
    const Triangle C{values, d};
    Scratch pieces(scratch);
    // rows: of R, each less the rest of C; less: - R(l, i + q) of rows l < i.
    auto [rows, less] = Memory(d, pieces);
    for (int i = 0; i < d; i += kFour) {
        const int count = std::min(kFour, d - i);
        rows.clear();
        for (int q = 0; q < count; ++q)
            std::copy(C.row(i + q) + i + q, C.row(i + q) + d, rows.row[q] + i + q);
        for (int l = 0; l < i; ++l)
            for (int q = 0; q < count; ++q)
                less[static_cast<size_t>(l) * kFour + q] = -C.row(l)[i + q];
        add_products(
            rows.row, C, 0, i,
            [less = less](int l) { return less + static_cast<size_t>(l) * kFour; }, 1, i, d);
        for (int p = 0; p < count; ++p) {
            double* pivot = rows.row[p];
            const double square = pivot[i + p];
            if (!(square > 0) || std::isinf(square))
                return false;
            const double root = std::sqrt(square), inverse = 1 / root;
            pivot[i + p] = root;
            for (int j = i + p + 1; j < d; ++j)
                pivot[j] *= inverse;
            for (int q = p + 1; q < count; ++q) {
                double* __restrict row = rows.row[q];
                for (int j = i + q; j < d; ++j)
                    row[j] -= pivot[i + q] * pivot[j];
            }
            std::copy(pivot + i + p, pivot + d, C.row(i + p) + i + p);
        }
    }
    return true;
}

// The same.
bool inverse_root(double* values, int d, void* scratch) {
    if (!cholesky(values, d, scratch))
        return false;
    const Triangle R{values, d};
    Scratch pieces(scratch);
    FourRows rows(d, pieces); // of U; before that, of their known columns times R
    double* const* sums = rows.row;
    const auto known = [&](int l) { return sums[0] + l; };
    for (int i = 0; i < d; i += kFour) { // rows of U from i on need rows of R from i on only
        rows.clear();
        for (int begin = i; begin < d; begin += kWide) {
            const int end = std::min(d, begin + kWide);
            add_products(sums, R, i, begin, known, d, begin, end);
            for (int l = begin; l < end; l += kFour) {
                const int next = std::min(end, l + kFour);
                if (next - l == kFour)
                    solve_four(sums, R, l, i == l);
                else
                    solve_last(sums, R, l, i == l);
                add_products(sums, R, l, next, known, d, next, end);
            }
        }
        for (int q = 0; q < std::min(kFour, d - i); ++q)
            std::copy(sums[q] + i + q, sums[q] + d, R.row(i + q) + i + q);
    }
    return true;
}

} // namespace coterie::COTERIE_LEVEL::mixture

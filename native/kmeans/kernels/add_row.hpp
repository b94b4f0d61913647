// add_row.hpp: a row joins or leaves the exact sums of a cluster.
#pragma once

#include "kmeans/kernels.hpp"
#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

// limbs: (levels, padded) += sign * x. Each limb takes the whole units of the remainder
// that the one above left; the integer number of units is read off the bits of value + magic.
template <int Sign>
COTERIE_INLINE void add_values(const double* x, const LimbGrid& grid, int64_t* limbs) {
    const int padded = grid.padded;
    const double* magic = grid.magic;
    for (int l = 0; l < padded; l += 4) {
        D4 rest = load<D4>(x + l);
        for (int j = 0; j < grid.levels; ++j) {
            const size_t at = static_cast<size_t>(j) * padded + l;
            const D4 m = load<D4>(magic + at);
            const D4 rounded = rest + m;
            const I4 units = (I4)rounded - (I4)m;
            const I4 sum = load<I4>(limbs + at);
            store(limbs + at, Sign > 0 ? sum + units : sum - units);
            rest -= rounded - m;
        }
    }
}

// The same for a row of D <= 8 columns that goes from memory to registers without a detour.
template <int Sign, int D, class T>
COTERIE_INLINE void add_few(const T* x, const LimbGrid& grid, int64_t* limbs) {
    constexpr int padded = (D + 3) / 4 * 4;
    for (int l = 0; l < padded; l += 4) {
        auto at = [x, l](int q) { return l + q < D ? static_cast<double>(x[l + q]) : 0.0; };
        D4 rest = {at(0), at(1), at(2), at(3)};
        const double* magic = grid.magic + l;
        int64_t* limb = limbs + l;
        for (int j = 0; j < grid.levels; ++j, magic += padded, limb += padded) {
            const D4 m = load<D4>(magic);
            const D4 rounded = rest + m;
            const I4 units = (I4)rounded - (I4)m;
            const I4 sum = load<I4>(limb);
            store(limb, Sign > 0 ? sum + units : sum - units);
            rest -= rounded - m;
        }
    }
}

// One number, at place `at` of every limb.
template <int Sign>
COTERIE_INLINE void add_value(double rest, const LimbGrid& grid, size_t at, int64_t* limbs,
                              size_t stride) {
    for (int j = 0; j < grid.levels; ++j) {
        const double m = grid.magic[static_cast<size_t>(j) * grid.padded + at];
        const double rounded = rest + m;
        limbs[j * stride + at] +=
            Sign * (__builtin_bit_cast(int64_t, rounded) - __builtin_bit_cast(int64_t, m));
        rest -= rounded - m;
    }
}

template <int Sign> COTERIE_INLINE void add_mass(double w, const LimbGrid& grid, int64_t* limbs) {
    add_value<Sign>(w, grid, 0, limbs, 1);
}

// A sparse row: zeros hold no unit, so only its entries are looked at.
template <int Sign, class T>
COTERIE_INLINE void add_entries(const Rows& rows, int64_t i, const double* weight,
                                const LimbGrid& grid, int64_t* limbs) {
    const T* values = static_cast<const T*>(rows.values);
    for (int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
        const size_t l = rows.columns[p];
        const double x = values[p];
        if (!weight) {
            add_value<Sign>(x, grid, l, limbs, grid.padded);
            continue;
        }
        const double product = *weight * x;
        add_value<Sign>(product, grid, l, limbs, grid.padded);
        add_value<Sign>(std::fma(*weight, x, -product), grid, l, limbs, grid.padded);
    }
}

// D: the number of columns where it is known when compiling, else 0.
template <int Sign, int D = 0>
COTERIE_INLINE void add_row(const Rows& rows, const SumLayout& layout, Worker& worker, int64_t i,
                            int c) {
    const LimbGrid& grid = layout.grid;
    int64_t* sums = worker.sums + static_cast<size_t>(c) * grid.size();
    worker.touched[c] = 1;
    if constexpr (D > 0) {
        if (!layout.mass) {
            if (rows.kind == Kind::float64)
                add_few<Sign, D>(static_cast<const double*>(rows.values) + i * D, grid, sums);
            else
                add_few<Sign, D>(static_cast<const float*>(rows.values) + i * D, grid, sums);
            worker.mass[c] += Sign;
            return;
        }
    }
    if (rows.sparse()) {
        const double* weight = layout.mass ? &rows.weights[i] : nullptr;
        if (rows.kind == Kind::csr64)
            add_entries<Sign, double>(rows, i, weight, grid, sums);
        else
            add_entries<Sign, float>(rows, i, weight, grid, sums);
        if (weight)
            add_mass<Sign>(*weight, layout.mass,
                           worker.mass + static_cast<size_t>(c) * layout.mass.levels);
        else
            worker.mass[c] += Sign;
        return;
    }
    double* x = worker.row; // (padded,), zero beyond d
    if (rows.kind == Kind::float64 && (rows.d & 3) == 0 && !layout.mass) {
        add_values<Sign>(static_cast<const double*>(rows.values) + i * rows.d, grid, sums);
        worker.mass[c] += Sign;
        return;
    }
    read_row(rows, i, x);
    if (!layout.mass) {
        add_values<Sign>(x, grid, sums);
        worker.mass[c] += Sign;
        return;
    }
    // w x is the sum of two float64 values, the product and its rounding error.
    const double w = rows.weights[i];
    double* error = x + grid.padded;
    for (int l = 0; l < rows.d; ++l) {
        const double product = w * x[l];
        error[l] = std::fma(w, x[l], -product);
        x[l] = product;
    }
    add_values<Sign>(x, grid, sums);
    add_values<Sign>(error, grid, sums);
    add_mass<Sign>(w, layout.mass, worker.mass + static_cast<size_t>(c) * layout.mass.levels);
}

// The label of row i becomes c; the sums follow.
template <int D = 0>
COTERIE_INLINE void relabel(const Rows& rows, const SumLayout& layout, RowState state,
                            Worker& worker, int64_t i, int c) {
    const int old = state.labels[i];
    if (old == c)
        return;
    state.labels[i] = c;
    ++worker.moved;
    if (!layout.grid)
        return; // prediction: no sums are wanted
    if (old >= 0)
        add_row<-1, D>(rows, layout, worker, i, old);
    add_row<+1, D>(rows, layout, worker, i, c);
}

} // namespace coterie::COTERIE_LEVEL::kmeans

// exact_nearest.hpp: the nearest mean by the definition, where proposals cannot tell.
//
// s_c = sum over l, in order, of (x_l - m_cl)^2 in float64, multiplied and then added; the
// smallest s_c wins, the lowest c among equals. Four means are evaluated side by side, which
// changes no bit of any of them.
#pragma once

#include <algorithm>

#include "kmeans/kernels.hpp"
#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

// column(j), j < count: the columns to visit.
template <class Column>
inline int nearest_by_definition(const double* x, const Model& model, int count, Column column) {
    const int stride = (model.k + 7) / 8 * 8;
    double best = __builtin_inf();
    int label = 0;
    for (int c = 0; c < model.k; c += 8) {
        D4 s = {}, t = {};
        for (int j = 0; j < count; ++j) {
            const int l = column(j);
            const double* m = model.means_t + static_cast<size_t>(l) * stride + c;
            const D4 e = x[l] - load<D4>(m), f = x[l] - load<D4>(m + 4);
            s += e * e;
            t += f * f;
        }
        for (int q = 0; q < 4; ++q)
            if (s[q] < best) {
                best = s[q];
                label = c + q;
            }
        for (int q = 0; q < 4; ++q)
            if (t[q] < best) {
                best = t[q];
                label = c + 4 + q;
            }
    }
    return label;
}

// A sparse row: columns where it and all means are zero add nothing. list: (d,) scratch.
inline int nearest_of_sparse(const Rows& rows, const Model& model, int64_t i, const double* x,
                             int32_t* list) {
    const int32_t *row = rows.columns + rows.starts[i],
                  *row_end = rows.columns + rows.starts[i + 1];
    const int32_t *live = model.packed.live, *live_end = model.packed.live + model.packed.n_live;
    const int32_t* end = std::set_union(row, row_end, live, live_end, list);
    return nearest_by_definition(x, model, static_cast<int>(end - list),
                                 [list](int j) { return list[j]; });
}

[[gnu::noinline]] inline int settle(const Rows& rows, const Model& model, Worker& worker,
                                    int64_t i) {
    ++worker.settled;
    const auto every = [](int l) { return l; };
    if (rows.kind == Kind::float64)
        return nearest_by_definition(static_cast<const double*>(rows.values) + i * rows.d, model,
                                     rows.d, every);
    read_row(rows, i, worker.row);
    if (rows.sparse())
        return nearest_of_sparse(rows, model, i, worker.row,
                                 reinterpret_cast<int32_t*>(worker.row + rows.d));
    return nearest_by_definition(worker.row, model, rows.d, every);
}

} // namespace coterie::COTERIE_LEVEL::kmeans

// definition.hpp: the nearest mean by the definition, where proposals cannot tell.
//
// s_c = sum over l, in order, of (x_l - m_cl)^2 in float64, multiplied and then added; the
// smallest s_c wins, the lowest c among equals. Four means are evaluated side by side, which
// changes no bit of any of them.
#pragma once

#include "coterie/kernels.hpp"
#include "coterie/simd.hpp"

namespace coterie::COTERIE_LEVEL {

inline int nearest_by_definition(const double* x, const Model& model) {
    const int stride = (model.k + 7) / 8 * 8;
    double best = __builtin_inf();
    int label = 0;
    for (int c = 0; c < model.k; c += 8) {
        D4 s = {}, t = {};
        const double* m = model.means_t + c;
        for (int l = 0; l < model.d; ++l, m += stride) {
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

[[gnu::noinline]] inline int settle(const Rows& rows, const Model& model, Worker& worker,
                                    int64_t i) {
    ++worker.settled;
    if (rows.kind == Kind::float64)
        return nearest_by_definition(static_cast<const double*>(rows.values) + i * rows.d, model);
    read_row(rows, i, worker.row);
    return nearest_by_definition(worker.row, model);
}

} // namespace coterie::COTERIE_LEVEL

// distances.cpp: squared distances to all means, by the definition.
#include "kmeans/kernels/add_row.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

void distances(const Rows& rows, const Model& model, Worker& worker, int64_t begin, int64_t end,
               double* out) {
    const int stride = (model.k + 7) / 8 * 8;
    for (int64_t i = begin; i < end; ++i, out += model.k) {
        read_row(rows, i, worker.row);
        for (int c = 0; c < model.k; c += 4) {
            D4 s = {};
            const double* m = model.means_t + c;
            for (int l = 0; l < model.d; ++l, m += stride) {
                const D4 e = worker.row[l] - load<D4>(m);
                s += e * e;
            }
            std::memcpy(out + c, &s, sizeof(double) * (model.k - c < 4 ? model.k - c : 4));
        }
    }
}

} // namespace coterie::COTERIE_LEVEL::kmeans

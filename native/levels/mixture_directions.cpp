// mixture_directions.cpp: where the other means lie, seen from one component.
//
// With F the factor of component c, a row is y = F'(z - m) there. Towards the mean of `own` points
// v = F'(m_own - m) / |F'(m_own - m)|, and v'y = (F v)'z - (F v)'m: one product of a row.
#include <vector>

#include "mixture_leaf.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

// Eight vectors side by side, (d, 8).
COTERIE_INLINE void add(double factor, const double* from, double* to) {
    for (int p = 0; p < kParts; ++p)
        store(to + p * kLanes,
              fma(every(factor), load<VD>(from + p * kLanes), load<VD>(to + p * kLanes)));
}

// visit(u, i, j) for the entries of a packed factor.
template <class Visit> COTERIE_INLINE void for_entries(const double* u, int d, const Visit& visit) {
    for (int j0 = 0; j0 < d; j0 += kTile) {
        const int end = std::min(d, j0 + kTile);
        for (int i = 0; i < end; ++i)
            for (int j = j0; j < end; ++j)
                visit(*u++, i, j);
    }
}

} // namespace

// directions: (F v)'m and F v by column, at component c of every `own`; units: v. Zeros, which
// bound nothing, where means are the same.
void mixture_directions(const MixtureTask& task, int c, float* directions, float* units) {
    const int k = task.shape.k, d = task.shape.d, padded = (d + 3) / 4 * 4;
    const int wide = side_by_side(k);
    const double* factor = task.factors + c * packed_factor(d);
    const double* mean = task.means + static_cast<size_t>(c) * d;
    std::vector<double> memory(static_cast<size_t>(3) * d * 8);
    double *between = memory.data(), *v = between + 8 * d, *along = v + 8 * d;
    for (int first = 0; first < k; first += 8) {
        const int few = std::min(8, k - first);
        std::fill(memory.begin(), memory.end(), 0.0);
        for (int q = 0; q < few; ++q)
            for (int i = 0; i < d; ++i)
                between[8 * i + q] = task.means[static_cast<size_t>(first + q) * d + i] - mean[i];
        for_entries(factor, d, [&](double u, int i, int j) __attribute__((always_inline)) {
            add(u, between + 8 * i, v + 8 * j);
        });
        for (int q = 0; q < few; ++q) {
            double square = 0.0;
            for (int j = 0; j < d; ++j)
                square += v[8 * j + q] * v[8 * j + q];
            const double unit = square > 0 && square < 1e300 ? 1 / std::sqrt(square) : 0.0;
            float* out = units + (static_cast<size_t>(c) * k + first + q) * padded;
            for (int j = 0; j < d; ++j)
                v[8 * j + q] = out[j] = unit > 0 ? static_cast<float>(v[8 * j + q] * unit) : 0.f;
            std::fill(out + d, out + padded, 0.f);
        }
        for_entries(factor, d, [&](double u, int i, int j) __attribute__((always_inline)) {
            add(u, v + 8 * j, along + 8 * i);
        });
        for (int q = 0; q < few; ++q) {
            float* out = directions + (first + q) * product_size(k, d) + c;
            double shift = 0.0;
            for (int i = 0; i < d; ++i) {
                out[static_cast<size_t>(i + 1) * wide] = static_cast<float>(along[8 * i + q]);
                shift += along[8 * i + q] * mean[i];
            }
            out[0] = static_cast<float>(shift);
        }
    }
}

} // namespace coterie::COTERIE_LEVEL

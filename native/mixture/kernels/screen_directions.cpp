// screen_directions.cpp: directions from one component to the means of the others.
//
// With F the factor of component c, a row is y = F'(z - m) there. Towards the mean of `own` points
// v = F'(m_own - m) / |F'(m_own - m)|, and v'y = (F v)'z - (F v)'m: one product of a row.
#include "core/scratch.hpp"
#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {
namespace {

// With eight vectors side by side, (d, 8), and a tile of a packed factor, columns [start, start +
// Wide): y = F'x for these columns.
template <int Wide> void whiten(const double* u, int start, const double* x, double* y) {
    VD sum[Wide][kParts] = {};
    for (int i = 0; i < start + Wide; ++i, u += Wide, x += 8)
#pragma GCC unroll 6
        for (int j = 0; j < Wide; ++j)
            for (int p = 0; p < kParts; ++p)
                sum[j][p] = fma(every(u[j]), load<VD>(x + p * kLanes), sum[j][p]);
    for (int j = 0; j < Wide; ++j)
        for (int p = 0; p < kParts; ++p)
            store(y + 8 * j + p * kLanes, sum[j][p]);
}

// x += F y for the same columns.
template <int Wide> void unwhiten(const double* u, int start, const double* y, double* x) {
    VD from[Wide][kParts];
    for (int j = 0; j < Wide; ++j)
        for (int p = 0; p < kParts; ++p)
            from[j][p] = load<VD>(y + 8 * j + p * kLanes);
    for (int i = 0; i < start + Wide; ++i, u += Wide, x += 8)
        for (int p = 0; p < kParts; ++p) {
            VD sum = load<VD>(x + p * kLanes);
#pragma GCC unroll 6
            for (int j = 0; j < Wide; ++j)
                sum = fma(every(u[j]), from[j][p], sum);
            store(x + p * kLanes, sum);
        }
}

constexpr decltype(&whiten<1>) kWhiten[] = {nullptr,   whiten<1>, whiten<2>, whiten<3>,
                                            whiten<4>, whiten<5>, whiten<6>};
constexpr decltype(&unwhiten<1>) kUnwhiten[] = {nullptr,     unwhiten<1>, unwhiten<2>, unwhiten<3>,
                                                unwhiten<4>, unwhiten<5>, unwhiten<6>};

// visit(tile, start, columns of it) for the tiles of a packed factor.
template <class Visit> COTERIE_INLINE void for_tiles(const double* u, int d, const Visit& visit) {
    for (int j = 0; j < d; j += kTile) {
        const int wide = std::min(kTile, d - j);
        visit(u, j, wide);
        u += static_cast<size_t>(j + wide) * wide;
    }
}

// Eight vectors side by side each, (d, 8).
struct Memory {
    double *between, *v, *along;

    Memory(int d, Scratch& scratch) {
        between = scratch.take<double>(8 * d);
        v = scratch.take<double>(8 * d);
        along = scratch.take<double>(8 * d);
    }
};

} // namespace

size_t directions_scratch(const MixtureTask& task) {
    Scratch count;
    Memory(task.shape.d, count);
    return count.used;
}

// directions: (k, 1 + d) of c: (F v)'m and F v for every `own`; units: v. Zeros, which bound
// nothing, where means are the same.
void find_directions(const MixtureTask& task, int c, void* scratch, float* directions,
                     float* units) {
    const int k = task.shape.k, d = task.shape.d, padded = (d + 3) / 4 * 4;
    const double* factor = task.model.factors + c * packed_factor(d);
    const double* mean = task.model.means + static_cast<size_t>(c) * d;
    Scratch pieces(scratch);
    const auto [between, v, along] = Memory(d, pieces);
    for (int first = 0; first < k; first += 8) {
        const int few = std::min(8, k - first);
        for (double* vectors : {between, v, along})
            std::fill(vectors, vectors + 8 * d, 0.0);
        for (int q = 0; q < few; ++q)
            for (int i = 0; i < d; ++i)
                between[8 * i + q] =
                    task.model.means[static_cast<size_t>(first + q) * d + i] - mean[i];
        for_tiles(factor, d, [&](const double* u, int j, int wide) {
            kWhiten[wide](u, j, between, v + 8 * j);
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
        for_tiles(factor, d, [&](const double* u, int j, int wide) {
            kUnwhiten[wide](u, j, v + 8 * j, along);
        });
        for (int q = 0; q < few; ++q) {
            float* out = directions + (static_cast<size_t>(c) * k + first + q) * (1 + d);
            double shift = 0.0;
            for (int i = 0; i < d; ++i) {
                out[i + 1] = static_cast<float>(along[8 * i + q]);
                shift += along[8 * i + q] * mean[i];
            }
            out[0] = static_cast<float>(shift);
        }
    }
}

} // namespace coterie::COTERIE_LEVEL::mixture

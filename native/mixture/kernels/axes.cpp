// axes.cpp: covariances along the axes: by column (diag), the same in all columns
// (spherical), or shared by all components (tied), where rows are whitened first.
//
// No mean is subtracted if all are near the origin: see axes_densities.hpp for densities, and
// axes_moments_origin.hpp for moments.
#include "mixture/kernels/axes_densities.hpp"
#include "mixture/kernels/axes_moments_centred.hpp"
#include "mixture/kernels/axes_moments_origin.hpp"

namespace coterie::COTERIE_LEVEL::mixture {
namespace {

struct Memory {
    Leaf leaf;
    double* white;          // tied: (groups, padded, 8)
    LinearDensities linear; // near the origin, not for diag
    double* sums;           // of the one or the other:
    OriginMoments features; // near the origin,
    CentredMoments spreads; // or else

    Memory(const MixtureTask& task, Scratch& scratch)
        : leaf(task, scratch),
          white(scratch.take<double>(
              task.shape.kind == kTied ? static_cast<size_t>(kLeafRows) * leaf.padded : 0)),
          linear(task.shape, leaf, scratch),
          sums(scratch.take<double>(
              std::max(OriginMoments::doubles(leaf.k, CentredMoments::sums_of(task.shape)),
                       CentredMoments::doubles(task.shape)))),
          features(leaf, sums), spreads(task.shape, sums) {}
};

// white: y_j = sum over i <= j of U_ij z_i, four columns at a time, of Groups from g on.
template <int Groups> void whiten(const Leaf& leaf, const double* by_column, int g, double* white) {
    constexpr int kVectors = Groups * kParts;
    const int d = leaf.d, apart = 8 * leaf.padded;
    const double* z = leaf.group(g);
    double* y = white + g * apart;
    const auto at = [apart](int v) { return v / kParts * apart + v % kParts * kLanes; };
    for (int j = 0; j < d; j += 4) {
        const int wide = d - j < 4 ? d - j : 4;
        const double* u[4];
        for (int q = 0; q < 4; ++q)
            u[q] = by_column + static_cast<size_t>(q < wide ? j + q : j) * d;
        VD sum[4][kVectors] = {};
        for (int i = 0; i < j + wide; ++i) { // zeros below the diagonal
            VD x[kVectors];
            for (int v = 0; v < kVectors; ++v)
                x[v] = load<VD>(z + at(v) + 8 * i);
            for (int q = 0; q < 4; ++q)
                for (int v = 0; v < kVectors; ++v)
                    sum[q][v] = fma(x[v], every(u[q][i]), sum[q][v]);
        }
        for (int q = 0; q < wide; ++q)
            for (int v = 0; v < kVectors; ++v)
                store(y + at(v) + 8 * (j + q), sum[q][v]);
    }
}

// Components that rows meet together: of two vectors each, their sums fill sixteen registers.
constexpr int kMet = kParts > 1 ? 6 : 4;

// Log densities of Groups times eight rows, `apart` from each other, under Together components from
// c on, and the lowest so far. Near, for diag only: the factor comes first, and its product with
// the mean is subtracted. A function of its own, so that nothing else asks for registers.
template <Covariance kind, bool Near, int Groups, int Together>
__attribute__((noinline)) void densities(const double* z, int apart, const MixtureTask& task,
                                         const Memory& memory, int g, int c, double* logs,
                                         VD* lowest) {
    constexpr int kVectors = Groups * kParts;
    const int d = task.shape.d, k = task.shape.k;
    const size_t first = static_cast<size_t>(c) * d;
    const double *means = (Near ? task.model.shifts : task.model.means) + first,
                 *factors = task.model.factors + first;
    VD sum[Together][kVectors] = {};
    for (int j = 0; j < d; ++j) {
        VD x[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
            x[v] = load<VD>(z + v / kParts * apart + 8 * j + v % kParts * kLanes);
#pragma GCC unroll 6
        for (int t = 0; t < Together; ++t) {
            const VD mean = every(means[t * d + j]);
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) {
                VD y = x[v] - mean;
                if constexpr (Near)
                    y = fms(x[v], every(factors[t * d + j]), mean);
                else if constexpr (kind == kDiag)
                    y *= every(factors[t * d + j]);
                sum[t][v] = fma(y, y, sum[t][v]);
            }
        }
    }
    VD low[kVectors]; // in registers, as `lowest` is not; nor is the model, beside stores
    for (int v = 0; v < kVectors; ++v)
        low[v] = v < kParts ? lowest[v] : every(INFINITY);
    VD offset[Together], factor[Together];
    for (int t = 0; t < Together; ++t) {
        // Spherical: the factor is half the precision; else the half is in the factors already.
        factor[t] = every(kind == kSpherical ? -task.model.factors[c + t] : -1.0);
        offset[t] = every(task.model.offsets[c + t]);
    }
    double* distances = memory.spreads.distances + static_cast<size_t>(g) * 8 * k + 8 * c;
#pragma GCC unroll 6
    for (int t = 0; t < Together; ++t)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            const VD log = fma(sum[t][v], factor[t], offset[t]);
            const int at = v / kParts * 8 * k + 8 * t + v % kParts * kLanes;
            store(logs + at, log);
            if constexpr (kind == kSpherical && !Near)
                store(distances + at, sum[t][v]);
            low[v] = min(low[v], log);
        }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
        lowest[v % kParts] = v < kParts ? low[v] : min(lowest[v % kParts], low[v]);
}

template <Covariance kind, bool Near>
void expect(const MixtureTask& task, Leaf& leaf, const Memory& memory) {
    const int k = leaf.k, apart = 8 * leaf.padded;
    leaf.expect(task, [&]<int Groups>(int g, VD* lowest) {
        if constexpr (kind == kTied)
            whiten<Groups>(leaf, task.model.whitener, g, memory.white);
        double* z = kind == kTied ? memory.white + g * apart : leaf.group(g);
        constexpr bool kLinear = Near && kind != kDiag;
        if constexpr (kLinear)
            memory.linear.measure<Groups>(z, g, lowest);
        const int tiles = (k + kMet - 1) / kMet;
        for (int tile = 0, c = 0; tile < tiles; ++tile) { // about as many components in each
            const int until = (tile + 1) * k / tiles;
            pick<kMet>(until - c, [&]<int Together>() __attribute__((always_inline)) {
                if constexpr (kLinear)
                    memory.linear.densities<Groups, Together>(z, g, c, leaf.logs(g) + 8 * c);
                else
                    densities<kind, Near, Groups, Together>(z, apart, task, memory, g, c,
                                                            leaf.logs(g) + 8 * c, lowest);
            });
            c = until;
        }
    });
}

// Sums of features, moved to the centres. Returns false if that loses digits.
bool write_moved(const MixtureTask& task, const OriginMoments& features, double* out) {
    const int k = task.shape.k, d = task.shape.d;
    const int64_t seconds = task.shape.second();
    double *first = out + 1 + k, *second = first + static_cast<int64_t>(k) * d;
    bool kept = true;
    for (int c = 0; c < k; ++c, first += d, second += seconds) {
        const double *m = task.model.centres + static_cast<size_t>(c) * d,
                     mass = features.sum(0, c);
        double spread = 0.0; // lost by all columns together
        out[1 + c] = mass;
        for (int j = 0; j < d; ++j) {
            const double about_origin = features.sum(1 + j, c);
            first[j] = about_origin - mass * m[j];
            const double lost = m[j] * (about_origin + first[j]);
            spread += lost;
            if (task.shape.kind == kDiag) {
                const double square = features.sum(1 + d + j, c);
                second[j] = square - lost;
                kept &= keeps_digits(square, second[j]);
            }
        }
        if (task.shape.kind == kSpherical) {
            const double square = features.sum(1 + d, c);
            second[0] = square - spread;
            kept &= keeps_digits(square, second[0]);
        }
    }
    return kept;
}

void write(const MixtureTask& task, const CentredMoments& spreads, double* out) {
    const int64_t k = task.shape.k, d = task.shape.d, second = task.shape.second();
    for (int c = 0; c < k; ++c) {
        out[1 + c] = spreads.sum(c, 0);
        for (int j = 0; j < d; ++j)
            out[1 + k + c * d + j] = spreads.sum(c, 1 + j);
        for (int t = 0; t < second; ++t)
            out[1 + k + k * d + c * second + t] = spreads.sum(c, 1 + d + t);
    }
}

// Near: means are near the origin, so that they need not be subtracted. Returns false if that lost
// digits.
template <Covariance kind, bool Near>
bool chunk(const MixtureTask& task, int64_t begin, int64_t end, void* scratch, double* out,
           const Pause& pause) {
    Scratch pieces(scratch);
    Memory memory(task, pieces);
    Leaf& leaf = memory.leaf;
    if constexpr (Near) {
        if constexpr (kind != kDiag)
            memory.linear.pack(task);
        memory.features.clear(CentredMoments::sums_of(task.shape));
    } else {
        memory.spreads.clear(leaf.k);
    }
    const auto find_responsibilities = [&] {
        leaf.read(task);
        expect<kind, Near>(task, leaf, memory);
    };
    const auto given = [&] {
        leaf.read(task);
        leaf.take_given(task);
        if constexpr (kind == kSpherical)
            measure(task, leaf, memory.spreads.distances);
    };
    const auto maximise = [&] {
        if constexpr (Near)
            memory.features.add<kind>(leaf, memory.linear.lengths);
        else
            add_leaf<kind>(leaf, memory.spreads, task.model.centres);
    };
    for_leaves(task, leaf, begin, end, pause, find_responsibilities, given, maximise);
    if (!task.m_step.sums)
        return true;
    out[0] = leaf.likelihood.value();
    if constexpr (Near)
        return write_moved(task, memory.features, out);
    write(task, memory.spreads, out);
    return true;
}

template <Covariance kind>
void sweep(const MixtureTask& task, int64_t begin, int64_t end, void* scratch, double* out,
           const Pause& pause) {
    sum_moments(task, [&]<bool Near>() {
        return chunk<kind, Near>(task, begin, end, scratch, out, pause);
    });
}

} // namespace

size_t axes_scratch(const MixtureTask& task) {
    Scratch count;
    Memory(task, count);
    return count.used;
}

void sweep_axes(const MixtureTask& task, int64_t begin, int64_t end, void* scratch, double* out,
                const Pause& pause) {
    switch (task.shape.kind) {
    case Covariance::diag: return sweep<kDiag>(task, begin, end, scratch, out, pause);
    case Covariance::spherical: return sweep<kSpherical>(task, begin, end, scratch, out, pause);
    default: return sweep<kTied>(task, begin, end, scratch, out, pause);
    }
}

} // namespace coterie::COTERIE_LEVEL::mixture

// few_columns.cpp: full covariances of up to four columns. Vectors hold rows; all loops over
// columns are unrolled.
#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {
namespace {

template <int D> struct Few {
    static constexpr int kTriangle = D * (D + 1) / 2;
    static constexpr int kSums = 1 + D + kTriangle; // mass, first and second moments
    // Mean, or near the origin less its product with the factor; factor by column; offset.
    static constexpr int kModel = D + kTriangle + 1;

    // out: (k, kModel)
    template <bool Near> static void pack(const MixtureTask& task, double* out) {
        for (int c = 0; c < task.shape.k; ++c) {
            for (int j = 0; j < D; ++j)
                *out++ = Near ? -task.model.shifts[c * D + j] : task.model.means[c * D + j];
            for (int j = 0; j < D; ++j)
                for (int i = 0; i <= j; ++i)
                    *out++ = task.model.factors[(c * D + i) * D + j];
            *out++ = task.model.offsets[c];
        }
    }

    // Log densities of Groups times eight rows, `apart` from each other, and the lowest. All
    // vectors take a step before the next one: the model is read once for all of them.
    template <bool Near, int Groups>
    static COTERIE_INLINE void densities(const double* group, int apart, const double* model, int k,
                                         double* out, VD* lowest) {
        constexpr int kVectors = Groups * kParts;
        VD x[D][kVectors];
#pragma GCC unroll 4
        for (int j = 0; j < D; ++j)
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v)
                x[j][v] = load<VD>(group + v / kParts * apart + 8 * j + v % kParts * kLanes);
        VD low[kParts]; // in registers, as `lowest` is not
        for (int p = 0; p < kParts; ++p)
            low[p] = lowest[p];
        for (int c = 0; c < k; ++c, model += kModel, out += 8) {
            VD z[D][kVectors], y[kVectors], log[kVectors];
#pragma GCC unroll 4
            for (int j = 0; j < D; ++j)
#pragma GCC unroll 4
                for (int v = 0; v < kVectors; ++v)
                    z[j][v] = Near ? x[j][v] : x[j][v] - every(model[j]);
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v)
                log[v] = every(model[kModel - 1]);
            const double* u = model + D;
#pragma GCC unroll 4
            for (int j = 0; j < D; ++j) {
#pragma GCC unroll 4
                for (int i = 0; i <= j; ++i, ++u)
#pragma GCC unroll 4
                    for (int v = 0; v < kVectors; ++v)
                        y[v] = i > 0  ? fma(z[i][v], every(*u), y[v])
                               : Near ? fma(z[0][v], every(*u), every(model[j]))
                                      : z[0][v] * every(*u);
#pragma GCC unroll 4
                for (int v = 0; v < kVectors; ++v)
                    log[v] = fma(-y[v], y[v], log[v]);
            }
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) {
                store(out + v / kParts * 8 * k + v % kParts * kLanes, log[v]);
                low[v % kParts] = min(low[v % kParts], log[v]);
            }
        }
        for (int p = 0; p < kParts; ++p)
            lowest[p] = low[p];
    }

    // Parts of a group that are added up together: two, if registers hold their sums.
    static constexpr int kAtOnce = kParts > 1 && 2 * kSums <= 12 ? 2 : 1;

    // Adds a leaf to the sums of one component: so many parts of every group, from p on, to the
    // same parts of the lanes. Sums are one array, in the order of the lanes: the compiler copied
    // several to the stack and back.
    template <bool Near>
    static COTERIE_INLINE void add(const Leaf& leaf, int c, const double* centre, int p,
                                   double* lanes) {
        double* at = lanes + p * kLanes;
        VD sums[kSums][kAtOnce], m[D];
        for (int j = 0; j < D; ++j)
            m[j] = every(centre[j]);
#pragma GCC unroll 16
        for (int s = 0; s < kSums; ++s)
#pragma GCC unroll 2
            for (int q = 0; q < kAtOnce; ++q)
                sums[s][q] = load<VD>(at + 8 * s + q * kLanes);
        const double* e = leaf.responsibilities + 8 * c + p * kLanes;
        const double* share = leaf.share + p * kLanes;
        const double* x = leaf.columns + p * kLanes;
        const int groups = leaf.groups, e_stride = 8 * leaf.k, x_stride = 8 * leaf.padded;
        for (int g = 0; g < groups; ++g, e += e_stride, share += 8, x += x_stride) {
#pragma GCC unroll 2
            for (int q = 0; q < kAtOnce; ++q) {
                const VD r = load<VD>(e + q * kLanes) * load<VD>(share + q * kLanes);
                sums[0][q] += r;
                VD z[D];
#pragma GCC unroll 4
                for (int j = 0; j < D; ++j)
                    z[j] = Near ? load<VD>(x + 8 * j + q * kLanes)
                                : load<VD>(x + 8 * j + q * kLanes) - m[j];
                int t = 1 + D;
#pragma GCC unroll 4
                for (int i = 0; i < D; ++i) {
                    const VD rz = r * z[i];
                    sums[1 + i][q] += rz;
#pragma GCC unroll 4
                    for (int j = i; j < D; ++j, ++t)
                        sums[t][q] = fma(rz, z[j], sums[t][q]);
                }
            }
        }
#pragma GCC unroll 16
        for (int s = 0; s < kSums; ++s)
#pragma GCC unroll 2
            for (int q = 0; q < kAtOnce; ++q)
                store(at + 8 * s + q * kLanes, sums[s][q]);
    }

    // Sums about the origin become sums about m. Returns false if that loses digits.
    static bool move(const double* m, double* sums) {
        const double mass = sums[0];
        double *first = sums + 1, *second = first + D, about_origin[D];
        bool kept = true;
        for (int j = 0; j < D; ++j) {
            about_origin[j] = first[j];
            first[j] -= mass * m[j];
        }
        for (int i = 0; i < D; ++i)
            for (int j = i; j < D; ++j, ++second) {
                const double moved = *second - m[i] * about_origin[j] - m[j] * first[i];
                kept &= i != j || keeps_digits(*second, moved);
                *second = moved;
            }
        return kept;
    }

    struct Memory {
        Leaf leaf;
        double* lanes; // (k, kSums, 8)
        double* model; // (k, kModel)

        Memory(const MixtureTask& task, Scratch& scratch) : leaf(task, scratch) {
            lanes = scratch.take<double>(static_cast<size_t>(task.shape.k) * 8 * kSums);
            model = scratch.take<double>(static_cast<size_t>(task.shape.k) * kModel);
        }
    };
    static size_t scratch_of(const MixtureTask& task) {
        Scratch count;
        Memory(task, count);
        return count.used;
    }

    // Near: means are near the origin, so that they need not be subtracted. Returns false if that
    // lost digits.
    template <bool Near>
    static bool chunk(const MixtureTask& task, int64_t begin, int64_t end, void* scratch,
                      double* out, const Pause& pause) {
        Scratch pieces(scratch);
        Memory memory(task, pieces);
        Leaf& leaf = memory.leaf;
        const int k = leaf.k;
        double *const lanes = memory.lanes, *const model = memory.model;
        std::memset(lanes, 0, sizeof(double) * k * 8 * kSums);
        if (task.computed())
            pack<Near>(task, model);
        const auto expect = [&] {
            leaf.read(task);
            leaf.expect(task, [&]<int Groups>(int g, VD* lowest) {
                densities<Near, Groups>(leaf.group(g), 8 * leaf.padded, model, k, leaf.logs(g),
                                        lowest);
            });
        };
        const auto given = [&] {
            leaf.read(task);
            leaf.take_given(task);
        };
        const auto maximise = [&] {
            for (int c = 0; c < k; ++c)
                for (int p = 0; p < kParts; p += kAtOnce)
                    add<Near>(leaf, c, task.model.centres + c * D, p, lanes + c * 8 * kSums);
        };
        for_leaves(task, leaf, begin, end, pause, expect, given, maximise);
        if (!task.m_step.sums)
            return true;
        out[0] = leaf.likelihood.value();
        bool kept = true;
        for (int c = 0; c < k; ++c) {
            double sums[kSums];
            for (int s = 0; s < kSums; ++s)
                sums[s] = across(lanes + 8 * (c * kSums + s));
            if constexpr (Near)
                kept &= move(task.model.centres + c * D, sums);
            out[1 + c] = sums[0];
            std::copy(sums + 1, sums + 1 + D, out + 1 + k + c * D);
            std::copy(sums + 1 + D, sums + kSums, out + 1 + k + k * D + c * kTriangle);
        }
        return kept;
    }

    static void sweep(const MixtureTask& task, int64_t begin, int64_t end, void* scratch,
                      double* out, const Pause& pause) {
        sum_moments(
            task, [&]<bool Near>() { return chunk<Near>(task, begin, end, scratch, out, pause); });
    }
};

} // namespace

size_t few_columns_scratch(const MixtureTask& task) {
    switch (task.shape.d) {
    case 1: return Few<1>::scratch_of(task);
    case 2: return Few<2>::scratch_of(task);
    case 3: return Few<3>::scratch_of(task);
    default: return Few<4>::scratch_of(task);
    }
}

void sweep_few_columns(const MixtureTask& task, int64_t begin, int64_t end, void* scratch,
                       double* out, const Pause& pause) {
    switch (task.shape.d) {
    case 1: return Few<1>::sweep(task, begin, end, scratch, out, pause);
    case 2: return Few<2>::sweep(task, begin, end, scratch, out, pause);
    case 3: return Few<3>::sweep(task, begin, end, scratch, out, pause);
    default: return Few<4>::sweep(task, begin, end, scratch, out, pause);
    }
}

} // namespace coterie::COTERIE_LEVEL::mixture

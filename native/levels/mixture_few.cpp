// mixture_few.cpp: full covariances of up to four columns. Vectors hold rows; all loops over
// columns are unrolled.
#include "mixture_leaf.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

template <int D> struct Few {
    static constexpr int kTriangle = D * (D + 1) / 2;
    static constexpr int kSums = 1 + D + kTriangle;  // mass, first and second moments
    static constexpr int kModel = D + kTriangle + 1; // mean, factor by column, offset

    // out: (k, kModel)
    static void pack(const MixtureTask& task, double* out) {
        for (int c = 0; c < task.shape.k; ++c) {
            for (int j = 0; j < D; ++j)
                *out++ = task.means[c * D + j];
            for (int j = 0; j < D; ++j)
                for (int i = 0; i <= j; ++i)
                    *out++ = task.factors[(c * D + i) * D + j] * std::sqrt(kHalf);
            *out++ = task.offsets[c];
        }
    }

    // Log densities of Groups times eight rows, `apart` from each other, and the lowest. All
    // vectors take a step before the next one: what they share of the model is read once.
    template <int Groups>
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
                    z[j][v] = every(model[j]) - x[j][v];
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
                        y[v] = i == 0 ? z[0][v] * every(*u) : fma(z[i][v], every(*u), y[v]);
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

    // Adds a leaf to the sums of one component: part p of every group, to part p of the lanes.
    static COTERIE_INLINE void add(const Leaf& leaf, int c, const double* centre, int p,
                                   double* lanes) {
        double* at = lanes + p * kLanes;
        VD mass = load<VD>(at), first[D], second[kTriangle], m[D];
        for (int j = 0; j < D; ++j) {
            m[j] = every(centre[j]);
            first[j] = load<VD>(at + 8 * (1 + j));
        }
        for (int t = 0; t < kTriangle; ++t)
            second[t] = load<VD>(at + 8 * (1 + D + t));
        const double* e = leaf.degrees + 8 * c + p * kLanes;
        const double* share = leaf.share + p * kLanes;
        const double* x = leaf.columns + p * kLanes;
        const int groups = leaf.groups, e_stride = 8 * leaf.k, x_stride = 8 * leaf.padded;
        for (int g = 0; g < groups; ++g, e += e_stride, share += 8, x += x_stride) {
            const VD r = load<VD>(e) * load<VD>(share);
            mass += r;
            VD z[D];
#pragma GCC unroll 4
            for (int j = 0; j < D; ++j)
                z[j] = load<VD>(x + 8 * j) - m[j];
            int t = 0;
#pragma GCC unroll 4
            for (int i = 0; i < D; ++i) {
                const VD rz = r * z[i];
                first[i] += rz;
#pragma GCC unroll 4
                for (int j = i; j < D; ++j, ++t)
                    second[t] = fma(rz, z[j], second[t]);
            }
        }
        store(at, mass);
        for (int j = 0; j < D; ++j)
            store(at + 8 * (1 + j), first[j]);
        for (int t = 0; t < kTriangle; ++t)
            store(at + 8 * (1 + D + t), second[t]);
    }

    static size_t doubles(const MixtureTask& task) {
        return Leaf::doubles(task) + static_cast<size_t>(task.shape.k) * (8 * kSums + kModel);
    }

    static void chunk(const MixtureTask& task, int64_t begin, int64_t end, double* scratch,
                      double* out, const Pause& pause) {
        Leaf leaf(task, scratch);
        const int k = leaf.k;
        double *lanes = leaf.rest, *model = lanes + static_cast<size_t>(k) * 8 * kSums;
        std::memset(lanes, 0, sizeof(double) * k * 8 * kSums);
        if (task.computed())
            pack(task, model);
        for (int64_t at = begin; at < end; at += kLeafRows) {
            pause();
            leaf.read(task, at, std::min<int64_t>(end, at + kLeafRows));
            if (task.computed()) {
                leaf.expect(task, [&]<int Groups>(int g, VD* lowest) {
                    densities<Groups>(leaf.group(g), 8 * leaf.padded, model, k, leaf.logs(g),
                                      lowest);
                });
                if (task.labels) {
                    leaf.choose_labels(task.labels + at);
                    continue;
                }
                leaf.finish(task);
            } else {
                leaf.take_given(task);
            }
            if (!task.sums)
                continue;
            for (int c = 0; c < k; ++c)
                for (int p = 0; p < kParts; ++p)
                    add(leaf, c, task.centres + c * D, p, lanes + c * 8 * kSums);
        }
        if (!task.sums)
            return;
        out[0] = leaf.likelihood.value();
        for (int c = 0; c < k; ++c) {
            const double* from = lanes + c * 8 * kSums;
            out[1 + c] = across(from);
            for (int j = 0; j < D; ++j)
                out[1 + k + c * D + j] = across(from + 8 * (1 + j));
            for (int t = 0; t < kTriangle; ++t)
                out[1 + k + k * D + c * kTriangle + t] = across(from + 8 * (1 + D + t));
        }
    }
};

} // namespace

size_t mixture_few_doubles(const MixtureTask& task) {
    switch (task.shape.d) {
    case 1: return Few<1>::doubles(task);
    case 2: return Few<2>::doubles(task);
    case 3: return Few<3>::doubles(task);
    default: return Few<4>::doubles(task);
    }
}

void mixture_few(const MixtureTask& task, int64_t begin, int64_t end, double* scratch, double* out,
                 const Pause& pause) {
    switch (task.shape.d) {
    case 1: return Few<1>::chunk(task, begin, end, scratch, out, pause);
    case 2: return Few<2>::chunk(task, begin, end, scratch, out, pause);
    case 3: return Few<3>::chunk(task, begin, end, scratch, out, pause);
    default: return Few<4>::chunk(task, begin, end, scratch, out, pause);
    }
}

} // namespace coterie::COTERIE_LEVEL

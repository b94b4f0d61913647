// mixture_leaf.hpp: what all mixture kernels share: reading a leaf of rows, and its degrees of
// belonging.
//
// Rows are kept eight by eight: in a group, column after column of eight rows. Logs of densities
// become degrees in place: (groups, k, 8).
#pragma once

#include "coterie/mixture.hpp"
#include "wide.hpp"

namespace coterie::COTERIE_LEVEL {

constexpr int kGroups = kLeaf / 8;

// Scratch of one thread, laid out by `Leaf::bytes`.
struct Leaf {
    int k, d, padded; // padded: d rounded up to 4
    int n = 0;        // rows in this leaf
    int groups = 0;
    int64_t first = 0; // in the block
    double* columns;   // (groups, padded, 8)
    double* degrees;   // (groups, k, 8)
    double* top;       // (256,) largest log density of each row
    double* total;     // (256,) sum of exponentials below it
    double* share;     // (256,) weight / total; zero beyond the last row
    double* rest;      // what a kernel needs besides

    static size_t doubles(const MixtureTask& task) {
        const size_t padded = (task.shape.d + 3) / 4 * 4;
        return kLeaf * (padded + task.shape.k + 3);
    }
    Leaf(const MixtureTask& task, double* scratch)
        : k(task.shape.k), d(task.shape.d), padded((d + 3) / 4 * 4) {
        columns = scratch;
        degrees = columns + kLeaf * padded;
        top = degrees + static_cast<size_t>(kLeaf) * k;
        total = top + kLeaf;
        share = total + kLeaf;
        rest = share + kLeaf;
    }
    double* group(int g) const { return columns + g * 8 * padded; }
    double* logs(int g) const { return degrees + static_cast<size_t>(g) * 8 * k; }

    // Reads rows [begin, end); rows beyond the last are zeros.
    void read(const MixtureTask& task, int64_t begin, int64_t end) {
        first = begin;
        n = static_cast<int>(end - begin);
        groups = (n + 7) / 8;
        if (task.rows->kind == Kind::float32)
            read_from(static_cast<const float*>(task.rows->values) + begin * d, task);
        else
            read_from(static_cast<const double*>(task.rows->values) + begin * d, task);
    }

    template <class T> void read_from(const T* x, const MixtureTask& task) {
        if (d == 2)
            return read_few<2>(x, task);
        if (d == 3)
            return read_few<3>(x, task);
        for (int g = 0; g < groups; ++g)
            for (int j = 0; j < d; j += 4)
                read_square(x, task, g, j);
    }

    // Four columns of eight rows.
    template <class T> void read_square(const T* x, const MixtureTask& task, int g, int j) {
        const int wide = d - j < 4 ? d - j : 4;
        double edge[4] = {}, unit[4] = {};
        for (int l = 0; l < wide; ++l)
            edge[l] = task.origin[j + l], unit[l] = task.scale[j + l];
        const D4 origin = load<D4>(edge), scale = load<D4>(unit);
        for (int half = 0; half < 2; ++half) {
            D4 row[4];
            for (int q = 0; q < 4; ++q) {
                const int r = 8 * g + 4 * half + q;
                row[q] = D4{};
                if (r < n) {
                    const T* p = x + static_cast<int64_t>(r) * d + j;
                    D4 value;
                    if (wide == 4)
                        value = D4{double(p[0]), double(p[1]), double(p[2]), double(p[3])};
                    else
                        value = D4{double(p[0]), wide > 1 ? double(p[1]) : 0.0,
                                   wide > 2 ? double(p[2]) : 0.0, 0.0};
                    row[q] = (value - origin) * scale;
                }
            }
            const D4 a = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
            const D4 b = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
            const D4 c = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
            const D4 e = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
            double* out = group(g) + j * 8 + 4 * half;
            store(out, __builtin_shufflevector(a, c, 0, 1, 4, 5));
            store(out + 8, __builtin_shufflevector(b, e, 0, 1, 4, 5));
            store(out + 16, __builtin_shufflevector(a, c, 2, 3, 6, 7));
            store(out + 24, __builtin_shufflevector(b, e, 2, 3, 6, 7));
        }
    }

    // Two or three columns: four rows lie in as many vectors as there are columns.
    template <int D, class T> void read_few(const T* x, const MixtureTask& task) {
        D4 origin[D], scale[D];
        for (int l = 0; l < D; ++l)
            origin[l] = every4(task.origin[l]), scale[l] = every4(task.scale[l]);
        T last[8 * D] = {};
        for (int g = 0; g < groups; ++g) {
            const T* p = x + g * 8 * D;
            if (8 * g + 8 > n) {
                std::memcpy(last, p, sizeof(T) * (n - 8 * g) * D);
                p = last;
            }
            double* out = group(g);
            for (int half = 0; half < 2; ++half, p += 4 * D) {
                D4 flat[D], column[D];
                for (int v = 0; v < D; ++v)
                    flat[v] = D4{double(p[4 * v]), double(p[4 * v + 1]), double(p[4 * v + 2]),
                                 double(p[4 * v + 3])};
                if constexpr (D == 2) {
                    column[0] = __builtin_shufflevector(flat[0], flat[1], 0, 2, 4, 6);
                    column[1] = __builtin_shufflevector(flat[0], flat[1], 1, 3, 5, 7);
                } else {
                    column[0] = __builtin_shufflevector(
                        __builtin_shufflevector(flat[0], flat[1], 0, 3, 6, 0), flat[2], 0, 1, 2, 5);
                    column[1] = __builtin_shufflevector(
                        __builtin_shufflevector(flat[0], flat[1], 1, 4, 7, 1), flat[2], 0, 1, 2, 6);
                    column[2] = __builtin_shufflevector(
                        __builtin_shufflevector(flat[0], flat[1], 2, 5, 2, 2), flat[2], 0, 1, 4, 7);
                }
                for (int l = 0; l < D; ++l)
                    store(out + 8 * l + 4 * half, (column[l] - origin[l]) * scale[l]);
            }
        }
    }

    // Log densities of a group become exponentials below the largest.
    COTERIE_INLINE void exponentiate(int g, const VD* largest) {
        double* e = logs(g);
        VD sum[kParts] = {};
        for (int c = 0; c < k; ++c, e += 8)
            for (int p = 0; p < kParts; ++p) {
                const VD value = exp_of(load<VD>(e + p * kLanes) - largest[p]);
                sum[p] += value;
                store(e + p * kLanes, value);
            }
        for (int p = 0; p < kParts; ++p) {
            store(top + 8 * g + p * kLanes, largest[p]);
            store(total + 8 * g + p * kLanes, sum[p]);
        }
    }
    COTERIE_INLINE void exponentiate(int g) {
        const double* e = logs(g);
        VD largest[kParts];
        for (int p = 0; p < kParts; ++p)
            largest[p] = load<VD>(e + p * kLanes);
        for (int c = 1; c < k; ++c)
            for (int p = 0; p < kParts; ++p)
                largest[p] = max(largest[p], load<VD>(e + 8 * c + p * kLanes));
        exponentiate(g, largest);
    }

    void choose_labels(int32_t* out) const;
    double finish(const MixtureTask& task);
    void take_given(const MixtureTask& task);
};

} // namespace coterie::COTERIE_LEVEL

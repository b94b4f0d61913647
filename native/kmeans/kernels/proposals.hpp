// proposals.hpp: proposals |c|^2 - 2 x.c of a few rows against a few panels, all sums in registers.
#pragma once

#include "kmeans/kernels.hpp"
#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

#if defined(__AVX512F__)
constexpr int kTileRows = 8, kTilePanels = 3; // 24 sums in 32 registers
#else
constexpr int kTileRows = 6, kTilePanels = 2; // 12 sums in 16 registers
#endif
constexpr int kColumnRows = 12; // rows against a single panel

// out[r * stride + panel * W ...] = |c|^2 - 2 x_r . c for R rows and P panels.
template <int R, int P>
COTERIE_INLINE void tile(const float* const* x, int d, const float* panels, size_t panel_size,
                         const float* squares, float* out, size_t stride) {
    VF sum[R][P];
    for (int p = 0; p < P; ++p) {
        const VF square = load<VF>(squares + p * W);
        for (int r = 0; r < R; ++r)
            sum[r][p] = square;
    }
    for (int l = 0; l < d; ++l) {
        VF mean[P];
        for (int p = 0; p < P; ++p)
            mean[p] = load<VF>(panels + p * panel_size + static_cast<size_t>(l) * W);
        for (int r = 0; r < R; ++r) {
            const VF value = all(x[r][l]);
            for (int p = 0; p < P; ++p)
                sum[r][p] = fma(value, mean[p], sum[r][p]);
        }
    }
    for (int r = 0; r < R; ++r)
        for (int p = 0; p < P; ++p)
            store(out + r * stride + p * W, sum[r][p]);
}

// All panels in [first, last) for kTileRows rows.
COTERIE_INLINE void tiles(const float* const* x, const Model& model, int first, int last,
                          float* out, size_t stride) {
    const size_t size = static_cast<size_t>(model.d) * W;
    int p = first;
    for (; p + kTilePanels <= last; p += kTilePanels)
        tile<kTileRows, kTilePanels>(x, model.d, model.packed.panels + p * size, size,
                                     model.packed.squares + p * W, out + (p - first) * W, stride);
    for (; p < last; ++p)
        tile<kTileRows, 1>(x, model.d, model.packed.panels + p * size, size,
                           model.packed.squares + p * W, out + (p - first) * W, stride);
}

// out[r * stride + p] = |c|^2 - 2 x_r . c for R rows and P means, columns in lanes: for so many
// columns that adding up the lanes of a sum takes little. length: a multiple of W.
template <int R, int P>
COTERIE_INLINE void dots(const float* const* x, int length, const float* flat, size_t mean_size,
                         const float* squares, float* out, size_t stride) {
    VF sum[R][P] = {};
    for (int l = 0; l < length; l += W) {
        VF mean[P];
        for (int p = 0; p < P; ++p)
            mean[p] = load<VF>(flat + p * mean_size + l);
        for (int r = 0; r < R; ++r) {
            const VF value = load<VF>(x[r] + l);
            for (int p = 0; p < P; ++p)
                sum[r][p] = fma(value, mean[p], sum[r][p]);
        }
    }
    for (int r = 0; r < R; ++r)
        for (int p = 0; p < P; ++p)
            out[r * stride + p] = squares[p] + total(sum[r][p]);
}

// Rows asked for from memory, a few lines at a time, while others are met.
struct Ahead {
    const char* rows[kTileRows];
    int64_t size = 0, count = 0, at = 0; // bytes of a row, rows, the next byte of the first of them
    COTERIE_INLINE void fetch(int64_t lines) {
        for (; lines > 0 && count > 0; --lines) {
            __builtin_prefetch(rows[count - 1] + at, 0, 2);
            at += 64;
            if (at >= size) {
                at = 0;
                --count;
            }
        }
    }
};

// All means for kTileRows rows.
COTERIE_INLINE void all_dots(const float* const* x, int length, const Model& model, Ahead& ahead,
                             float* out) {
    const size_t size = model.packed.d_padded;
    const int64_t lines = ahead.count * (ahead.size / 64 + 1) / ((model.k + 1) / 2) + 1;
    int p = 0;
    for (; p + 2 <= model.k; p += 2) {
        ahead.fetch(lines);
        dots<kTileRows, 2>(x, length, model.packed.flat + p * size, size, model.packed.squares + p,
                           out + p, model.packed.kp);
    }
    if (p < model.k)
        dots<kTileRows, 1>(x, length, model.packed.flat + p * size, size, model.packed.squares + p,
                           out + p, model.packed.kp);
    for (p = model.k; p < model.packed.kp; ++p)
        for (int r = 0; r < kTileRows; ++r)
            out[r * static_cast<size_t>(model.packed.kp) + p] = model.packed.squares[p];
}

COTERIE_INLINE float dot(const float* a, const float* b, int padded) {
    VF s = {}, t = {};
    int l = 0;
    for (; l + 2 * W <= padded; l += 2 * W) {
        s = fma(load<VF>(a + l), load<VF>(b + l), s);
        t = fma(load<VF>(a + l + W), load<VF>(b + l + W), t);
    }
    for (; l < padded; l += W)
        s = fma(load<VF>(a + l), load<VF>(b + l), s);
    return total(s + t);
}

template <class T>
COTERIE_INLINE void scale_row(const T* x, const Scaling& scaling, int d, int padded, float* out) {
    if (scaling.plain)
        for (int l = 0; l < d; ++l)
            out[l] = static_cast<float>(x[l]);
    else
        for (int l = 0; l < d; ++l)
            out[l] = static_cast<float>((x[l] - scaling.centre[l]) * scaling.unit);
    for (int l = d; l < padded; ++l)
        out[l] = 0.f;
}

} // namespace coterie::COTERIE_LEVEL::kmeans

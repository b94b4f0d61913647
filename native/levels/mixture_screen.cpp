// mixture_screen.cpp: bounds of log densities in float32, and the densities that they leave over.
#include "mixture_screen.hpp"

#include "mixture_tiles.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kGroup = 2 * W; // rows of a float32 tile
constexpr float kHuge = 1e38f;

// sums += squares of Wide whitened columns, for 2 W rows. u: (start + Wide, Wide) of the factor.
template <int Wide>
COTERIE_INLINE void tile32(const float* z, const float* u, int start, const float* shift,
                           float* sums) {
    VF y[Wide][2];
#pragma GCC unroll 6
    for (int j = 0; j < Wide; ++j)
        y[j][0] = y[j][1] = all(-shift[j]);
    const int end = start + Wide; // zeros below the diagonal
    for (int i = 0; i < end; ++i, z += kGroup, u += Wide) {
        const VF x0 = load<VF>(z), x1 = load<VF>(z + W);
#pragma GCC unroll 6
        for (int j = 0; j < Wide; ++j) {
            const VF factor = all(u[j]);
            y[j][0] = fma(factor, x0, y[j][0]);
            y[j][1] = fma(factor, x1, y[j][1]);
        }
    }
    for (int p = 0; p < 2; ++p) {
        VF sum = load<VF>(sums + p * W);
#pragma GCC unroll 6
        for (int j = 0; j < Wide; ++j)
            sum = fma(y[j][p], y[j][p], sum);
        store(sums + p * W, sum);
    }
}

template <int Wide>
void tiles32(const float* z, int d, int groups, const float* u, int start, const float* shift,
             float* sums) {
    for (int g = 0; g < groups; ++g)
        tile32<Wide>(z + static_cast<size_t>(g) * d * kGroup, u, start, shift, sums + g * kGroup);
}

} // namespace

Screen::Screen(const Leaf& leaf, double* memory) {
    const size_t size = static_cast<size_t>(kLeafRows) * leaf.padded;
    picked = memory;
    moved = picked + size;
    tops = moved + size;
    found = tops + kLeafRows;
    rows = reinterpret_cast<float*>(found + kLeafRows);
    squares = rows + size;
    uppers = squares + kLeafRows;
    best = reinterpret_cast<int32_t*>(uppers + static_cast<size_t>(leaf.k) * kLeafRows);
    list = best + kLeafRows;
}

// uppers of component c: offset - |y|^2 + what rounding may hide. For any t in (0, 1) and an error
// e of y, |y|^2 >= (1 - t) |y + e|^2 - (1 / t - 1) |e|^2; here t = 2^-9, and |e|^2 is bounded in
// the mixture's `screen_base` and, by the row's length, `screen_slope`.
void Screen::bound(const MixtureTask& task, const Leaf& leaf, int c) const {
    const int d = leaf.d, groups = (leaf.n + kGroup - 1) / kGroup;
    float* sums = uppers + static_cast<size_t>(c) * kLeafRows;
    std::memset(sums, 0, sizeof(float) * groups * kGroup);
    const float* u = task.screen_factors + static_cast<size_t>(c) * packed_factor(d);
    const float* shift = task.screen_shifts + static_cast<size_t>(c) * d;
    for (int j = 0; j < d; j += kTile) {
        const int wide = d - j < kTile ? d - j : kTile;
        constexpr decltype(&tiles32<1>) kTiles[] = {nullptr,    tiles32<1>, tiles32<2>, tiles32<3>,
                                                    tiles32<4>, tiles32<5>, tiles32<6>};
        kTiles[wide](rows, d, groups, u, j, shift + j, sums);
        u += static_cast<size_t>(j + wide) * wide;
    }
    const VF base = all(task.screen_base[c]), slope = all(task.screen_slope[c]);
    for (int r = 0; r < groups * kGroup; r += W) {
        const VF sum = load<VF>(sums + r);
        const VF within = sum < all(kHuge) ? sum : all(kHuge); // also what is no number
        store(sums + r, fma(slope, load<VF>(squares + r), base) - within * all(1.0f - 0x1p-9f));
    }
}

// Log densities of the listed rows under component c.
void Screen::compute(const MixtureTask& task, const Leaf& leaf, int c, int count) const {
    const int groups = (count + 7) / 8, stride = 8 * leaf.padded;
    for (int g = 0; g < groups; ++g) {
        const double* from[8];
        for (int q = 0; q < 8; ++q) // the last row again beyond the end
            from[q] =
                leaf.rows + static_cast<size_t>(list[std::min(8 * g + q, count - 1)]) * leaf.padded;
        for (int i = 0; i < leaf.padded; i += 4)
            for (int half = 0; half < 2; ++half)
                store_turned(load<D4>(from[4 * half] + i), load<D4>(from[4 * half + 1] + i),
                             load<D4>(from[4 * half + 2] + i), load<D4>(from[4 * half + 3] + i),
                             picked + g * stride + 8 * i + 4 * half);
    }
    coterie::COTERIE_LEVEL::log_densities(task, c, picked, stride, groups, moved, found, 8);
    for (int t = 0; t < count; ++t)
        leaf.logs(list[t] / 8)[8 * c + list[t] % 8] = found[t];
}

int64_t Screen::log_densities(const MixtureTask& task, const Leaf& leaf, const Pause& pause) const {
    const int k = leaf.k, d = leaf.d, n = leaf.n;
    typedef float F8 __attribute__((vector_size(32)));
    for (int g = 0; g < leaf.groups; ++g) {
        F8 square = {};
        for (int i = 0; i < d; ++i) {
            const double* z = leaf.group(g) + 8 * i;
            F8 narrow;
            for (int q = 0; q < 8; ++q)
                narrow[q] = static_cast<float>(z[q]);
            store(rows + (static_cast<size_t>(8 * g / kGroup) * d + i) * kGroup + 8 * g % kGroup,
                  narrow);
            square += narrow * narrow;
        }
        store(squares + 8 * g, square);
    }
    for (int c = 0; c < k; ++c) {
        pause();
        bound(task, leaf, c);
    }
    for (int r = 0; r < leaf.groups * 8; r += W) {
        VF highest = load<VF>(uppers + r);
        VI chosen = {};
        for (int c = 1; c < k; ++c) {
            const VF upper = load<VF>(uppers + static_cast<size_t>(c) * kLeafRows + r);
            chosen = upper > highest ? all(c) : chosen;
            highest = max(upper, highest);
        }
        store(best + r, chosen);
    }
    for (int c = 0; c < k; ++c) {
        int count = 0;
        for (int r = 0; r < n; ++r) {
            list[count] = r;
            count += best[r] == c;
        }
        pause();
        if (count)
            compute(task, leaf, c, count);
        for (int t = 0; t < count; ++t)
            tops[list[t]] = leaf.logs(list[t] / 8)[8 * c + list[t] % 8];
    }
    for (int r = n; r < 8 * leaf.groups; ++r)
        for (int c = 0; c < k; ++c)
            leaf.logs(r / 8)[8 * c + r % 8] = 0.0;
    int64_t computed = n;
    for (int c = 0; c < k; ++c) {
        const float* upper = uppers + static_cast<size_t>(c) * kLeafRows;
        const double limit = task.limits[c] - 1; // one more for the rounding of the bound itself
        int count = 0;
        for (int r = 0; r < n; ++r) {
            const bool other = best[r] != c;
            double& log = leaf.logs(r / 8)[8 * c + r % 8];
            log = other ? -INFINITY : log;
            list[count] = r;
            count += other & !(static_cast<double>(upper[r]) <= tops[r] + limit);
        }
        pause();
        if (count)
            compute(task, leaf, c, count);
        computed += count;
    }
    return computed;
}

} // namespace coterie::COTERIE_LEVEL

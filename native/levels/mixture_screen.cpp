// mixture_screen.cpp: bounds of log densities in float32, as far as they are needed, and the
// densities that they leave over.
#include "mixture_screen.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kGroup = 2 * W; // rows of a float32 tile
constexpr float kHuge = 1e37f;

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

// The same for the groups that are left, and which of them have a row whose sum is not enough yet.
template <int Wide>
int tiles32(const float* z, int d, int32_t* left, int groups, const float* u, int start,
            const float* shift, const float* enough, float* sums) {
    int still = 0;
    for (int t = 0; t < groups; ++t) {
        const int g = left[t];
        tile32<Wide>(z + static_cast<size_t>(g) * d * kGroup, u, start, shift, sums + g * kGroup);
        uint32_t done[2];
        for (int p = 0; p < 2; ++p)
            done[p] =
                bits(load<VF>(sums + g * kGroup + p * W) >= load<VF>(enough + g * kGroup + p * W));
        left[still] = g;
        still += (done[0] & done[1]) != (W == 32 ? ~0u : (1u << W) - 1);
    }
    return still;
}

} // namespace

Screen::Screen(const Leaf& leaf, double* batch, double* memory) {
    const size_t size = static_cast<size_t>(kLeafRows) * leaf.padded;
    moved = batch;
    picked = memory;
    found = picked + static_cast<size_t>(kBatch) * leaf.padded;
    tops = found + kBatch;
    rows = reinterpret_cast<float*>(tops + kLeafRows);
    squares = rows + size;
    sums = squares + kLeafRows;
    enough = sums + kLeafRows;
    best = reinterpret_cast<int32_t*>(enough + kLeafRows);
    list = best + kLeafRows;
    left = list + kLeafRows;
    starts = left + leaf.k;
    far = reinterpret_cast<uint8_t*>(starts + leaf.k + 1);
}

// The leaf in float32.
void Screen::narrow(const Leaf& leaf) const {
    const int d = leaf.d;
    typedef float F8 __attribute__((vector_size(32)));
    for (int g = 0; g < leaf.groups; ++g) {
        F8 square = {};
        const double* from = leaf.rows + static_cast<size_t>(8 * g) * leaf.padded;
        for (int j = 0; j < d; j += 4) {
            double turned[32];
            for (int half = 0; half < 2; ++half) {
                const double* four = from + 4 * half * leaf.padded + j;
                store_turned(load<D4>(four), load<D4>(four + leaf.padded),
                             load<D4>(four + 2 * leaf.padded), load<D4>(four + 3 * leaf.padded),
                             turned + 4 * half);
            }
            for (int i = j; i < std::min(d, j + 4); ++i) {
                F8 narrow;
                for (int q = 0; q < 8; ++q)
                    narrow[q] = static_cast<float>(turned[8 * (i - j) + q]);
                store(rows + (static_cast<size_t>(8 * g / kGroup) * d + i) * kGroup +
                          8 * g % kGroup,
                      narrow);
                square += narrow * narrow;
            }
        }
        store(squares + 8 * g, square);
    }
}

// best: the component with the nearest mean, by the largest of m'z - |m|^2 / 2. A guess: a wrong
// one costs time only.
void Screen::guess(const MixtureTask& task, const Leaf& leaf) const {
    const int d = leaf.d, k = leaf.k;
    for (int g = 0; g < (leaf.n + kGroup - 1) / kGroup; ++g) {
        const float* group = rows + static_cast<size_t>(g) * d * kGroup;
        VF highest[2];
        VI chosen[2] = {};
        for (int p = 0; p < 2; ++p)
            highest[p] = all(-INFINITY);
        for (int c = 0; c < k; c += 4) {
            const float* mean[4];
            VF near[4][2];
            for (int t = 0; t < 4; ++t) {
                const int own = c + t < k ? c + t : c;
                mean[t] = task.screen_means + static_cast<size_t>(own) * d;
                near[t][0] = near[t][1] = all(-task.screen_halves[own]);
            }
            const float* z = group;
            for (int i = 0; i < d; ++i, z += kGroup)
#pragma GCC unroll 4
                for (int t = 0; t < 4; ++t)
                    for (int p = 0; p < 2; ++p)
                        near[t][p] = fma(all(mean[t][i]), load<VF>(z + p * W), near[t][p]);
            for (int t = 0; t < 4 && c + t < k; ++t)
                for (int p = 0; p < 2; ++p) {
                    chosen[p] = near[t][p] > highest[p] ? all(c + t) : chosen[p];
                    highest[p] = max(near[t][p], highest[p]);
                }
        }
        for (int p = 0; p < 2; ++p)
            store(best + g * kGroup + p * W, chosen[p]);
    }
}

// list: the rows whose density under component c may matter, of those that have another guess.
//
// A log density is at most offset - |y|^2 + what rounding may hide, and |y|^2 is at least the
// squares of its leading columns. For any t in (0, 1) and an error e of y, |y|^2 >= (1 - t) |y +
// e|^2 - (1 / t - 1) |e|^2; here t = 2^-9, and |e|^2 is bounded in the mixture's `screen_base` and,
// by the row's length, `screen_slope`. So a row is done as soon as its sum is `enough`; what is no
// number never is.
int Screen::survivors(const MixtureTask& task, const Leaf& leaf, int c) const {
    const int d = leaf.d, n = leaf.n, groups = (n + kGroup - 1) / kGroup;
    const float base = task.screen_base[c], slope = task.screen_slope[c];
    const double limit = task.limits[c] - 1; // one more for the rounding of the bound itself
    const uint8_t* skip = far + static_cast<size_t>(c) * kLeafRows;
    std::fill(enough, enough + groups * kGroup, -INFINITY);
    int still = 0;
    for (int g = 0; g < groups; ++g) {
        bool any = false;
        for (int r = g * kGroup; r < std::min(n, (g + 1) * kGroup); ++r) {
            if (skip[r])
                continue;
            any = true;
            const float room = slope * squares[r] + base;
            const float needed = static_cast<float>((room - (tops[r] + limit)) * 1.002);
            enough[r] = needed < kHuge ? needed : NAN;
        }
        list[still] = g;
        still += any;
    }
    std::memset(sums, 0, sizeof(float) * groups * kGroup);
    const float* u = task.screen_factors + static_cast<size_t>(c) * packed_factor(d);
    const float* shift = task.screen_shifts + static_cast<size_t>(c) * d;
    for (int j = 0; j < d && still; j += kTile) {
        const int wide = d - j < kTile ? d - j : kTile;
        constexpr decltype(&tiles32<1>) kTiles[] = {nullptr,    tiles32<1>, tiles32<2>, tiles32<3>,
                                                    tiles32<4>, tiles32<5>, tiles32<6>};
        still = kTiles[wide](rows, d, list, still, u, j, shift + j, enough, sums);
        u += static_cast<size_t>(j + wide) * wide;
    }
    if (!still)
        return 0;
    int count = 0;
    for (int r = 0; r < n; ++r) {
        list[count] = r;
        count += !(sums[r] >= enough[r]);
    }
    return count;
}

// Log densities of at most kBatch rows under component c; the rows stay in `picked`.
void Screen::compute(const MixtureTask& task, const Leaf& leaf, int c, const int32_t* places,
                     int count) const {
    const int groups = (count + 7) / 8, stride = 8 * leaf.padded;
    for (int g = 0; g < groups; ++g) {
        const double* from[8];
        for (int q = 0; q < 8; ++q) // the last row again beyond the end
            from[q] = leaf.rows +
                      static_cast<size_t>(places[std::min(8 * g + q, count - 1)]) * leaf.padded;
        for (int i = 0; i < leaf.padded; i += 4)
            for (int half = 0; half < 2; ++half)
                store_turned(load<D4>(from[4 * half] + i), load<D4>(from[4 * half + 1] + i),
                             load<D4>(from[4 * half + 2] + i), load<D4>(from[4 * half + 3] + i),
                             picked + g * stride + 8 * i + 4 * half);
    }
    coterie::COTERIE_LEVEL::log_densities(task, c, picked, stride, groups, moved, found, 8);
    for (int t = 0; t < count; ++t)
        leaf.logs(places[t] / 8)[8 * c + places[t] % 8] = found[t];
}

// far: of the rows in `picked`, whose own densities are `found`. |y|^2 is at least the square of y
// along any direction; that towards the own mean is one number for a row, and most of |y|^2 if the
// means are far apart.
void Screen::project(const MixtureTask& task, const Leaf& leaf, int own, const int32_t* places,
                     int count) const {
    const int d = leaf.d, k = leaf.k, groups = (count + 7) / 8;
    for (int t = 0; t < 8 * groups;
         ++t) // where the rows less a mean were, which are not needed now
        moved[t] = std::sqrt(squares[places[std::min(t, count - 1)]]);
    const double* lengths = moved;
    const double* direction = task.directions + static_cast<size_t>(own) * directions_of(k, d);
    for (int j0 = 0; j0 < k; j0 += kTile, direction += kTile * (d + 1))
        for (int g = 0; g < groups; ++g) {
            const double *z = picked + g * 8 * leaf.padded, *a = direction;
            VD y[kTile][kParts];
#pragma GCC unroll 6
            for (int j = 0; j < kTile; ++j)
                for (int p = 0; p < kParts; ++p)
                    y[j][p] = every(-a[j]);
            a += kTile;
            for (int i = 0; i < d; ++i, z += 8, a += kTile) {
                VD x[kParts];
                for (int p = 0; p < kParts; ++p)
                    x[p] = load<VD>(z + p * kLanes);
#pragma GCC unroll 6
                for (int j = 0; j < kTile; ++j)
                    for (int p = 0; p < kParts; ++p)
                        y[j][p] = fma(every(a[j]), x[p], y[j][p]);
            }
            const int rows_here = std::min(8, count - 8 * g);
            for (int j = 0; j < std::min(kTile, k - j0); ++j) {
                const int c = j0 + j;
                if (c == own)
                    continue;
                const VD above = every(task.offsets[c] - (task.limits[c] - 1));
                const VD slope = every(task.direction_slope[c]),
                         base = every(task.direction_base[c]);
                uint32_t near = 0;
                for (int p = 0; p < kParts; ++p) {
                    const VD sure = max(y[j][p], -y[j][p]) -
                                    fma(slope, load<VD>(lengths + 8 * g + p * kLanes), base);
                    const VL away =
                        (VL)(sure > VD{}) &
                        (VL)(sure * sure >= above - load<VD>(found + 8 * g + p * kLanes));
                    near |= (bits(away) ^ ((1u << kLanes) - 1)) << p * kLanes;
                }
                near &= (1u << rows_here) - 1;
                left[c] += __builtin_popcount(near);
                for (; near; near &= near - 1)
                    far[static_cast<size_t>(c) * kLeafRows + places[8 * g + __builtin_ctz(near)]] =
                        0;
            }
        }
}

int64_t Screen::log_densities(const MixtureTask& task, const Leaf& leaf, const Pause& pause) const {
    const int k = leaf.k, n = leaf.n;
    narrow(leaf);
    guess(task, leaf);
    std::fill(leaf.degrees, leaf.degrees + static_cast<size_t>(8) * leaf.groups * k, -INFINITY);
    for (int r = n; r < 8 * leaf.groups; ++r)
        for (int c = 0; c < k; ++c)
            leaf.logs(r / 8)[8 * c + r % 8] = 0.0;
    // Rows by their nearest mean, one component after the other.
    std::fill(left, left + k, 0);
    for (int r = 0; r < n; ++r)
        ++left[best[r]];
    for (int c = 0, begin = 0; c < k; ++c) {
        const int count = left[c];
        left[c] = begin;
        begin += count;
    }
    for (int r = 0; r < n; ++r)
        list[left[best[r]]++] = r;
    for (int c = 0, begin = 0; c < k; ++c) { // `left` is where they end
        starts[c] = begin;
        begin = left[c];
    }
    starts[k] = n;
    std::fill(left, left + k, 0);
    std::memset(far, 1, static_cast<size_t>(k) * kLeafRows);
    for (int c = 0; c < k; ++c) {
        const int count = starts[c + 1] - starts[c];
        const int32_t* places = list + starts[c];
        pause();
        if (!count)
            continue;
        for (int t0 = 0; t0 < count; t0 += kBatch) {
            const int32_t* some = places + t0;
            const int few = std::min(kBatch, count - t0);
            compute(task, leaf, c, some, few);
            for (int t = 0; t < few; ++t)
                tops[some[t]] = found[t];
            if (task.directions)
                project(task, leaf, c, some, few);
        }
        if (task.directions)
            continue;
        for (int other = 0; other < k; ++other)
            if (other != c) {
                left[other] += count;
                for (int t = 0; t < count; ++t)
                    far[static_cast<size_t>(other) * kLeafRows + places[t]] = 0;
            }
    }
    int64_t computed = n;
    for (int c = 0; c < k; ++c) {
        pause();
        if (!left[c])
            continue;
        const int count = survivors(task, leaf, c);
        for (int t0 = 0; t0 < count; t0 += kBatch)
            compute(task, leaf, c, list + t0, std::min(kBatch, count - t0));
        computed += count;
    }
    return computed;
}

} // namespace coterie::COTERIE_LEVEL

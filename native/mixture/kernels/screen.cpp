// screen.cpp: bounds of log densities in float32, as far as they are needed, and the
// densities that they leave over.
//
// A log density is at most offset - |y|^2 + the error that rounding may hide. With v of length one,
// and the columns of y in two parts, the first p and the rest,
//     |y|^2 >= |y_first|^2 + (v_rest'y_rest)^2 / |v_rest|^2.
// There v_rest'y_rest = v'y - v_first'y_first, and v'y is a single product of the row, see
// screen_directions.cpp. If v points towards the mean that is nearest to the row, that is most of
// |y|^2 where means are far apart; columns of y are then found one tile after the other only until
// the bound is enough, often none at all.
//
// For any t in (0, 1) and an error e of y_first, |y|^2 >= (1 - t) |y + e|^2 - (1 / t - 1) |e|^2;
// here t = 2^-9, and |e|^2 is bounded in the mixture's `screen_base` and, by the row's length,
// `screen_slope`. The rounding error of v'y - v_first'y_first is subtracted from its size. So a
// row is done as soon as its bound is `needed`; a bound that is no number never is.
#include "mixture/kernels/screen.hpp"

namespace coterie::COTERIE_LEVEL::mixture {
namespace {

constexpr float kHuge = 1e37f;
constexpr int kFour = 4;            // rows that meet a matrix together
constexpr int kVectors = kSide / W; // in a stretch of its columns
constexpr int kAhead = 24;          // columns that are transposed at a time
constexpr uint32_t kAll = (1u << W) - 1;

// Four rows times kSide columns of a matrix (1 + d, stride), less its first row.
COTERIE_INLINE void products(const float* const* z, int d, const float* matrix, int stride,
                             VF (*dots)[kVectors]) {
    VF sum[kFour][kVectors];
#pragma GCC unroll 4
    for (int q = 0; q < kFour; ++q)
        for (int p = 0; p < kVectors; ++p)
            sum[q][p] = -load<VF>(matrix + p * W);
    for (int i = 0; i < d; ++i) {
        matrix += stride;
#pragma GCC unroll 4
        for (int q = 0; q < kFour; ++q)
            for (int p = 0; p < kVectors; ++p)
                sum[q][p] = fma(all(z[q][i]), load<VF>(matrix + p * W), sum[q][p]);
    }
    for (int q = 0; q < kFour; ++q)
        for (int p = 0; p < kVectors; ++p)
            dots[q][p] = sum[q][p];
}

// Sums over the first columns of kGroup rows.
struct Bound {
    VF squares[2], along[2], rest[2]; // |y_first|^2, v_first'y_first, |v_rest|^2
};

// Wide more columns. u: (start + Wide, Wide) of the factor; v: from these columns on.
template <int Wide>
void tile32(const float* z, const float* u, int start, const float* shift, const float* v,
            Bound& bound) {
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
    for (int p = 0; p < 2; ++p)
#pragma GCC unroll 6
        for (int j = 0; j < Wide; ++j) {
            const VF unit = load<VF>(v + j * kGroup + p * W);
            bound.squares[p] = fma(y[j][p], y[j][p], bound.squares[p]);
            bound.along[p] = fma(unit, y[j][p], bound.along[p]);
            bound.rest[p] = fma(-unit, unit, bound.rest[p]);
        }
}

// Columns [begin, end) of kGroup rows, side by side.
void transpose_rows(const float* const* from, int begin, int end, float* out) {
    for (int i = begin; i < end; i += 4)
        for (int q = 0; q < kGroup; q += 4) {
            const auto column = transposed(load<F4>(from[q] + i), load<F4>(from[q + 1] + i),
                                           load<F4>(from[q + 2] + i), load<F4>(from[q + 3] + i));
            for (int l = 0; l < 4; ++l)
                store(out + (i + l) * kGroup + q, column.at[l]);
        }
}

// visit(four), with four(r, j): columns [j, j + 4) of row r of the leaf, which was read, or stays
// where it is.
template <class Visit>
COTERIE_INLINE void with_columns(const MixtureTask& task, const Leaf& leaf, const Visit& visit) {
    const auto in_place = [&](const auto* x) {
        visit([x, d = leaf.d, origin = task.rows.origin, scale = task.rows.scale](int r, int j)
                  __attribute__((always_inline)) {
                      return (load4(x + static_cast<int64_t>(r) * d + j) - load<D4>(origin + j)) *
                             load<D4>(scale + j);
                  });
    };
    if (leaf.rows)
        visit([rows = leaf.rows, padded = leaf.padded](int r, int j) __attribute__((
                  always_inline)) { return load<D4>(rows + static_cast<size_t>(r) * padded + j); });
    else if (task.rows.block->kind == Kind::float32)
        in_place(static_cast<const float*>(task.rows.block->values) + leaf.first * leaf.d);
    else
        in_place(static_cast<const double*>(task.rows.block->values) + leaf.first * leaf.d);
}

// order: places by their lack, so that those that need about as many columns come together.
void sort_by_lack(const float* lack, int count, float most, uint8_t* order) {
    constexpr int kBuckets = 64;
    const float scale = most > 0 ? (kBuckets - 1) / most : 0.f;
    int begins[kBuckets + 1] = {};
    uint8_t bucket[kLeafRows];
    for (int i = 0; i < count; ++i) {
        const float place = lack[i] * scale;
        bucket[i] = place < kBuckets ? static_cast<uint8_t>(std::max(place, 0.f)) : kBuckets - 1;
        ++begins[bucket[i] + 1];
    }
    for (int b = 0; b < kBuckets; ++b)
        begins[b + 1] += begins[b];
    for (int i = 0; i < count; ++i)
        order[begins[bucket[i]]++] = static_cast<uint8_t>(i);
}

} // namespace

Screen::Screen(const Leaf& leaf, double* moved_, Scratch& scratch) : moved(moved_) {
    const size_t padded = leaf.padded, k = leaf.k;
    pairs.values = leaf.responsibilities;
    pairs.marks = scratch.take<uint64_t>(Pairs::kWords * k);
    picked = scratch.take<double>(kBatch * padded);
    found = scratch.take<double>(kBatch);
    rows = scratch.take<float>(kLeafRows * padded);
    squares = scratch.take<float>(kLeafRows);
    lengths = scratch.take<float>(kLeafRows);
    tops = scratch.take<float>(kLeafRows);
    transposed = scratch.take<float>(kGroup * padded);
    towards = scratch.take<float>(kGroup * padded);
    nothing = scratch.take<float>(padded);
    along = scratch.take<float>(k * kLeafRows);
    best = scratch.take<int32_t>(kLeafRows);
    list = scratch.take<int32_t>(kLeafRows);
    starts = scratch.take<int32_t>(k + 1);
    counts = scratch.take<int32_t>(k);
    waiting = scratch.take<uint8_t>(k * kLeafRows);
    pairs.starts = starts;
    pairs.places = waiting;
    if (scratch)
        std::memset(nothing, 0, sizeof(float) * padded);
}

// The leaf in float32.
void Screen::narrow(const MixtureTask& task, const Leaf& leaf) const {
    with_columns(task, leaf, [&](const auto& four) {
        for (int r = 0; r < leaf.n; ++r) {
            float* to = rows + static_cast<size_t>(r) * leaf.padded;
            F4 sum = {};
            for (int j = 0; j < leaf.padded; j += 4) {
                const F4 value = __builtin_convertvector(four(r, j), F4);
                store(to + j, value);
                sum += value * value;
            }
            squares[r] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            lengths[r] = std::sqrt(squares[r]);
        }
    });
}

// best: the component with the nearest mean, by the largest of m'z - |m|^2 / 2. A guess: a wrong
// one costs time only.
void Screen::guess(const MixtureTask& task, const Leaf& leaf) const {
    const int wide = side_by_side(leaf.k);
    for (int r = 0; r < leaf.n; r += kFour) {
        leaf.ask_ahead(task, r, r + kFour);
        const float* z[kFour];
        VF highest[kFour];
        VI chosen[kFour] = {};
        for (int q = 0; q < kFour; ++q) {
            z[q] = rows + static_cast<size_t>(std::min(r + q, leaf.n - 1)) * leaf.padded;
            highest[q] = all(-INFINITY);
        }
        for (int c = 0; c < wide; c += kSide) {
            VF near[kFour][kVectors];
            products(z, leaf.d, task.screen.means + c, wide, near);
            for (int q = 0; q < kFour; ++q)
                for (int p = 0; p < kVectors; ++p) {
                    chosen[q] = near[q][p] > highest[q] ? all(c + p * W) : chosen[q];
                    highest[q] = max(near[q][p], highest[q]);
                }
        }
        for (int q = 0; q < std::min(kFour, leaf.n - r); ++q) {
            const float top = -smallest(-highest[q]);
            const int lane = __builtin_ctz(at_least(highest[q], all(top)) | 1u << (W - 1));
            best[r + q] = std::min(chosen[q][lane] + lane, leaf.k - 1); // if none is a number
        }
    }
}

// list: rows by their nearest mean, one component after the other.
void Screen::sort_by_best(const Leaf& leaf) const {
    std::fill(starts, starts + leaf.k + 1, 0);
    for (int r = 0; r < leaf.n; ++r)
        ++starts[best[r] + 1];
    for (int c = 0; c < leaf.k; ++c) {
        starts[c + 1] += starts[c];
        counts[c] = starts[c];
    }
    for (int r = 0; r < leaf.n; ++r)
        list[counts[best[r]]++] = r;
}

// Log densities of at most kBatch rows under component c.
void Screen::compute(const MixtureTask& task, const Leaf& leaf, int c, const int32_t* places,
                     int count) const {
    const int groups = (count + 7) / 8, stride = 8 * leaf.padded;
    with_columns(task, leaf, [&](const auto& four) {
        for (int g = 0; g < 2 * groups; ++g) { // four rows each
            int from[4];
            for (int q = 0; q < 4; ++q) // the last row again beyond the end
                from[q] = places[std::min(4 * g + q, count - 1)];
            double* to = picked + g / 2 * stride + g % 2 * 4;
            for (int i = 0; i < leaf.padded; i += 4)
                store_transposed(four(from[0], i), four(from[1], i), four(from[2], i),
                                 four(from[3], i), to + 8 * i);
        }
    });
    coterie::COTERIE_LEVEL::mixture::log_densities(task, c, picked, stride, groups, moved, found,
                                                   8);
    for (int t = 0; t < count; ++t)
        pairs.put(c, places[t], found[t]);
}

// Rows whose nearest mean is that of `own` wait for every other component under which v'y alone
// does not bound them.
void Screen::project(const MixtureTask& task, const Leaf& leaf, int own) const {
    static_assert(kFour * kSide == 64);
    const int k = leaf.k, d = leaf.d, wide = side_by_side(k), end = starts[own + 1];
    const float* matrix =
        task.screen.directions ? task.screen.directions + own * product_size(k, d) : nullptr;
    for (int at = starts[own]; at < end; at += kFour) {
        const float* z[kFour];
        VF square[kFour], length[kFour], top[kFour];
        for (int q = 0; q < kFour; ++q) {
            const int r = list[std::min(at + q, end - 1)];
            z[q] = rows + static_cast<size_t>(r) * leaf.padded;
            square[q] = all(squares[r]), length[q] = all(lengths[r]), top[q] = all(tops[r]);
        }
        for (int c0 = 0; c0 < wide; c0 += kSide) {
            VF dots[kFour][kVectors] = {};
            if (matrix)
                products(z, d, matrix + c0, wide, dots);
            uint64_t far = 0; // a bit for each row and component
            for (int p = 0; p < kVectors; ++p) {
                const int c = c0 + p * W;
                const VF slope = load<VF>(task.screen.slope + c),
                         base = load<VF>(task.screen.base + c),
                         slip_slope = load<VF>(task.screen.direction_slope + c),
                         slip_base = load<VF>(task.screen.direction_base + c);
#pragma GCC unroll 4
                for (int q = 0; q < kFour; ++q) {
                    const VF needed = (fma(slope, square[q], base) - top[q]) * task.screen.factor;
                    const VF slip = fma(slip_slope, length[q], slip_base);
                    const VF sure = max(abs(dots[q][p]) - slip, VF{});
                    const uint64_t sides =
                        at_least(sure * sure, needed) & below(needed, all(kHuge));
                    far |= sides << (q * kSide + p * W);
                }
            }
            const uint64_t others = (k - c0 < kSide ? (1u << (k - c0)) - 1 : (1u << kSide) - 1) &
                                    ~(own / kSide * kSide == c0 ? 1u << own % kSide : 0u);
            uint64_t near = ~far & others * 0x0001000100010001u;
            if (end - at < kFour)
                near &= (uint64_t{1} << (end - at) * kSide) - 1;
            if (!near)
                continue;
            float dot[kFour * kSide];
            for (int q = 0; q < kFour; ++q)
                for (int p = 0; p < kVectors; ++p)
                    store(dot + q * kSide + p * W, dots[q][p]);
            for (; near; near &= near - 1) {
                const int bit = __builtin_ctzll(near), c = c0 + bit % kSide;
                const size_t place = static_cast<size_t>(c) * kLeafRows + counts[c]++;
                waiting[place] = static_cast<uint8_t>(list[at + bit / kSide]);
                along[place] = dot[bit];
            }
        }
    }
}

// list: the rows that wait and whose density under component c may matter.
int Screen::survivors(const MixtureTask& task, const Leaf& leaf, int c) const {
    const int d = leaf.d, count = counts[c];
    const uint8_t* places = waiting + static_cast<size_t>(c) * kLeafRows;
    const float* dots = along + static_cast<size_t>(c) * kLeafRows;
    float needed[kLeafRows], slips[kLeafRows], lack[kLeafRows], most = 0.f;
    for (int i = 0; i < count; ++i) {
        const int r = places[i];
        const float bound = (task.screen.slope[c] * squares[r] + task.screen.base[c] - tops[r]) *
                            task.screen.factor;
        needed[i] = bound < kHuge ? bound : NAN;
        slips[i] = task.screen.direction_slope[c] * lengths[r] + task.screen.direction_base[c];
        const float sure = std::max(std::fabs(dots[i]) - slips[i], 0.f);
        lack[i] = needed[i] - sure * sure;
        most = std::max(most, lack[i] < kHuge ? lack[i] : 0.f);
    }
    uint8_t order[kLeafRows];
    sort_by_lack(lack, count, most, order);
    const float* factor = task.screen.factors + static_cast<size_t>(c) * packed_factor(d);
    const float* shift = task.screen.shifts + static_cast<size_t>(c) * d;
    const float* units = task.screen.units
                             ? task.screen.units + static_cast<size_t>(c) * leaf.k * leaf.padded
                             : nullptr;
    int left = 0;
    for (int g = 0; g < count; g += kGroup) {
        const float *z[kGroup], *v[kGroup];
        float dot[kGroup], slip[kGroup], enough[kGroup];
        for (int q = 0; q < kGroup; ++q) {
            const int i = order[std::min(g + q, count - 1)], r = places[i];
            z[q] = rows + static_cast<size_t>(r) * leaf.padded;
            v[q] = units ? units + static_cast<size_t>(best[r]) * leaf.padded : nothing;
            dot[q] = dots[i], slip[q] = slips[i], enough[q] = needed[i];
        }
        Bound bound = {};
        bound.rest[0] = bound.rest[1] = all(1.0002f); // no less than it is
        const float* u = factor;
        uint32_t done[2] = {};
        for (int j = 0, there = 0; j < d && (done[0] & done[1]) != kAll;) {
            const int wide = d - j < kTile ? d - j : kTile;
            if (j + wide > there) {
                const int more = std::min(leaf.padded, there + kAhead);
                transpose_rows(z, there, more, transposed);
                transpose_rows(v, there, more, towards);
                there = more;
            }
            constexpr decltype(&tile32<1>) kTiles[] = {nullptr,   tile32<1>, tile32<2>, tile32<3>,
                                                       tile32<4>, tile32<5>, tile32<6>};
            kTiles[wide](transposed, u, j, shift + j, towards + j * kGroup, bound);
            u += static_cast<size_t>(j + wide) * wide;
            j += wide;
            for (int p = 0; p < 2; ++p) {
                const VF sure =
                    max(abs(load<VF>(dot + p * W) - bound.along[p]) - load<VF>(slip + p * W), VF{});
                const VF lacking = load<VF>(enough + p * W) - bound.squares[p];
                done[p] = at_least(sure * sure, lacking * max(bound.rest[p], all(0.25f)));
            }
        }
        for (int q = 0; q < std::min(kGroup, count - g); ++q)
            if (!(done[q / W] >> q % W & 1))
                list[left++] = places[order[g + q]];
    }
    return left;
}

int64_t Screen::log_densities(const MixtureTask& task, const Leaf& leaf, const Pause& pause) const {
    const int k = leaf.k;
    narrow(task, leaf);
    guess(task, leaf);
    sort_by_best(leaf);
    pairs.clear(k);
    std::fill(counts, counts + k, 0);
    for (int c = 0; c < k; ++c) {
        pause();
        for (int at = starts[c]; at < starts[c + 1]; at += kBatch) {
            const int few = std::min(kBatch, starts[c + 1] - at);
            compute(task, leaf, c, list + at, few);
            for (int t = 0; t < few; ++t) // no more than it is
                tops[list[at + t]] = static_cast<float>(found[t] - 0x1p-21 * std::fabs(found[t]));
        }
        project(task, leaf, c);
    }
    for (int c = 0; c < k; ++c) {
        pause();
        const int count = survivors(task, leaf, c);
        for (int t = 0; t < count; t += kBatch)
            compute(task, leaf, c, list + t, std::min(kBatch, count - t));
    }
    pairs.join(k);
    return starts[k];
}

} // namespace coterie::COTERIE_LEVEL::mixture

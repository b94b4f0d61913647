// transposed_rows.hpp: a block of rows transposed so that a vector holds one column of W of them,
// and their two nearest means. Means are broadcast, four at a time, and compared in registers: no
// proposal is written down, and no row is folded by itself.
#pragma once

#include "kmeans/kernels/batch.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

constexpr int kVectors = 2, kBlock = kVectors * W; // rows of a block

// W vectors become their W columns: lanes whose numbers differ in bit S change places.
template <int S, size_t... Q>
COTERIE_INLINE void exchange(VF& a, VF& b, std::index_sequence<Q...>) {
    const VF upper = __builtin_shufflevector(a, b, (Q & S ? int(Q ^ S) + W : int(Q))...);
    b = __builtin_shufflevector(a, b, (Q & S ? int(Q) + W : int(Q ^ S))...);
    a = upper;
}
template <int S = 1> COTERIE_INLINE void turn(VF* v) {
    for (int q = 0; q < W; ++q)
        if (!(q & S))
            exchange<S>(v[q], v[q + S], std::make_index_sequence<W>{});
    if constexpr (2 * S < W)
        turn<2 * S>(v);
}

struct TransposedRows {
    const Batch& batch;
    const Rows& rows;
    const Model& model;
    const SumLayout& layout;
    RowState state;
    Worker& worker;
    float* scaled; // (kBlock, d_padded) copies of rows that cannot be used as they are
    VF* x;         // (d, kVectors) columns
    float* lowest; // (groups, 2, kBlock) two smallest proposals of each group, if bounds are kept

    TransposedRows(const Batch& batch_, Scratch& scratch)
        : batch(batch_), rows(batch.rows), model(batch.model), layout(batch.layout),
          state(batch.state), worker(batch.worker) {
        const bool used = can_turn(rows, model);
        scaled =
            scratch.take<float>(used ? static_cast<size_t>(kBlock) * model.packed.d_padded : 0);
        x = reinterpret_cast<VF*>(scratch.take<float>(used ? kBlock * model.packed.d_padded : 0));
        lowest =
            scratch.take<float>(used ? static_cast<size_t>(model.yinyang.groups) * 2 * kBlock : 0);
    }

    static bool can_turn(const Rows& rows, const Model& model) {
        return !rows.sparse() && model.d <= kTransposedColumns;
    }

    // The rows index[0 .. count), at most kBlock, meet every mean. copies: (kBlock,) where their
    // scaled copies lie, or null.
    void meet(const int64_t* index, int count, const float* const* copies) {
        const float* from[kBlock];
        for (int r = 0; r < kBlock; ++r)
            from[r] = copies
                          ? copies[r < count ? r : 0]
                          : batch.scaled(index[r < count ? r : 0],
                                         scaled + static_cast<size_t>(r) * model.packed.d_padded);
        VF norm[kVectors] = {};
        for (int v = 0; v < kVectors; ++v) {
            for (int l = 0; l < model.d; l += W) { // beyond d copies are zero
                VF square[W];
                for (int q = 0; q < W; ++q)
                    square[q] = load<VF>(from[v * W + q] + l);
                turn(square);
                for (int q = 0; q < W; ++q) {
                    x[(l + q) * kVectors + v] = square[q];
                    norm[v] = fma(square[q], square[q], norm[v]);
                }
            }
        }
        Nearest nearest[kVectors];
        VI group[kVectors] = {};
        if (state.bounds)
            meet_groups(nearest, group);
        else
            meet_panels(0, model.packed.kp, nearest);
        for (int v = 0; v < kVectors && v * W < count; ++v)
            conclude(index + v * W, count - v * W < W ? count - v * W : W, norm[v], nearest[v],
                     group[v], lowest + v * W);
    }

    // Positions [begin, end), whole panels.
    COTERIE_INLINE void meet_panels(int begin, int end, Nearest* nearest) const {
        const int d = model.d;
        const VF* columns = x;
        Nearest found[kVectors];
        for (int j = begin; j < end; j += 4) {
            const float* mean = model.packed.panels + static_cast<size_t>(j / W) * W * d + j % W;
            VF sum[4][kVectors];
            for (int q = 0; q < 4; ++q)
                for (int v = 0; v < kVectors; ++v)
                    sum[q][v] = all(model.packed.squares[j + q]);
            for (int l = 0; l < d; ++l, mean += W)
                for (int q = 0; q < 4; ++q) {
                    const VF m = all(mean[q]);
                    for (int v = 0; v < kVectors; ++v)
                        sum[q][v] = fma(columns[l * kVectors + v], m, sum[q][v]);
                }
            for (int q = 0; q < 4; ++q)
                for (int v = 0; v < kVectors; ++v)
                    found[v].meet(sum[q][v], model.packed.order[j + q]);
        }
        for (int v = 0; v < kVectors; ++v)
            nearest[v] = found[v];
    }

    // The same for all positions; group: where the nearest lies.
    void meet_groups(Nearest* nearest, VI* group) const {
        const int size = model.yinyang.panels_per_group * W;
        for (int g = 0; g < model.yinyang.groups; ++g) {
            Nearest found[kVectors];
            const int end = (g + 1) * size;
            meet_panels(g * size, end < model.packed.kp ? end : model.packed.kp, found);
            for (int v = 0; v < kVectors; ++v) {
                store(lowest + (2 * g) * kBlock + v * W, found[v].first);
                store(lowest + (2 * g + 1) * kBlock + v * W, found[v].second);
                group[v] = nearest[v].join(found[v]) ? all(g) : group[v];
            }
        }
    }

    // W rows, of which `count` matter: labels, slack limits and bounds.
    COTERIE_INLINE void conclude(const int64_t* index, int count, VF norm, const Nearest& nearest,
                                 VI group, const float* by_group) {
        const VF length = sqrt(norm) * kUp + model.packed.reach;
        const Comparison comparison{norm, length * length * model.packed.error + 1e-36f};
        const Outcome out =
            comparison.decide(nearest, (1ull << count) - 1, rows, model, worker, index);
        // The nearest of a settled row may not be its own: it counts among the others.
        for (uint32_t settled = out.settled; settled; settled &= settled - 1)
            group[__builtin_ctz(settled)] = -1;
        if (state.bounds)
            keep_bounds(index, count, norm - comparison.error, out, group, by_group);
        if (state.slack_limit) {
            const VF slack_limit =
                slack_limit_after(lookup(model.hamerly.used_slack, out.label), out.slack);
            for (int q = 0; q < count; ++q)
                state.slack_limit[index[q]] = slack_limit[q];
        }
        for (int q = 0; q < count; ++q)
            relabel(rows, layout, state, worker, index[q], out.label[q]);
    }

    // Bounds are on the other means: the second smallest of the own group, the smallest elsewhere.
    void keep_bounds(const int64_t* index, int count, VF norm_below, const Outcome& out, VI group,
                     const float* by_group) {
        for (int g = 0; g < model.yinyang.groups; ++g, by_group += 2 * kBlock) {
            const VF low = group == all(g) ? load<VF>(by_group + kBlock) : load<VF>(by_group);
            const VF bound =
                (sqrt(max(low + norm_below, VF{})) * kDown + model.yinyang.drift_of_group[g]) *
                (1 - kBoundRounding);
            for (int q = 0; q < count; ++q)
                state.bounds[index[q] * model.yinyang.record + g] = bound[q];
        }
        for (int q = 0; q < count; ++q) {
            float* record = state.bounds + index[q] * model.yinyang.record;
            for (int g = model.yinyang.groups; g < model.yinyang.record - 1; ++g)
                record[g] = 0.f; // never looked at: its drift is -1e30
            batch.set_reach(record, out.label[q], out.reach[q]);
        }
    }
};

} // namespace coterie::COTERIE_LEVEL::kmeans

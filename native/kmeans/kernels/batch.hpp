// batch.hpp: rows that are looked at together, and the conclusions about them.
//
// Each row has a scaled float32 copy, its squared norm, and the error of its proposals. Rows that
// meet every mean do so a few at a time against a few panels; the bounds that follow are
// written down for the steps to come.
#pragma once

#include "core/scratch.hpp"
#include "kmeans/kernels/add_row.hpp"
#include "kmeans/kernels/proposals.hpp"
#include "kmeans/kernels/two_nearest.hpp"
#include "simd/eight_floats.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

constexpr float kBoundRounding = 1.2e-7f, kLimitRounding = 1.0000003f;
constexpr int kBatch = 240;              // rows, a multiple of kTileRows
constexpr int kBufferFloats = 48 * 1024; // their float32 copy stays in the second-level cache
constexpr int kProposalRows = 16;        // at least the rows of a tile, and W
// Up to so many, blocks of rows are transposed, see transposed_rows.hpp.
constexpr int kTransposedColumns = 128;

struct Batch {
    const Rows& rows;
    const Model& model;
    const SumLayout& layout;
    RowState state;
    Worker& worker;
    Scratch scratch;

    int size = 0, n_full = 0;
    bool as_they_are;                  // rows need no copies
    int length;                        // of rows and means, zeros included: a multiple of W
    float* values;                     // (capacity, d_padded) copies
    const float** at;                  // (kBatch,) where the scaled values of a row lie
    float* proposals;                  // (kProposalRows, kp)
    float* lowest;                     // (record,) of one row: smallest proposal by group
    int64_t* row;                      // (kBatch,)
    float *norm, *error, *own, *above; // (kBatch,) own proposal, and the distance it allows
    int32_t* full;                     // (kBatch,) those of the batch that meet every mean

    Batch(const Rows& rows_, const Model& model_, const SumLayout& layout_, RowState state_,
          Worker& worker_)
        : rows(rows_), model(model_), layout(layout_), state(state_), worker(worker_),
          scratch(worker.scratch) {
        as_they_are = rows.kind == Kind::float32 && model.scaling.plain && model.d % W == 0;
        length = as_they_are ? model.d : model.packed.d_padded;
        at = scratch.take<const float*>(kBatch);
        values = scratch.take<float>(static_cast<size_t>(capacity(model)) * model.packed.d_padded);
        proposals = scratch.take<float>(static_cast<size_t>(kProposalRows) * model.packed.kp + 16);
        lowest = scratch.take<float>(model.yinyang.record + 2 * W);
        row = scratch.take<int64_t>(kBatch);
        norm = scratch.take<float>(kBatch);
        error = scratch.take<float>(kBatch);
        own = scratch.take<float>(kBatch);
        above = scratch.take<float>(kBatch);
        full = scratch.take<int32_t>(kBatch);
    }

    static int capacity(const Model& model) {
        const int fit = kBufferFloats / model.packed.d_padded / kTileRows * kTileRows;
        return fit < kTileRows ? kTileRows : fit > kBatch ? kBatch : fit;
    }
    const float* value(int z) const { return at[z]; }
    float* record(int z) const { return state.bounds + row[z] * model.yinyang.record; }

    // Row i becomes the last of the batch.
    int add(int64_t i) {
        at[size] = scaled(i, values + static_cast<size_t>(size) * model.packed.d_padded);
        row[size] = i;
        set_norm(size, dot(at[size], at[size], length), model.packed.error);
        return size++;
    }
    // Row i as scaled float32 values: where it lies, or copied.
    const float* scaled(int64_t i, float* copy) const {
        if (rows.kind == Kind::float64) {
            scale_row(static_cast<const double*>(rows.values) + i * rows.d, model.scaling, rows.d,
                      model.packed.d_padded, copy);
            return copy;
        }
        const float* x = static_cast<const float*>(rows.values) + i * rows.d;
        if (as_they_are)
            return x;
        scale_row(x, model.scaling, rows.d, model.packed.d_padded, copy);
        return copy;
    }
    void set_norm(int z, float square, float rounding) {
        norm[z] = square;
        const float length = std::sqrt(square) * kUp + model.packed.reach;
        error[z] = length * length * rounding + 1e-36f;
    }
    // |c|^2 - 2 x.c of the mean at a position.
    float proposal(int z, int position) const {
        return model.packed.squares[position] +
               dot(value(z),
                   model.packed.flat + static_cast<size_t>(position) * model.packed.d_padded,
                   length);
    }
    float distance_above(int z, float proposal) const {
        const float square = proposal + norm[z];
        return std::sqrt((square > 0.f ? square : 0.f) + error[z]) * kUp;
    }
    float distance_below(int z, float proposal) const {
        const float square = proposal + norm[z] - error[z];
        return square > 0.f ? std::sqrt(square) * kDown : 0.f;
    }
    F8 distances_below(int z, F8 proposal) const {
        return sqrt(max(proposal + (norm[z] - error[z]), F8{})) * kDown;
    }

    // Row i of this label is at most `reach` from its mean, and at least reach + slack from others.
    void set_slack_limit(int64_t i, int label, float slack) const {
        slack = slack < model.hamerly.cap ? slack : model.hamerly.cap;
        const float used_slack = model.hamerly.used_slack[label];
        state.slack_limit[i] =
            used_slack + slack - kSlackRounding * (used_slack + std::fabs(slack));
    }
    void set_reach(float* record, int label, float reach) const {
        const float drift = model.yinyang.drift[label];
        record[model.yinyang.record - 1] = reach - drift + kBoundRounding * (reach + drift);
    }

    // Row z has met every mean: v holds all proposals.
    void conclude(int z, float* v) {
        Nearest nearest; // of W means each, by panel
        for (int p = 0; p < model.packed.kp / W; ++p)
            nearest.meet(load<VF>(v + p * W), p);
        const float best = smallest(nearest.first);
        const uint32_t lanes = bits(nearest.first == best);
        const int lane = __builtin_ctz(lanes);
        VF rest = nearest.first;
        rest[lane] = nearest.second[lane];
        const float second = (lanes & (lanes - 1)) ? best : smallest(rest);

        const int64_t i = row[z];
        int label = model.packed.order[nearest.label[lane] * W + lane];
        float reach, slack;
        if (second - best <= 2 * error[z]) {
            label = settle(rows, model, worker, i);
            reach = distance_above(z, best + 2 * error[z]);
            slack = -1.f - 2.f * reach;
        } else {
            reach = distance_above(z, best);
            slack = distance_below(z, second) - reach;
        }
        if (!model.brute)
            set_slack_limit(i, label, slack);
        if (state.bounds) {
            v[model.packed.position[label]] = __builtin_inff(); // bounds are on the other means
            keep_bounds(z, model.yinyang.panels_per_group ? lowest_of_groups(v) : v);
            set_reach(record(z), label, reach);
        }
        relabel(rows, layout, state, worker, i, label);
    }

    // v: all proposals of a row.
    const float* lowest_of_groups(const float* v) {
        const int panels = model.packed.kp / W, per = model.yinyang.panels_per_group;
        for (int g = 0, p = 0; g < model.yinyang.groups; g += W) {
            VF low[W];
            for (int q = 0; q < W; ++q) {
                low[q] = all(1e30f);
                for (const int last = p + per < panels ? p + per : panels; p < last; ++p)
                    low[q] = min(low[q], load<VF>(v + p * W));
            }
            store(lowest + g, smallest_of_each(low));
        }
        return lowest;
    }

    // proposals: the smallest of each group. Lanes beyond the groups never matter.
    void keep_bounds(int z, const float* proposals) {
        float* bounds = record(z);
        for (int g = 0; g < model.yinyang.record; g += 8)
            store(bounds + g, (distances_below(z, load<F8>(proposals + g)) +
                               load<F8>(model.yinyang.drift_of_group + g)) *
                                  (1 - kBoundRounding));
    }

    // The rows in `full` meet every mean. ahead: rows of the next batch.
    void meet_all(Ahead ahead = {}) {
        const float* x[kTileRows];
        for (int m = 0; m < n_full; m += kTileRows) {
            const int count = n_full - m < kTileRows ? n_full - m : kTileRows;
            for (int r = 0; r < kTileRows; ++r)
                x[r] = value(full[m + (r < count ? r : count - 1)]);
            if (model.d > kTransposedColumns)
                all_dots(x, length, model, ahead, proposals);
            else
                tiles(x, model, 0, model.packed.kp / W, proposals, model.packed.kp);
            for (int r = 0; r < count; ++r)
                conclude(full[m + r], proposals + static_cast<size_t>(r) * model.packed.kp);
        }
        n_full = 0;
    }
};

} // namespace coterie::COTERIE_LEVEL::kmeans

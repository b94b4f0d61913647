// batch.hpp: rows that are looked at together, and what is concluded about them.
//
// Each row has a framed float32 copy, its squared norm, and the error of its proposals. Rows that
// meet every mean do so a few at a time against a few panels; what follows for the bounds is
// written down for the steps to come.
#pragma once

#include "kmeans/kernels/add_row.hpp"
#include "kmeans/kernels/proposals.hpp"
#include "kmeans/kernels/two_nearest.hpp"
#include "simd/eight_floats.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

constexpr float kBoundRounding = 1.2e-7f, kLimitRounding = 1.0000003f;
constexpr int kBatch = 240;              // rows, a multiple of kTileRows
constexpr int kBufferFloats = 48 * 1024; // their float32 copy stays in the second-level cache
constexpr int kProposalRows = 16;        // at least the rows of a tile, and W
constexpr int kTurnedColumns =
    128; // up to so many blocks of rows are turned, see transposed_rows.hpp

// Hands out pieces of one allocation, each on cache lines of its own; from nothing, it counts.
struct Scratch {
    char* base;
    size_t used = 0;
    template <class T> T* take(size_t count) {
        T* piece = base ? reinterpret_cast<T*>(base + used) : nullptr;
        used += (count * sizeof(T) + 63) / 64 * 64;
        return piece;
    }
};

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
    const float** at;                  // (kBatch,) where the framed values of a row lie
    float* proposals;                  // (kProposalRows, kp)
    float* lowest;                     // (record,) of one row: smallest proposal by group
    int64_t* row;                      // (kBatch,)
    float *norm, *error, *own, *above; // (kBatch,) own proposal, and the distance it allows
    int32_t* full;                     // (kBatch,) those of the batch that meet every mean

    Batch(const Rows& rows_, const Model& model_, const SumLayout& layout_, RowState state_,
          Worker& worker_)
        : rows(rows_), model(model_), layout(layout_), state(state_), worker(worker_),
          scratch{worker.scratch} {
        as_they_are = rows.kind == Kind::float32 && model.frame.plain && model.d % W == 0;
        length = as_they_are ? model.d : model.d_padded;
        at = scratch.take<const float*>(kBatch);
        values = scratch.take<float>(static_cast<size_t>(capacity(model)) * model.d_padded);
        proposals = scratch.take<float>(static_cast<size_t>(kProposalRows) * model.kp + 16);
        lowest = scratch.take<float>(model.record + 2 * W);
        row = scratch.take<int64_t>(kBatch);
        norm = scratch.take<float>(kBatch);
        error = scratch.take<float>(kBatch);
        own = scratch.take<float>(kBatch);
        above = scratch.take<float>(kBatch);
        full = scratch.take<int32_t>(kBatch);
    }

    static int capacity(const Model& model) {
        const int fit = kBufferFloats / model.d_padded / kTileRows * kTileRows;
        return fit < kTileRows ? kTileRows : fit > kBatch ? kBatch : fit;
    }
    const float* value(int z) const { return at[z]; }
    float* record(int z) const { return state.bounds + row[z] * model.record; }

    // Row i becomes the last of the batch.
    int add(int64_t i) {
        at[size] = framed(i, values + static_cast<size_t>(size) * model.d_padded);
        row[size] = i;
        set_norm(size, dot(at[size], at[size], length), model.error);
        return size++;
    }
    // Row i as float32 values in the frame: where it lies, or copied.
    const float* framed(int64_t i, float* copy) const {
        if (rows.kind == Kind::float64) {
            frame_row(static_cast<const double*>(rows.values) + i * rows.d, model.frame, rows.d,
                      model.d_padded, copy);
            return copy;
        }
        const float* x = static_cast<const float*>(rows.values) + i * rows.d;
        if (as_they_are)
            return x;
        frame_row(x, model.frame, rows.d, model.d_padded, copy);
        return copy;
    }
    void set_norm(int z, float square, float rounding) {
        norm[z] = square;
        const float length = std::sqrt(square) * kUp + model.reach;
        error[z] = length * length * rounding + 1e-36f;
    }
    // |c|^2 - 2 x.c of the mean at a position.
    float proposal(int z, int position) const {
        return model.squares[position] +
               dot(value(z), model.flat + static_cast<size_t>(position) * model.d_padded, length);
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
    void set_deadline(int64_t i, int label, float slack) const {
        slack = slack < model.cap ? slack : model.cap;
        const float clock = model.clock[label];
        state.deadline[i] = clock + slack - kClockRounding * (clock + std::fabs(slack));
    }
    void set_reach(float* record, int label, float reach) const {
        const float drift = model.drift[label];
        record[model.record - 1] = reach - drift + kBoundRounding * (reach + drift);
    }

    // Row z has met every mean: v holds all proposals.
    void conclude(int z, float* v) {
        Nearest nearest; // of W means each, by panel
        for (int p = 0; p < model.kp / W; ++p)
            nearest.meet(load<VF>(v + p * W), p);
        const float best = smallest(nearest.first);
        const uint32_t lanes = bits(nearest.first == best);
        const int lane = __builtin_ctz(lanes);
        VF rest = nearest.first;
        rest[lane] = nearest.second[lane];
        const float second = (lanes & (lanes - 1)) ? best : smallest(rest);

        const int64_t i = row[z];
        int label = model.order[nearest.label[lane] * W + lane];
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
            set_deadline(i, label, slack);
        if (state.bounds) {
            v[model.position[label]] = __builtin_inff(); // bounds are on the other means
            keep_bounds(z, model.panels_per_group ? lowest_of_groups(v) : v);
            set_reach(record(z), label, reach);
        }
        relabel(rows, layout, state, worker, i, label);
    }

    // v: all proposals of a row.
    const float* lowest_of_groups(const float* v) {
        const int panels = model.kp / W, per = model.panels_per_group;
        for (int g = 0, p = 0; g < model.groups; g += W) {
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
        for (int g = 0; g < model.record; g += 8)
            store(bounds + g, (distances_below(z, load<F8>(proposals + g)) +
                               load<F8>(model.drift_of_group + g)) *
                                  (1 - kBoundRounding));
    }

    // The rows in `full` meet every mean. ahead: rows of the next batch.
    void meet_all(Ahead ahead = {}) {
        const float* x[kTileRows];
        for (int m = 0; m < n_full; m += kTileRows) {
            const int count = n_full - m < kTileRows ? n_full - m : kTileRows;
            for (int r = 0; r < kTileRows; ++r)
                x[r] = value(full[m + (r < count ? r : count - 1)]);
            if (model.d > kTurnedColumns)
                all_dots(x, length, model, ahead, proposals);
            else
                tiles(x, model, 0, model.kp / W, proposals, model.kp);
            for (int r = 0; r < count; ++r)
                conclude(full[m + r], proposals + static_cast<size_t>(r) * model.kp);
        }
        n_full = 0;
    }
};

} // namespace coterie::COTERIE_LEVEL::kmeans

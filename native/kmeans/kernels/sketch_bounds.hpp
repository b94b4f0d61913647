// sketch_bounds.hpp: rows decided by their sketches, and sketches made (see kmeans/sketch.hpp).
#pragma once

#include "kmeans/kernels/batch.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

struct Sketched {
    const Batch& batch;
    const Model& model;
    RowState state;
    Worker& worker;
    float* proposals; // (kTileRows, the larger of kp and kSketch)

    Sketched(const Batch& batch_, Scratch& scratch)
        : batch(batch_), model(batch.model), state(batch.state), worker(batch.worker) {
        proposals =
            scratch.take<float>(kTileRows * (model.packed.kp + static_cast<size_t>(kSketch)));
    }
    float* sketch_of(int64_t i) const { return state.sketch + i * kSketch; }

    // Rows begin + waiting[0 .. count): those that remain undecided stay listed; their number.
    int keep_undecided(int64_t begin, int32_t* waiting, int count) {
        int left = 0;
        for (int m = 0; m < count; m += kTileRows) {
            const float* x[kTileRows];
            const int some = count - m < kTileRows ? count - m : kTileRows;
            for (int r = 0; r < kTileRows; ++r)
                x[r] = sketch_of(begin + waiting[m + (r < some ? r : 0)]);
            for (int w = m + 2 * kTileRows; w < m + 3 * kTileRows && w < count; ++w)
                for (int at = 0; at < kSketch; at += 16)
                    __builtin_prefetch(sketch_of(begin + waiting[w]) + at);
            constexpr size_t size = static_cast<size_t>(kDirections) * W;
            int p = 0;
            for (; p + kTilePanels <= model.packed.kp / W; p += kTilePanels)
                tile<kTileRows, kTilePanels>(x, kDirections, model.sketch.means + p * size, size,
                                             model.packed.squares + p * W, proposals + p * W,
                                             model.packed.kp);
            for (; p < model.packed.kp / W; ++p)
                tile<kTileRows, 1>(x, kDirections, model.sketch.means + p * size, size,
                                   model.packed.squares + p * W, proposals + p * W,
                                   model.packed.kp);
            for (int r = 0; r < some; ++r) {
                const int32_t row = waiting[m + r];
                waiting[left] = row;
                left += !decide(begin + row, x[r],
                                proposals + static_cast<size_t>(r) * model.packed.kp);
            }
        }
        worker.sketched += count - left;
        return left;
    }

    // v: proposals of row i without its part outside of the sketch.
    bool decide(int64_t i, const float* sketch, float* v) {
        const float residual = sketch[kDirections], norm = sketch[kDirections + 1];
        if (!has_sketch(i))
            return false;
        const float length = std::sqrt(norm) * kUp, far = length + model.packed.reach;
        const float error = far * far * model.packed.error + length * model.sketch.slip + 1e-36f;
        const VF width = all(2 * residual * kUp);
        VF low = all(__builtin_inff());
        VI where = {};
        for (int p = 0; p < model.packed.kp / W; ++p) {
            const VF value = load<VF>(v + p * W),
                     apart = width * load<VF>(model.sketch.apart + p * W);
            const VF above = value + apart;
            where = above < low ? all(p) : where;
            low = min(low, above);
            store(v + p * W, value - apart);
        }
        const float best = smallest(low);
        const int lane = __builtin_ctz(bits(low == best));
        const int position = where[lane] * W + lane;
        v[position] = __builtin_inff();
        VF next = load<VF>(v);
        for (int p = 1; p < model.packed.kp / W; ++p)
            next = min(next, load<VF>(v + p * W));
        const float second = smallest(next);
        if (!(second - best > 2 * error))
            return false;
        const int label = model.packed.order[position];
        const float near = best + norm, others = second + norm - error;
        const float reach = std::sqrt((near > 0.f ? near : 0.f) + error) * kUp;
        batch.set_slack_limit(i, label, (others > 0.f ? std::sqrt(others) * kDown : 0.f) - reach);
        relabel(batch.rows, batch.layout, state, worker, i, label);
        return true;
    }

    bool has_sketch(int64_t i) const { return sketch_of(i)[kDirections] < __builtin_inff(); }

    // Rows of the batch, at most kTileRows, get the sketches they lack.
    void make(int size) {
        static constexpr float nothing[2] = {};
        const float* x[kTileRows];
        int z[kTileRows], count = 0;
        for (int r = 0; r < size; ++r)
            if (!has_sketch(batch.row[r]))
                z[count++] = r;
        if (count == 0)
            return;
        for (int r = 0; r < kTileRows; ++r)
            x[r] = batch.value(z[r < count ? r : 0]);
        static_assert(kDirections % 2 == 0);
        for (int b = 0; b < kDirections; b += 2)
            dots<kTileRows, 2>(x, batch.length,
                               model.sketch.basis + static_cast<size_t>(b) * model.packed.d_padded,
                               model.packed.d_padded, nothing, proposals + b, kSketch);
        for (int r = 0; r < count; ++r) {
            float* found = proposals + r * kSketch;
            found[kDirections] = found[kDirections + 1] = 0.f;
            const float norm = batch.norm[z[r]], left = norm - dot(found, found, kSketch);
            found[kDirections] =
                std::sqrt((left > 0.f ? left : 0.f) + model.sketch.spread * norm) * kUp;
            found[kDirections + 1] = norm;
            std::memcpy(sketch_of(batch.row[z[r]]), found, sizeof(float) * kSketch);
        }
    }
};

} // namespace coterie::COTERIE_LEVEL::kmeans

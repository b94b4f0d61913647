// assign_high.cpp: assignment update for many columns, and for sparse rows. Vectors hold W means
// (a panel); the values of a few rows are broadcast against a few panels at a time, so that each
// value loaded is used many times from registers.
//
// Bounds: a deadline per row (see Model::clock) and, where they pay, one lower bound per group of
// neighbouring panels: a failing row then meets only the groups that could hold a nearer mean.
#include "add_row.hpp"
#include "definition.hpp"
#include "tile.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr float kUp = 1.000001f, kDown = 0.999999f;
constexpr float kClockRounding = 6e-7f, kBoundRounding = 1.2e-7f;
constexpr int kBatch = 240;              // rows looked at together, a multiple of kTileRows
constexpr int kBufferFloats = 48 * 1024; // their float32 copy stays in the second-level cache

// One batch of rows: their float32 values, norms and error bounds, and scratch for results.
struct Batch {
    const Rows& rows;
    const Model& model;
    const SumLayout& layout;
    RowState state;
    Worker& worker;

    int size = 0;
    float* values;                     // (capacity, d_padded)
    float* proposals;                  // (kColumnRows, kp)
    int64_t* row;                      // (kBatch,)
    float *norm, *error, *own, *above; // (kBatch,)
    // by group, (kBatch, groups):
    float *first, *second;
    int32_t* where;
    int32_t* members; // (groups, kBatch) rows of the batch that must meet the group
    int32_t* n_members;
    uint8_t* met;
    float* below; // (groups,)

    Batch(const Rows& rows_, const Model& model_, const SumLayout& layout_, RowState state_,
          Worker& worker_)
        : rows(rows_), model(model_), layout(layout_), state(state_), worker(worker_) {
        char* p = worker.scratch;
        auto take = [&p](auto*& pointer, size_t count) {
            pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(p);
            p += (count * sizeof(*pointer) + 63) / 64 * 64;
        };
        const size_t by_group = static_cast<size_t>(kBatch) * model.groups;
        take(values, values_size(model));
        take(proposals, static_cast<size_t>(kColumnRows) * model.kp + W);
        take(row, kBatch);
        take(norm, kBatch);
        take(error, kBatch);
        take(own, kBatch);
        take(above, kBatch);
        take(first, by_group + W);
        take(second, by_group);
        take(where, by_group);
        take(members, by_group);
        take(n_members, model.groups);
        take(met, by_group);
        take(below, model.groups + W);
    }

    static int capacity(const Model& model) {
        const int fit = kBufferFloats / model.d_padded / kTileRows * kTileRows;
        return fit < kTileRows ? kTileRows : fit > kBatch ? kBatch : fit;
    }
    static size_t values_size(const Model& model) {
        return static_cast<size_t>(capacity(model)) * model.d_padded;
    }
    static size_t bytes(const Model& model) {
        const size_t by_group = static_cast<size_t>(kBatch) * model.groups;
        return 4 * (values_size(model) + static_cast<size_t>(kColumnRows) * model.kp + W +
                    4 * kBatch + 4 * by_group + model.groups) +
               8 * kBatch + by_group + 4 * (model.groups + 2 * W) + 17 * 64;
    }

    void add(int64_t i) {
        float* x = values + static_cast<size_t>(size) * model.d_padded;
        if (rows.kind == Kind::float64)
            frame_row(static_cast<const double*>(rows.values) + i * rows.d, model.frame, rows.d,
                      model.d_padded, x);
        else
            frame_row(static_cast<const float*>(rows.values) + i * rows.d, model.frame, rows.d,
                      model.d_padded, x);
        row[size] = i;
        set_norm(size, dot(x, x, model.d_padded));
        ++size;
    }
    void set_norm(int z, float square) {
        norm[z] = square;
        const float length = std::sqrt(square) * kUp + model.reach;
        error[z] = length * length * model.error + 1e-36f;
    }
    float distance_above(int z, float proposal) const {
        const float square = proposal + norm[z];
        return std::sqrt((square > 0.f ? square : 0.f) + error[z]) * kUp;
    }
    float distance_below(int z, float proposal) const {
        const float square = proposal + norm[z] - error[z];
        return square > 0.f ? std::sqrt(square) * kDown : 0.f;
    }

    // Row z goes to the mean at `position`, or where the definition sends it; `second` is the
    // next best proposal, `others` a lower bound on the distance to every other mean.
    int conclude(int z, int position, float best, float second, float others) {
        const int64_t i = row[z];
        int label = model.order[position];
        float reach, slack;
        if (second - best <= 2 * error[z]) {
            label = settle(rows, model, worker, i);
            reach = distance_above(z, best + 2 * error[z]);
            slack = -1.f - 2.f * reach;
        } else {
            reach = distance_above(z, best);
            slack = others - reach;
            slack = slack < model.cap ? slack : model.cap;
        }
        if (!model.brute) {
            const float clock = model.clock[label];
            state.deadline[i] = clock + slack - kClockRounding * (clock + std::fabs(slack));
        }
        relabel(rows, layout, state, worker, i, label);
        return model.position[label];
    }

    // Row z has met every mean: v holds all proposals.
    void conclude_full(int z, float* v) {
        const int panels = model.kp / W;
        VF low = all(__builtin_inff()), next = low;
        VI where_low = {};
        for (int p = 0; p < panels; ++p) {
            const VF value = load<VF>(v + p * W);
            const VI nearer = value < low;
            next = min(next, max(low, value));
            low = min(low, value);
            where_low = nearer ? all(p) : where_low;
        }
        const float best = smallest(low);
        const uint32_t lanes = bits(low == best);
        const int lane = __builtin_ctz(lanes);
        const int position = where_low[lane] * W + lane;
        VF rest = low;
        rest[lane] = next[lane];
        const float second = (lanes & (lanes - 1)) ? best : smallest(rest);
        worker.pairs += model.k;
        const int chosen = conclude(z, position, best, second, distance_below(z, second));
        if (state.bounds)
            bound_groups(z, v, chosen);
    }

    // out: lower bounds on distances, from the smallest proposals of all groups; W at a time.
    void distances_below(int z, const float* proposal, float* out) const {
        for (int g = 0; g < model.groups; g += W)
            store(out + g, sqrt(max(load<VF>(proposal + g) + (norm[z] - error[z]), VF{})) * kDown);
    }

    // v: all proposals of row z; that of the chosen mean is taken out.
    void bound_groups(int z, float* v, int chosen) {
        const int panels = model.kp / W, per = model.panels_per_group;
        v[chosen] = __builtin_inff();
        for (int g = 0, p = 0; g < model.groups; ++g) {
            const int last = p + per < panels ? p + per : panels;
            VF low = load<VF>(v + p * W);
            for (++p; p < last; ++p)
                low = min(low, load<VF>(v + p * W));
            first[g] = smallest(low);
        }
        distances_below(z, first, below);
        keep_bounds(z);
    }

    // The bounds of row z are those in `below`.
    void keep_bounds(int z) {
        for (int g = 0; g < model.groups; g += W)
            store(below + g, (load<VF>(below + g) + load<VF>(model.drift_of_group + g)) *
                                 (1 - kBoundRounding));
        std::memcpy(state.bounds + row[z] * model.groups, below, sizeof(float) * model.groups);
    }

    void meet_all() {
        const float* x[kTileRows];
        for (int z = 0; z < size; z += kTileRows) {
            const int count = size - z < kTileRows ? size - z : kTileRows;
            for (int r = 0; r < kTileRows; ++r)
                x[r] =
                    values + static_cast<size_t>(z + (r < count ? r : count - 1)) * model.d_padded;
            tiles(x, model, 0, model.kp / W, proposals, model.kp);
            for (int r = 0; r < count; ++r)
                conclude_full(z + r, proposals + static_cast<size_t>(r) * model.kp);
        }
    }

    // Which groups could hold a nearer mean than the row's own?
    void list_groups() {
        std::memset(n_members, 0, sizeof(int32_t) * model.groups);
        for (int z = 0; z < size; ++z) {
            const int mine = model.position[state.labels[row[z]]];
            own[z] = model.squares[mine] +
                     dot(values + static_cast<size_t>(z) * model.d_padded,
                         model.flat + static_cast<size_t>(mine) * model.d_padded, model.d_padded);
            above[z] = distance_above(z, own[z]);
            const float limit = above[z] * 1.0000003f;
            const float* bounds = state.bounds + row[z] * model.groups;
            for (int g = 0; g < model.groups; ++g) {
                const bool meets = bounds[g] - model.drift_of_group[g] <= limit;
                met[z * model.groups + g] = meets;
                members[g * kBatch + n_members[g]] = z;
                n_members[g] += meets;
            }
        }
    }

    void meet_group(int g) {
        const int panels = model.kp / W, p = g * model.panels_per_group;
        const int last = p + model.panels_per_group < panels ? p + model.panels_per_group : panels;
        const int stride = (last - p) * W, at_once = last - p == 1 ? kColumnRows : kTileRows;
        const size_t size = static_cast<size_t>(model.d) * W;
        const int32_t* who = members + g * kBatch;
        const float* x[kColumnRows];
        for (int m = 0; m < n_members[g]; m += at_once) {
            const int count = n_members[g] - m < at_once ? n_members[g] - m : at_once;
            for (int r = 0; r < at_once; ++r)
                x[r] = values +
                       static_cast<size_t>(who[m + (r < count ? r : count - 1)]) * model.d_padded;
            if (last - p == 1 && count > kTileRows)
                tile<kColumnRows, 1>(x, model.d, model.panels + p * size, size,
                                     model.squares + p * W, proposals, stride);
            else
                tiles(x, model, p, last, proposals, stride);
            for (int r = 0; r < count; ++r)
                best_two_of_group(who[m + r], g, p, last, proposals + r * stride);
        }
        worker.pairs += static_cast<int64_t>(n_members[g]) * stride;
    }

    void best_two_of_group(int z, int g, int p, int last, float* v) {
        const int mine = model.position[state.labels[row[z]]];
        if (mine >= p * W && mine < last * W)
            v[mine - p * W] = own[z]; // one value for one mean, however it was computed
        VF low = load<VF>(v), next = all(__builtin_inff());
        VI where_low = {};
        for (int q = 1; q < last - p; ++q) {
            const VF value = load<VF>(v + q * W);
            const VI nearer = value < low;
            next = min(next, max(low, value));
            low = min(low, value);
            where_low = nearer ? all(q) : where_low;
        }
        const float best = smallest(low);
        const int lane = __builtin_ctz(bits(low == best));
        VF rest = low;
        rest[lane] = next[lane];
        const size_t at = static_cast<size_t>(z) * model.groups + g;
        first[at] = best;
        second[at] = smallest(rest);
        where[at] = (p + where_low[lane]) * W + lane;
    }

    // Row z has met the groups it had to: the nearest of them and its own mean.
    void conclude_grouped(int z) {
        const int groups = model.groups;
        const size_t at = static_cast<size_t>(z) * groups;
        const int mine = model.position[state.labels[row[z]]];
        float best = own[z], next = __builtin_inff();
        int position = mine;
        for (int g = 0; g < groups; ++g) {
            if (!met[at + g])
                continue;
            if (where[at + g] == position) {
                next = next < second[at + g] ? next : second[at + g];
            } else if (first[at + g] < best) {
                next = best < second[at + g] ? best : second[at + g];
                best = first[at + g];
                position = where[at + g];
            } else {
                next = next < first[at + g] ? next : first[at + g];
            }
        }
        const bool unclear = next - best <= 2 * error[z];
        for (int g = 0; g < groups; ++g)
            proposals[g] = where[at + g] == position && !unclear ? second[at + g] : first[at + g];
        distances_below(z, proposals, below);
        const float* bounds = state.bounds + row[z] * groups;
        float others = __builtin_inff();
        for (int g = 0; g < groups; ++g) {
            if (!met[at + g])
                below[g] = bounds[g] - model.drift_of_group[g];
            others = others < below[g] ? others : below[g];
        }
        // A mean that the row leaves, or may leave, is from now on one of the others.
        if (position != mine || unclear) {
            float& of_mine = below[mine / W / model.panels_per_group];
            const float leaving = distance_below(z, own[z]);
            of_mine = leaving < of_mine ? leaving : of_mine;
            others = leaving < others ? leaving : others;
        }
        keep_bounds(z);
        conclude(z, position, best, next, others - kClockRounding * above[z]);
    }

    void meet_groups() {
        list_groups();
        for (int g = 0; g < model.groups; ++g)
            meet_group(g);
        for (int z = 0; z < size; ++z)
            conclude_grouped(z);
    }

    void finish() {
        if (size == 0)
            return;
        if (model.by_group && state.labels[row[0]] >= 0)
            meet_groups();
        else
            meet_all();
        size = 0;
    }

    // A sparse row meets all means through its own entries only.
    template <class T> void meet_sparse(int64_t i, const T* entries) {
        float* v = proposals;
        std::memcpy(v, model.squares, sizeof(float) * model.kp);
        float square = 0.f;
        for (int64_t e = rows.starts[i]; e < rows.starts[i + 1]; ++e) {
            const float value = static_cast<float>(entries[e] * model.frame.unit);
            square += value * value;
            const VF x = all(value);
            const float* means = model.by_column + static_cast<size_t>(rows.columns[e]) * model.kp;
            for (int p = 0; p < model.kp; p += W)
                store(v + p, fma(x, load<VF>(means + p), load<VF>(v + p)));
        }
        row[0] = i;
        set_norm(0, square);
        conclude_full(0, v);
    }
};

} // namespace

void assign_high(const Rows& rows, const Model& model, const SumLayout& layout, RowState state,
                 Worker& worker, int64_t begin, int64_t end) {
    Batch batch(rows, model, layout, state, worker);
    const int capacity = Batch::capacity(model);
    for (int64_t i = begin; i < end; ++i) {
        const int label = state.labels[i];
        if (!model.brute && label >= 0 && model.clock[label] < state.deadline[i])
            continue;
        ++worker.evaluated;
        if (rows.kind == Kind::csr64) {
            batch.meet_sparse(i, static_cast<const double*>(rows.values));
        } else if (rows.kind == Kind::csr32) {
            batch.meet_sparse(i, static_cast<const float*>(rows.values));
        } else {
            batch.add(i);
            if (batch.size == capacity)
                batch.finish();
        }
    }
    batch.finish();
}

size_t scratch_high(const Model& model) { return Batch::bytes(model); }

} // namespace coterie::COTERIE_LEVEL

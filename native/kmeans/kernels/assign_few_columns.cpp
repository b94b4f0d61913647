// assign_few_columns.cpp: assignment update for few columns or few means. Vectors hold W rows;
// means are broadcast.
//
// With few means every failing block is compared with all of them. With many, failing rows are
// bucketed by label and meet only the means near their own (see NeighbourLists).
//
// D is the number of columns where it is known when compiling (up to 8), else 0.
#include "kmeans/kernels/add_row.hpp"
#include "kmeans/kernels/load_block.hpp"
#include "kmeans/kernels/two_nearest.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {
namespace {

constexpr int kChunk = 8192; // rows: their values stay in the second-level cache

// Large and called from two places: inlined twice, it doubles the time to compile.
#define COTERIE_APART __attribute__((noinline))

template <int D> COTERIE_INLINE VF propose(const VF* x, const float* square_and_mean) {
    VF value = all(square_and_mean[0]);
    for (int l = 0; l < D; ++l)
        value = fma(x[l], all(square_and_mean[1 + l]), value);
    return value;
}

// W rows meet all means; four at a time where columns come from memory.
template <int D> COTERIE_INLINE void meet_all(const VF* x, const Model& model, Nearest& best) {
    const float* p = model.near.table;
    int j = 0;
    if constexpr (D > 0) {
        for (; j < model.k; ++j, p += D + 1)
            best.meet(propose<D>(x, p), j);
    } else {
        const int record = model.d + 1;
        for (; j + 4 <= model.k; j += 4, p += 4 * record) {
            VF value[4];
            for (int q = 0; q < 4; ++q)
                value[q] = all(p[q * record]);
            for (int l = 0; l < model.d; ++l)
                for (int q = 0; q < 4; ++q)
                    value[q] = fma(x[l], all(p[q * record + 1 + l]), value[q]);
            for (int q = 0; q < 4; ++q)
                best.meet(value[q], j + q);
        }
        for (; j < model.k; ++j, p += record) {
            VF value = all(p[0]);
            for (int l = 0; l < model.d; ++l)
                value = fma(x[l], all(p[1 + l]), value);
            best.meet(value, j);
        }
    }
}

// The columns in x, ready to be compared.
COTERIE_INLINE Comparison comparison_of(const VF* x, const Model& model, int d) {
    VF norm = x[0] * x[0];
    for (int l = 1; l < d; ++l)
        norm = fma(x[l], x[l], norm);
    // (|x| + reach)^2 <= 2 |x|^2 + 2 reach^2, without a root
    return {norm,
            (norm + model.packed.reach * model.packed.reach) * (2 * model.packed.error) + 1e-36f};
}

COTERIE_INLINE void widen(Worker& worker, int c, float reach) {
    if (worker.radius[c] < reach)
        worker.radius[c] = reach;
}

COTERIE_INLINE void widen(Worker& worker, VI labels, VF reach, uint32_t live) {
    // Few rows are farther from their mean than all before them.
    for (live &= bits(reach > lookup(worker.radius, labels)); live; live &= live - 1)
        widen(worker, labels[__builtin_ctz(live)], reach[__builtin_ctz(live)]);
}

// Rows that meet all means together: W in a row, or W scattered ones.
template <int D> struct MeetAll {
    const Rows& rows;
    const Model& model;
    const SumLayout& layout;
    RowState state;
    Worker& worker;
    VF few[D > 0 ? (D + 3) / 4 * 4 : 1];
    VF* x; // (d padded,) columns
    const Table used_slack, look_below;

    COTERIE_INLINE MeetAll(const Rows& rows_, const Model& model_, const SumLayout& layout_,
                           RowState state_, Worker& worker_)
        : rows(rows_), model(model_), layout(layout_), state(state_), worker(worker_),
          x(D > 0 ? few : reinterpret_cast<VF*>(worker.scratch)),
          used_slack(model.hamerly.used_slack, model.k),
          look_below(model.hamerly.look_below, model.k) {}

    // Lanes whose rows can no longer be trusted.
    COTERIE_INLINE uint32_t failing(int64_t first) const {
        if (model.brute || state.fresh)
            return (1ull << W) - 1;
        const VI labels = load<VI>(state.labels + first);
        return bits(look_below[labels] >= load<VF>(state.slack_limit + first));
    }

    COTERIE_INLINE void in_a_row(int64_t first) {
        int64_t index[W];
        for (int q = 0; q < W; ++q)
            index[q] = first + q;
        if constexpr (D > 0)
            load_block<D>(rows, model.scaling, first, x);
        else
            gather_block(rows, model.scaling, index, model.d, x);
        const VF slack_limit = compare(load<VI>(state.labels + first), (1ull << W) - 1, index);
        if (!model.brute)
            store(state.slack_limit + first, slack_limit);
    }

    // index: (W,), the first `count` of them rows, the others any.
    COTERIE_APART void scattered(int64_t* index, int count) {
        for (int q = count; q < W; ++q)
            index[q] = index[0];
        gather_block(rows, model.scaling, index, D > 0 ? D : model.d, x);
        VI labels;
        for (int q = 0; q < W; ++q)
            labels[q] = state.labels[index[q]];
        const VF slack_limit = compare(labels, (1ull << count) - 1, index);
        for (int q = 0; q < count && !model.brute; ++q)
            state.slack_limit[index[q]] = slack_limit[q];
    }

    // The rows in x, of which the `live` ones count, meet all means; their new slack limits.
    COTERIE_APART VF compare(VI labels, uint32_t live, const int64_t* index) {
        worker.evaluated += __builtin_popcount(live);
        const Comparison comparison = comparison_of(x, model, D > 0 ? D : model.d);
        Nearest best;
        meet_all<D>(x, model, best);
        const Outcome out = comparison.decide(best, live, rows, model, worker, index);
        for (uint32_t changed = live & bits(out.label != labels); changed; changed &= changed - 1) {
            const int q = __builtin_ctz(changed);
            relabel<D>(rows, layout, state, worker, index[q], out.label[q]);
            if (worker.radius)
                widen(worker, out.label[q], out.reach[q]);
        }
        if (worker.radius && model.hamerly.measure)
            widen(worker, out.label, out.reach, live);
        return slack_limit_after(used_slack[out.label], out.slack);
    }
};

// Every mean for every failing row. A block of W rows with few failing ones leaves them to be
// compared together with those of other blocks.
template <int D>
void assign_all(const Rows& rows, const Model& model, const SumLayout& layout, RowState state,
                Worker& worker, int64_t begin, int64_t end) {
    MeetAll<D> meet(rows, model, layout, state, worker);
    int64_t waiting[2 * W];
    int n_waiting = 0;
    int64_t first = begin;
    for (; first + W <= end; first += W) {
        uint32_t failing = meet.failing(first);
        if (__builtin_popcount(failing) > W / 2) {
            meet.in_a_row(first);
            continue;
        }
        for (; failing; failing &= failing - 1)
            waiting[n_waiting++] = first + __builtin_ctz(failing);
        if (n_waiting >= W) {
            meet.scattered(waiting, W);
            n_waiting -= W;
            std::memcpy(waiting, waiting + W, sizeof(int64_t) * W);
        }
    }
    for (; first < end; ++first)
        waiting[n_waiting++] = first;
    for (int from = 0; from < n_waiting; from += W)
        meet.scattered(waiting + from, n_waiting - from < W ? n_waiting - from : W);
}

// Only near means, for the failing rows of each cluster.
template <int D>
void assign_near(const Rows& rows, const Model& model, const SumLayout& layout, RowState state,
                 Worker& worker, int64_t begin, int64_t end) {
    constexpr int record = D + 3;
    const int k = model.k;
    const Table used_slack(model.hamerly.used_slack, k);
    int32_t* start = reinterpret_cast<int32_t*>(worker.scratch); // (k + 1,)
    int32_t* cursor = start + k + 1;                             // (k,)
    int32_t* failing = cursor + k;                               // (kChunk,)
    int32_t* sorted = failing + kChunk;                          // (kChunk,)

    int n_failing = 0;
    int64_t i = begin;
    for (; i + W <= end; i += W) {
        const VF look_below = lookup(model.hamerly.look_below, load<VI>(state.labels + i));
        for (uint32_t m = bits(look_below >= load<VF>(state.slack_limit + i)); m; m &= m - 1)
            failing[n_failing++] = static_cast<int32_t>(i - begin) + __builtin_ctz(m);
    }
    for (; i < end; ++i)
        if (model.hamerly.look_below[state.labels[i]] >= state.slack_limit[i])
            failing[n_failing++] = static_cast<int32_t>(i - begin);
    if (n_failing == 0)
        return;
    worker.evaluated += n_failing;

    std::memset(start, 0, sizeof(int32_t) * (k + 1));
    const int32_t* labels = state.labels + begin;
    for (int q = 0; q < n_failing; ++q)
        ++start[labels[failing[q]] + 1];
    for (int c = 0; c < k; ++c)
        start[c + 1] += start[c];
    std::memcpy(cursor, start, sizeof(int32_t) * k);
    for (int q = 0; q < n_failing; ++q)
        sorted[cursor[labels[failing[q]]]++] = failing[q];

    for (int c = 0; c < k; ++c) {
        const float* list = model.near.lists[c];
        for (int from = start[c]; from < start[c + 1]; from += W) {
            const int count = start[c + 1] - from < W ? start[c + 1] - from : W;
            const uint32_t live = (uint32_t)((1ull << count) - 1);
            int64_t index[W];
            for (int q = 0; q < W; ++q)
                index[q] = begin + sorted[from + (q < count ? q : count - 1)];
            VF x[(D + 3) / 4 * 4];
            gather_block(rows, model.scaling, index, D, x);
            const Comparison comparison = comparison_of(x, model, D > 0 ? D : model.d);
            // The own mean comes first; means farther from it than this cannot win or be near.
            Nearest best;
            const VF own = propose<D>(x, list);
            best.meet(own, c);
            const float limit =
                (-smallest(-comparison.distance_above(own)) * 2 + model.hamerly.cap) * kUp;
            const float* p = list + record;
            for (int j = 1; j < model.near.lengths[c] && p[D + 1] <= limit; ++j, p += record) {
                int32_t name;
                std::memcpy(&name, p + D + 2, 4);
                best.meet(propose<D>(x, p), name);
            }
            const Outcome out = comparison.decide(best, live, rows, model, worker, index);
            const VF slack_limit = slack_limit_after(used_slack[out.label], out.slack);
            for (int q = 0; q < count; ++q)
                state.slack_limit[index[q]] = slack_limit[q];
            uint32_t changed = live & bits(out.label != all(c));
            VF staying = out.reach;
            for (; changed; changed &= changed - 1) {
                const int q = __builtin_ctz(changed);
                widen(worker, out.label[q], out.reach[q]);
                relabel<D>(rows, layout, state, worker, index[q], out.label[q]);
                staying[q] = 0.f;
            }
            widen(worker, c, -smallest(-staying));
        }
    }
}

template <int D>
void assign(const Rows& rows, const Model& model, const SumLayout& layout, RowState state,
            Worker& worker, int64_t begin, int64_t end) {
    if constexpr (D > 0) {
        if (model.near.lengths)
            return assign_near<D>(rows, model, layout, state, worker, begin, end);
    }
    assign_all<D>(rows, model, layout, state, worker, begin, end);
}

} // namespace

void assign_few_columns(const Rows& rows, const Model& model, const SumLayout& layout,
                        RowState state, Worker& worker, int64_t begin, int64_t end) {
    using Assign =
        void (*)(const Rows&, const Model&, const SumLayout&, RowState, Worker&, int64_t, int64_t);
    static constexpr Assign by_columns[] = {assign<0>, assign<1>, assign<2>, assign<3>, assign<4>,
                                            assign<5>, assign<6>, assign<7>, assign<8>};
    for (; begin < end; begin += kChunk)
        by_columns[model.d <= kFewColumns ? model.d : 0](
            rows, model, layout, state, worker, begin, end - begin < kChunk ? end : begin + kChunk);
}

size_t few_columns_scratch(const Model& model) {
    const size_t lists = sizeof(int32_t) * (2 * static_cast<size_t>(model.k) + 1 + 2 * kChunk);
    const size_t columns = sizeof(VF) * (static_cast<size_t>(model.d) + 4);
    return (lists > columns ? lists : columns) + 64;
}

} // namespace coterie::COTERIE_LEVEL::kmeans

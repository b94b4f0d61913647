// assign_many_columns.cpp: assignment update for many columns, and for sparse rows. Vectors hold W
// means (a panel); the values of a few rows are broadcast against a few panels at a time, so that
// each value loaded is used many times from registers.
//
// A row that stays is proved to stay as cheaply as possible: by its slack limit, then by its bounds
// (group_bounds.hpp) or its sketch (sketch_bounds.hpp), and only then by all means.
#include "kmeans/kernels/group_bounds.hpp"
#include "kmeans/kernels/sketch_bounds.hpp"
#include "kmeans/kernels/transposed_rows.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {
namespace {

constexpr int kGlance = 512;        // rows whose bounds are looked at before any row is read
constexpr int64_t kPrefetch = 8192; // bytes of a row asked for ahead

struct Search : Grouped {
    int32_t* waiting; // (kGlance,) offsets of rows to be read
    TransposedRows transposed;
    Sketched sketched;

    Search(const Rows& rows_, const Model& model_, const SumLayout& layout_, RowState state_,
           Worker& worker_)
        : Grouped(rows_, model_, layout_, state_, worker_), transposed(*this, scratch),
          sketched(*this, scratch) {
        waiting = scratch.take<int32_t>(kGlance + W);
    }

    // 1. and 2.: lists the rows of [begin, end) that must be read.
    int glance(int64_t begin, int64_t end) {
        int count = 0;
        if (model.brute || state.fresh) {
            for (; count < end - begin; ++count)
                waiting[count] = count;
            return count;
        }
        int64_t i = begin;
        for (; i + W <= end; i += W) {
            const VF used_slack = lookup(model.hamerly.used_slack, load<VI>(state.labels + i));
            const uint32_t safe = bits(used_slack < load<VF>(state.slack_limit + i));
            for (uint32_t late = ~safe & ((1ull << W) - 1); late; late &= late - 1)
                waiting[count++] = static_cast<int32_t>(i - begin) + __builtin_ctz(late);
        }
        for (; i < end; ++i)
            if (!(model.hamerly.used_slack[state.labels[i]] < state.slack_limit[i]))
                waiting[count++] = static_cast<int32_t>(i - begin);
        return state.bounds ? keep_unsafe(begin, waiting, count) : count;
    }

    void finish() {
        meet_groups();
        worker.work += n_full * products();
        if (model.yinyang.panels_per_group && TransposedRows::can_turn(rows, model))
            meet_turned();
        else
            meet_all();
        size = 0;
    }
    int64_t products() const { return static_cast<int64_t>(model.packed.kp) * model.d; }

    // The rows in `full` meet every mean, from the copies they have.
    void meet_turned() {
        int64_t index[kBlock];
        const float* copies[kBlock];
        for (int m = 0; m < n_full; m += kBlock) {
            const int count = n_full - m < kBlock ? n_full - m : kBlock;
            for (int r = 0; r < count; ++r) {
                index[r] = row[full[m + r]];
                copies[r] = value(full[m + r]);
            }
            transposed.meet(index, count, copies);
        }
        n_full = 0;
    }

    // The first `count` waiting rows of [begin, end) meet every mean. Where most must, all do: rows
    // that lie in a row are read sooner.
    void meet_in_blocks(int64_t begin, int64_t end, int count) {
        if (2 * count > end - begin)
            for (count = 0; count < end - begin; ++count)
                waiting[count] = count;
        worker.evaluated += count;
        worker.work += count * products();
        for (int m = 0; m < count; m += kBlock) {
            int64_t index[kBlock];
            const int some = count - m < kBlock ? count - m : kBlock;
            for (int r = 0; r < some; ++r)
                index[r] = begin + waiting[m + r];
            for (int r = m + kBlock; r < count && r < m + 2 * kBlock; ++r)
                prefetch(begin + waiting[r]);
            transposed.meet(index, some, nullptr);
        }
    }

    // The same for so many columns that rows come from memory six at a time, while six are met.
    void meet_in_tiles(int64_t begin, int count) {
        if (state.sketch && !state.fresh)
            count = sketched.keep_undecided(begin, waiting, count);
        worker.evaluated += count;
        worker.work += count * products();
        for (int m = 0; m < count; m += kTileRows) {
            const int stop = count - m < kTileRows ? count : m + kTileRows;
            for (int w = m; w < stop; ++w)
                full[n_full++] = add(begin + waiting[w]);
            Ahead ahead;
            ahead.size = row_bytes();
            for (int w = stop; w < count && w < stop + kTileRows; ++w)
                ahead.rows[ahead.count++] = row_start(begin + waiting[w]);
            meet_all(ahead);
            if (state.sketch)
                sketched.make(size);
            size = 0;
        }
    }

    // A sparse row meets all means through its own entries only.
    template <class T> void meet_sparse(int64_t i, const T* entries) {
        ++worker.evaluated;
        float* v = proposals;
        std::memcpy(v, model.packed.squares, sizeof(float) * model.packed.kp);
        float square = 0.f;
        for (int64_t e = rows.starts[i]; e < rows.starts[i + 1]; ++e) {
            const float value = static_cast<float>(entries[e] * model.scaling.unit);
            square += value * value;
            const VF x = all(value);
            const float* means =
                model.packed.by_column + static_cast<size_t>(rows.columns[e]) * model.packed.kp;
            for (int p = 0; p < model.packed.kp; p += W)
                store(v + p, fma(x, load<VF>(means + p), load<VF>(v + p)));
        }
        row[0] = i;
        set_norm(0, square, model.packed.error_of(rows.starts[i + 1] - rows.starts[i]));
        conclude(0, v);
    }

    // Rows that wait lie anywhere in memory: the next one is on its way while this one is met.
    void prefetch(int64_t i) const {
        const int64_t bytes = row_bytes();
        for (int64_t at = 0; at < bytes && at < kPrefetch; at += 64)
            __builtin_prefetch(row_start(i) + at);
    }
    int64_t row_bytes() const {
        return static_cast<int64_t>(rows.d) * (rows.kind == Kind::float64 ? 8 : 4);
    }
    const char* row_start(int64_t i) const {
        return static_cast<const char*>(rows.values) + i * row_bytes();
    }
};

} // namespace

void assign_many_columns(const Rows& rows, const Model& model, const SumLayout& layout,
                         RowState state, Worker& worker, int64_t begin, int64_t end) {
    Search search(rows, model, layout, state, worker);
    const int capacity = Batch::capacity(model);
    const int ahead = model.d <= 64 ? 4 : 1;
    const bool meets_all = !rows.sparse() && (!state.bounds || state.fresh);
    const bool transposed = TransposedRows::can_turn(rows, model);
    const bool in_blocks =
        meets_all && transposed && (!state.bounds || model.yinyang.panels_per_group);
    const bool in_tiles = meets_all && !transposed;
    for (; begin < end; begin += kGlance) {
        const int64_t stop = end - begin < kGlance ? end : begin + kGlance;
        const int count = search.glance(begin, stop);
        if (in_blocks)
            search.meet_in_blocks(begin, stop, count);
        if (in_tiles)
            search.meet_in_tiles(begin, count);
        if (in_blocks || in_tiles)
            continue;
        for (int w = 0; w < count; ++w) {
            const int64_t i = begin + search.waiting[w];
            if (rows.kind == Kind::csr64) {
                search.meet_sparse(i, static_cast<const double*>(rows.values));
            } else if (rows.kind == Kind::csr32) {
                search.meet_sparse(i, static_cast<const float*>(rows.values));
            } else {
                if (w + ahead < count)
                    search.prefetch(begin + search.waiting[w + ahead]);
                search.look_at(i);
                if (search.size == capacity)
                    search.finish();
            }
        }
    }
    search.finish();
}

size_t many_columns_scratch(const Model& model) {
    Worker nobody;
    return Search({}, model, {}, {}, nobody).scratch.used;
}

} // namespace coterie::COTERIE_LEVEL::kmeans

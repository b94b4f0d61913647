// assign_high.cpp: assignment update for many columns, and for sparse rows. Vectors hold W means
// (a panel); the values of a few rows are broadcast against a few panels at a time, so that each
// value loaded is used many times from registers.
//
// A row that stays is proved to stay as cheaply as possible, in this order:
//   1. its deadline has not passed (see Model::clock): one comparison;
//   2. no lower bound of a group has fallen to the upper bound on the distance to its own mean:
//      the row itself is not read;
//   3. the same with that distance measured;
//   4. the groups whose bounds failed are met, and none of their means is nearer.
// Only rows that pass none of these, and rows that fail most groups, meet every mean.
//
// Bounds are those of Yinyang k-means where a group is some panels, and of Elkan where it is one
// mean. Both are kept as sums with the drift of the group at that time, so that they need no
// update: bound now = bound kept - drift now.
#include "sketched.hpp"
#include "turned.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr int kGlance = 512;        // rows whose bounds are looked at before any row is read
constexpr int64_t kPrefetch = 8192; // bytes of a row asked for ahead

// What it takes to look at the bounds of a row, to read it and list the groups it must meet, and
// to meet one group: in products of rows that meet every mean together.
constexpr int64_t kGlanceWork = 500, kLookWork = 3000, kGroupWork = 200;

struct Search : Batch {
    int32_t* waiting;   // (kGlance,) offsets of rows to be read
    uint64_t* meets;    // (kBatch,) groups to meet, as bits
    float* nearest;     // (kBatch, record) smallest proposals of the groups met
    int32_t* members;   // (groups, kBatch) rows of the batch that must meet the group
    int32_t* n_members; // (groups,)
    Turned turned;
    Sketched sketched;

    Search(const Rows& rows_, const Model& model_, const SumLayout& layout_, RowState state_,
           Worker& worker_)
        : Batch(rows_, model_, layout_, state_, worker_), turned(*this, scratch),
          sketched(*this, scratch) {
        const size_t by_group =
            model.panels_per_group ? static_cast<size_t>(kBatch) * model.record : 0;
        waiting = scratch.take<int32_t>(kGlance + W);
        meets = scratch.take<uint64_t>(kBatch);
        nearest = scratch.take<float>(by_group);
        members = scratch.take<int32_t>(by_group);
        n_members = scratch.take<int32_t>(model.record);
        if (scratch.base)
            std::memset(n_members, 0, sizeof(int32_t) * model.record);
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
            const VF clock = lookup(model.clock, load<VI>(state.labels + i));
            const uint32_t safe = bits(clock < load<VF>(state.deadline + i));
            for (uint32_t late = ~safe & ((1ull << W) - 1); late; late &= late - 1)
                waiting[count++] = static_cast<int32_t>(i - begin) + __builtin_ctz(late);
        }
        for (; i < end; ++i)
            if (!(model.clock[state.labels[i]] < state.deadline[i]))
                waiting[count++] = static_cast<int32_t>(i - begin);
        return state.bounds ? keep_unsafe(begin, count) : count;
    }

    int keep_unsafe(int64_t begin, int count) {
        int unsafe = 0;
        worker.work += kGlanceWork * count;
        for (int w = 0; w < count; ++w) {
            const int ahead = waiting[w + 8 < count ? w + 8 : count - 1];
            __builtin_prefetch(state.bounds + (begin + ahead) * model.record);
            const int32_t row = waiting[w];
            waiting[unsafe] = row;
            unsafe += !is_safe(begin + row);
        }
        return unsafe;
    }

    // Is every group farther than the own mean? If so the row gets a new deadline.
    bool is_safe(int64_t i) {
        const float* bounds = state.bounds + i * model.record;
        const int label = state.labels[i];
        const float reach = (bounds[model.record - 1] + model.drift[label]) * kLimitRounding;
        F8 low = eight(__builtin_inff());
        for (int g = 0; g < model.record; g += 8)
            low = min(low, load<F8>(bounds + g) - load<F8>(model.drift_of_group + g));
        const float others = smallest(low);
        if (!(others > reach * kLimitRounding))
            return false;
        set_deadline(i, label, others - reach - kClockRounding * reach);
        return true;
    }

    // 3.: row i is read; it stays, waits for the groups it must meet, or for all means.
    void look_at(int64_t i) {
        ++worker.evaluated;
        const int z = add(i);
        if (!state.bounds || state.fresh) {
            full[n_full++] = z;
            return;
        }
        worker.work += kLookWork;
        own[z] = proposal(z, model.position[state.labels[i]]);
        above[z] = distance_above(z, own[z]);
        if (model.panels_per_group)
            list_groups(z);
        else
            meet_means(z);
    }

    // The row has no nearer mean than its own; `others`: a lower bound on their distances.
    void stay(int z, float others) {
        const int label = state.labels[row[z]];
        set_deadline(row[z], label, others - above[z] - kClockRounding * above[z]);
        set_reach(record(z), label, above[z]);
    }

    void list_groups(int z) {
        const float* bounds = record(z);
        const F8 limit = eight(above[z] * kLimitRounding);
        F8 low = eight(__builtin_inff());
        uint64_t fails = 0;
        for (int g = 0; g < model.record; g += 8) {
            const F8 bound = load<F8>(bounds + g) - load<F8>(model.drift_of_group + g);
            low = min(low, bound);
            fails |= static_cast<uint64_t>(bits(bound <= limit)) << g;
        }
        if (!fails) {
            stay(z, smallest(low));
            --size;
        } else if (2 * __builtin_popcountll(fails) > model.groups) {
            meets[z] = 0;
            full[n_full++] = z;
        } else {
            meets[z] = fails;
            for (; fails; fails &= fails - 1) {
                const int g = __builtin_ctzll(fails);
                members[g * kBatch + n_members[g]++] = z;
            }
        }
    }

    // 4. for the members of group g: the smallest proposal among means that are not their own.
    void meet_group(int g) {
        const int panels = model.kp / W, p = g * model.panels_per_group;
        const int last = p + model.panels_per_group < panels ? p + model.panels_per_group : panels;
        const int stride = (last - p) * W, at_once = last - p == 1 ? kColumnRows : kTileRows;
        const size_t size = static_cast<size_t>(model.d) * W;
        const int32_t* who = members + g * kBatch;
        const float* x[kColumnRows];
        worker.work += n_members[g] * (kGroupWork + static_cast<int64_t>(stride) * model.d);
        for (int m = 0; m < n_members[g]; m += at_once) {
            const int count = n_members[g] - m < at_once ? n_members[g] - m : at_once;
            for (int r = 0; r < at_once; ++r)
                x[r] = value(who[m + (r < count ? r : count - 1)]);
            if (last - p == 1 && count > kTileRows)
                tile<kColumnRows, 1>(x, model.d, model.panels + p * size, size,
                                     model.squares + p * W, proposals, stride);
            else
                tiles(x, model, p, last, proposals, stride);
            for (int r = 0; r < count; ++r) {
                const int mine = model.position[state.labels[row[who[m + r]]]] - p * W;
                if (mine >= 0 && mine < stride)
                    proposals[r * stride + mine] = __builtin_inff();
            }
            for (int r = 0; r < count; r += W) {
                VF low[W];
                for (int q = 0; q < W; ++q) {
                    low[q] = load<VF>(proposals + (r + q) * stride);
                    for (int s = W; s < stride; s += W)
                        low[q] = min(low[q], load<VF>(proposals + (r + q) * stride + s));
                }
                const VF found = smallest_of_each(low);
                for (int q = 0; q < W && r + q < count; ++q)
                    nearest[who[m + r + q] * model.record + g] = found[q];
            }
        }
        n_members[g] = 0;
    }

    // Row z has met its groups: it stays, or must meet every mean.
    void confirm(int z) {
        const I8 lane = {1, 2, 4, 8, 16, 32, 64, 128};
        float* bounds = record(z);
        F8 best = eight(__builtin_inff()), low = best;
        for (int g = 0; g < model.record; g += 8) {
            const I8 met = (eight(static_cast<int32_t>(meets[z] >> g & 255)) & lane) != 0;
            const F8 drift = load<F8>(model.drift_of_group + g);
            const F8 found = load<F8>(nearest + z * model.record + g), kept = load<F8>(bounds + g);
            const F8 below = distances_below(z, found);
            best = min(best, met ? found : eight(__builtin_inff()));
            low = min(low, met ? below : kept - drift);
            store(bounds + g, met ? (below + drift) * (1 - kBoundRounding) : kept);
        }
        if (smallest(best) - own[z] > 2 * error[z])
            stay(z, smallest(low));
        else
            full[n_full++] = z;
    }

    // 4. where every mean is a group: the row meets those whose bounds failed, one by one.
    void meet_means(int z) {
        float* bounds = record(z);
        const F8 limit = eight(above[z] * kLimitRounding);
        int failing = 0;
        for (int g = 0; g < model.record; g += 8)
            failing += __builtin_popcount(
                bits(load<F8>(bounds + g) - load<F8>(model.drift_of_group + g) <= limit));
        bool stays = 2 * failing <= model.k;
        F8 low = eight(__builtin_inff());
        for (int g = 0; g < model.record && stays; g += 8) {
            F8 bound = load<F8>(bounds + g) - load<F8>(model.drift_of_group + g);
            for (uint32_t fails = bits(bound <= limit); fails; fails &= fails - 1) {
                const int q = __builtin_ctz(fails);
                const float found = proposal(z, g + q);
                stays = stays && found - own[z] > 2 * error[z];
                bound[q] = distance_below(z, found);
                bounds[g + q] = (bound[q] + model.drift_of_group[g + q]) * (1 - kBoundRounding);
            }
            low = min(low, bound);
        }
        if (stays) {
            stay(z, smallest(low));
            --size;
        } else {
            full[n_full++] = z;
        }
    }

    void finish() {
        if (model.panels_per_group && state.bounds && !state.fresh) {
            for (int g = 0; g < model.groups; ++g)
                meet_group(g);
            for (int z = 0; z < size; ++z)
                if (meets[z])
                    confirm(z);
        }
        worker.work += n_full * products();
        if (model.panels_per_group && Turned::can_turn(rows, model))
            meet_turned();
        else
            meet_all();
        size = 0;
    }
    int64_t products() const { return static_cast<int64_t>(model.kp) * model.d; }

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
            turned.meet(index, count, copies);
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
            turned.meet(index, some, nullptr);
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
        set_norm(0, square, model.error_of(rows.starts[i + 1] - rows.starts[i]));
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

void assign_high(const Rows& rows, const Model& model, const SumLayout& layout, RowState state,
                 Worker& worker, int64_t begin, int64_t end) {
    Search search(rows, model, layout, state, worker);
    const int capacity = Batch::capacity(model);
    const int ahead = model.d <= 64 ? 4 : 1;
    const bool meets_all = !rows.sparse() && (!state.bounds || state.fresh);
    const bool turned = Turned::can_turn(rows, model);
    const bool in_blocks = meets_all && turned && (!state.bounds || model.panels_per_group);
    const bool in_tiles = meets_all && !turned;
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

size_t scratch_high(const Model& model) {
    Worker nobody;
    return Search({}, model, {}, {}, nobody).scratch.used;
}

} // namespace coterie::COTERIE_LEVEL

// group_bounds.hpp: rows with a lower bound on their distance to each group of means.
//
// A row that stays is proved to stay as cheaply as possible, in this order:
//   1. its slack limit has not passed (see HamerlyBounds): one comparison;
//   2. no lower bound of a group has fallen to the upper bound on the distance to its own mean:
//      the row itself is not read;
//   3. the same with that distance measured;
//   4. the groups whose bounds failed are met, and none of their means is nearer.
// Only rows that pass none of these, and rows that fail most groups, meet every mean.
//
// Bounds are those of Yinyang k-means where a group is some panels, and of Elkan where it is one
// mean. Both are kept as sums with the drift of the group at that time, so that they need no
// update: bound now = bound kept - drift now.
#pragma once

#include "kmeans/kernels/batch.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

// The work of looking at the bounds of a row, of reading it and listing the groups it must meet,
// and of meeting one group: in products of rows that meet every mean together.
constexpr int64_t kGlanceWork = 500, kLookWork = 3000, kGroupWork = 200;

struct Grouped : Batch {
    uint64_t* meets;    // (kBatch,) groups to meet, as bits
    float* nearest;     // (kBatch, record) smallest proposals of the groups met
    int32_t* members;   // (groups, kBatch) rows of the batch that must meet the group
    int32_t* n_members; // (groups,)

    Grouped(const Rows& rows_, const Model& model_, const SumLayout& layout_, RowState state_,
            Worker& worker_)
        : Batch(rows_, model_, layout_, state_, worker_) {
        const size_t by_group =
            model.yinyang.panels_per_group ? static_cast<size_t>(kBatch) * model.yinyang.record : 0;
        meets = scratch.take<uint64_t>(kBatch);
        nearest = scratch.take<float>(by_group);
        members = scratch.take<int32_t>(by_group);
        n_members = scratch.take<int32_t>(model.yinyang.record);
        if (scratch.base)
            std::memset(n_members, 0, sizeof(int32_t) * model.yinyang.record);
    }

    // 2.: rows begin + waiting[0 .. count) that are not safe stay listed; their number.
    int keep_unsafe(int64_t begin, int32_t* waiting, int count) {
        int unsafe = 0;
        worker.work += kGlanceWork * count;
        for (int w = 0; w < count; ++w) {
            const int ahead = waiting[w + 8 < count ? w + 8 : count - 1];
            __builtin_prefetch(state.bounds + (begin + ahead) * model.yinyang.record);
            const int32_t row = waiting[w];
            waiting[unsafe] = row;
            unsafe += !is_safe(begin + row);
        }
        return unsafe;
    }

    // Is every group farther than the own mean? If so the row gets a new slack limit.
    bool is_safe(int64_t i) {
        const float* bounds = state.bounds + i * model.yinyang.record;
        const int label = state.labels[i];
        const float reach =
            (bounds[model.yinyang.record - 1] + model.yinyang.drift[label]) * kLimitRounding;
        F8 low = eight(__builtin_inff());
        for (int g = 0; g < model.yinyang.record; g += 8)
            low = min(low, load<F8>(bounds + g) - load<F8>(model.yinyang.drift_of_group + g));
        const float others = smallest(low);
        if (!(others > reach * kLimitRounding))
            return false;
        set_slack_limit(i, label, others - reach - kSlackRounding * reach);
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
        own[z] = proposal(z, model.packed.position[state.labels[i]]);
        above[z] = distance_above(z, own[z]);
        if (model.yinyang.panels_per_group)
            list_groups(z);
        else
            meet_means(z);
    }

    // The row has no nearer mean than its own; `others`: a lower bound on their distances.
    void stay(int z, float others) {
        const int label = state.labels[row[z]];
        set_slack_limit(row[z], label, others - above[z] - kSlackRounding * above[z]);
        set_reach(record(z), label, above[z]);
    }

    void list_groups(int z) {
        const float* bounds = record(z);
        const F8 limit = eight(above[z] * kLimitRounding);
        F8 low = eight(__builtin_inff());
        uint64_t fails = 0;
        for (int g = 0; g < model.yinyang.record; g += 8) {
            const F8 bound = load<F8>(bounds + g) - load<F8>(model.yinyang.drift_of_group + g);
            low = min(low, bound);
            fails |= static_cast<uint64_t>(bits(bound <= limit)) << g;
        }
        if (!fails) {
            stay(z, smallest(low));
            --size;
        } else if (2 * __builtin_popcountll(fails) > model.yinyang.groups) {
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
        const int panels = model.packed.kp / W, p = g * model.yinyang.panels_per_group;
        const int last = p + model.yinyang.panels_per_group < panels
                             ? p + model.yinyang.panels_per_group
                             : panels;
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
                tile<kColumnRows, 1>(x, model.d, model.packed.panels + p * size, size,
                                     model.packed.squares + p * W, proposals, stride);
            else
                tiles(x, model, p, last, proposals, stride);
            for (int r = 0; r < count; ++r) {
                const int mine = model.packed.position[state.labels[row[who[m + r]]]] - p * W;
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
                    nearest[who[m + r + q] * model.yinyang.record + g] = found[q];
            }
        }
        n_members[g] = 0;
    }

    // Row z has met its groups: it stays, or must meet every mean.
    void confirm(int z) {
        const I8 lane = {1, 2, 4, 8, 16, 32, 64, 128};
        float* bounds = record(z);
        F8 best = eight(__builtin_inff()), low = best;
        for (int g = 0; g < model.yinyang.record; g += 8) {
            const I8 met = (eight(static_cast<int32_t>(meets[z] >> g & 255)) & lane) != 0;
            const F8 drift = load<F8>(model.yinyang.drift_of_group + g);
            const F8 found = load<F8>(nearest + z * model.yinyang.record + g),
                     kept = load<F8>(bounds + g);
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
        for (int g = 0; g < model.yinyang.record; g += 8)
            failing += __builtin_popcount(
                bits(load<F8>(bounds + g) - load<F8>(model.yinyang.drift_of_group + g) <= limit));
        bool stays = 2 * failing <= model.k;
        F8 low = eight(__builtin_inff());
        for (int g = 0; g < model.yinyang.record && stays; g += 8) {
            F8 bound = load<F8>(bounds + g) - load<F8>(model.yinyang.drift_of_group + g);
            for (uint32_t fails = bits(bound <= limit); fails; fails &= fails - 1) {
                const int q = __builtin_ctz(fails);
                const float found = proposal(z, g + q);
                stays = stays && found - own[z] > 2 * error[z];
                bound[q] = distance_below(z, found);
                bounds[g + q] =
                    (bound[q] + model.yinyang.drift_of_group[g + q]) * (1 - kBoundRounding);
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

    // 4. for all rows of the batch that wait for groups.
    void meet_groups() {
        if (!model.yinyang.panels_per_group || !state.bounds || state.fresh)
            return;
        for (int g = 0; g < model.yinyang.groups; ++g)
            meet_group(g);
        for (int z = 0; z < size; ++z)
            if (meets[z])
                confirm(z);
    }
};

} // namespace coterie::COTERIE_LEVEL::kmeans

// tree_index.cpp: DBSCAN over a kd-tree.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/level.hpp"
#include "dbscan/index.hpp"
#include "dbscan/kernels.hpp"

namespace coterie::dbscan {
namespace {

constexpr int32_t kListCapacity = 128; // neighbours listed of a point that may be a border
constexpr int64_t kListBudget = 8;     // and of all points together, on average
constexpr int64_t kSomeLeaves = 16;    // a chunk of work

template <class T> class TreeDensity final : public Index {
public:
    TreeDensity(Team& team, const Space& space, const TreeScaling& scaling)
        : space_(space), tree_(team, space, scaling), view_(tree_.view()),
          kernels_(tree_kernels<T>(space.norm(), space.width())),
          core_(static_cast<size_t>(view_.leaves)), open_(static_cast<size_t>(view_.leaves)) {
        task_ = {view_, tree_.radii(), &space_, &team};
    }

    const char* name() const override {
        return std::is_same_v<T, float> ? "tree" : "tree of float64";
    }

    void count(Team& team, const CoreRule& rule, uint8_t* core) override {
        lists_.assign(team.size(), {});
        known_.resize(rule.weights || rule.counts ? 0 : view_.leaves * kLeaf * kKnown);
        for_leaves(team, [&](int thread, int32_t leaf) {
            if (rule.weights)
                weigh_leaf(rule, thread, leaf);
            else
                count_leaf(rule, team, thread, leaf);
            for (uint32_t set = view_.filled[leaf]; set; set &= set - 1) {
                const int k = __builtin_ctz(set);
                core[row(leaf, k)] = core_[leaf] >> k & 1;
            }
        });
    }

    void connect(Team& team) override {
        parents_.resize(view_.leaves * kLeaf);
        first_.resize(view_.nodes);
        united_.resize(view_.nodes);
        state_ = {UnionFind(parents_.data()), core_.data(), first_.data(), united_.data()};
        for_leaves(team, [&](int, int32_t leaf) { kernels_.start(task_, state_, leaf); });
        if (known_.size())
            for_leaves(team, [&](int, int32_t leaf) { link_kin(leaf); });
        known_ = {};
        for_leaves(team, [&](int, int32_t leaf) { kernels_.link_inside(task_, state_, leaf); });
        for_leaves(team, [&](int, int32_t leaf) { kernels_.link_next(task_, state_, leaf); });
        gather_nodes(team);
        for_leaves(team, [&](int thread, int32_t leaf) {
            kernels_.link_before(task_, state_, thread, leaf);
        });
    }

    int64_t label(Team& team, int64_t* labels) override {
        const int64_t clusters = number_clusters(team);
        for_leaves(team, [&](int thread, int32_t leaf) {
            for (uint32_t set = view_.filled[leaf]; set; set &= set - 1) {
                const int k = __builtin_ctz(set);
                labels[row(leaf, k)] = core_[leaf] >> k & 1 ? cluster_of(leaf * kLeaf + k) : -1;
            }
            if (open_[leaf])
                label_by_visit(thread, leaf, labels);
        });
        team.for_chunks(static_cast<int64_t>(lists_.size()), 1,
                        [&](int thread, int64_t t, int64_t) {
                            label_by_list(team, thread, lists_[t], labels);
                        });
        return clusters;
    }

private:
    static constexpr int32_t kNone = std::numeric_limits<int32_t>::max();

    int32_t row(int32_t leaf, int k) const {
        return view_.rows[static_cast<int64_t>(leaf) * kLeaf + k];
    }

    template <class Work> void for_leaves(Team& team, Work work) {
        team.for_chunks(view_.leaves, kSomeLeaves, [&](int thread, int64_t begin, int64_t end) {
            for (int64_t leaf = begin; leaf < end; ++leaf)
                work(thread, static_cast<int32_t>(leaf));
        });
    }

    // Neighbours of points that are not core are kept, for then borders cost nothing; where they
    // are too many, the points stay open and are looked at again.
    struct Lists {
        std::vector<int32_t> near;    // while a leaf is counted
        std::vector<int32_t> entries; // slot, number of neighbours, their slots; and so on
    };

    void count_leaf(const CoreRule& rule, Team& team, int thread, int32_t leaf) {
        Lists& lists = lists_[thread];
        LeafCount count;
        count.enough =
            static_cast<int64_t>(std::ceil(std::max(0.0, std::min(rule.min_samples, 1e18))));
        count.all = rule.counts != nullptr;
        count.capacity = static_cast<int32_t>(std::min<int64_t>(kListCapacity, count.enough));
        lists.near.resize(static_cast<size_t>(kLeaf) * count.capacity);
        count.near = lists.near.data();
        count.known =
            known_.size() ? known_.data() + static_cast<int64_t>(leaf) * kLeaf * kKnown : nullptr;
        kernels_.count(task_, thread, leaf, count);
        core_[leaf] = count.core;
        if (rule.counts)
            for (uint32_t set = view_.filled[leaf]; set; set &= set - 1)
                rule.counts[row(leaf, __builtin_ctz(set))] = count.found[__builtin_ctz(set)];
        const int64_t budget = kListBudget * space_.n() / team.size() + (1 << 16);
        if (static_cast<int64_t>(lists.entries.size()) > budget)
            count.listed = 0;
        open_[leaf] = view_.filled[leaf] & ~count.core & ~count.listed;
        for (uint32_t set = count.listed; set; set &= set - 1) {
            const int k = __builtin_ctz(set);
            if (count.found[k] <= 1)
                continue; // only itself: noise
            const int32_t* near = count.near + static_cast<int64_t>(k) * count.capacity;
            lists.entries.push_back(leaf * kLeaf + k);
            lists.entries.push_back(static_cast<int32_t>(count.found[k]));
            lists.entries.insert(lists.entries.end(), near, near + count.found[k]);
        }
    }

    void weigh_leaf(const CoreRule& rule, int thread, int32_t leaf) {
        struct Sums {
            const TreeDensity& index;
            const double* weights;
            double sum[kLeaf] = {}, magnitude[kLeaf] = {};
            int64_t found[kLeaf] = {};
        } sums{*this, rule.weights};
        kernels_.visit(
            task_, view_, &space_, thread, leaf, view_.filled[leaf],
            [](void* to, int k, int32_t b, uint32_t hits) {
                auto& s = *static_cast<Sums*>(to);
                for (; hits; hits &= hits - 1) {
                    const double w = s.weights[s.index.row(b, __builtin_ctz(hits))];
                    s.sum[k] += w;
                    s.magnitude[k] += std::fabs(w);
                    ++s.found[k];
                }
            },
            &sums);
        uint32_t core = 0, close = 0;
        for (uint32_t set = view_.filled[leaf]; set; set &= set - 1) {
            const int k = __builtin_ctz(set);
            if (rule.counts)
                rule.counts[row(leaf, k)] = sums.found[k];
            const double error =
                sums.magnitude[k] * static_cast<double>(sums.found[k] + 4) * 0x1p-52;
            if (std::fabs(sums.sum[k] - rule.min_samples) <= error)
                close |= 1u << k;
            else if (sums.sum[k] > rule.min_samples)
                core |= 1u << k;
        }
        if (close)
            core |= weigh_exactly(rule, thread, leaf, close);
        core_[leaf] = core;
        open_[leaf] = view_.filled[leaf] & ~core;
    }

    uint32_t weigh_exactly(const CoreRule& rule, int thread, int32_t leaf, uint32_t close) {
        struct Weights {
            const TreeDensity& index;
            const double* weights;
            std::vector<double> near[kLeaf];
        } all{*this, rule.weights, {}};
        kernels_.visit(
            task_, view_, &space_, thread, leaf, close,
            [](void* to, int k, int32_t b, uint32_t hits) {
                auto& a = *static_cast<Weights*>(to);
                for (; hits; hits &= hits - 1)
                    a.near[k].push_back(a.weights[a.index.row(b, __builtin_ctz(hits))]);
            },
            &all);
        uint32_t core = 0;
        for (; close; close &= close - 1)
            if (enough_weight(all.near[__builtin_ctz(close)], rule.min_samples))
                core |= close & -close;
        return core;
    }

    // Neighbours that were met while counting: they connect most points, and
    // connected points are not compared again.
    void link_kin(int32_t leaf) {
        for (uint32_t set = core_[leaf]; set; set &= set - 1) {
            const int32_t slot = leaf * kLeaf + __builtin_ctz(set);
            for (int q = 0; q < kKnown; ++q)
                if (const int32_t other = known_[static_cast<int64_t>(slot) * kKnown + q];
                    other >= 0 && core_[other / kLeaf] >> other % kLeaf & 1)
                    state_.sets.unite(slot, other);
        }
    }

    // Nodes from the bottom up: their first core slot, and whether all core slots are united.
    void gather_nodes(Team& team) {
        for_leaves(team, [&](int, int32_t leaf) {
            const int32_t node = view_.leaf_node[leaf];
            if (united_[node])
                return;
            bool one = true;
            const uint32_t root = state_.sets.find(first_[node]);
            for (uint32_t set = core_[leaf]; set && one; set &= set - 1)
                one = state_.sets.find(leaf * kLeaf + __builtin_ctz(set)) == root;
            united_[node] = one;
        });
        gather_below(0);
    }

    void gather_below(int32_t v) {
        const int32_t a = view_.node[v].child, b = a + 1;
        if (a == kIsLeaf)
            return;
        if (a == kIsEmpty) {
            first_[v] = -1;
            united_[v] = 1;
            return;
        }
        gather_below(a);
        gather_below(b);
        first_[v] = first_[a] >= 0 ? first_[a] : first_[b];
        united_[v] = united_[a] && united_[b];
        if (!united_[v] || first_[a] < 0 || first_[b] < 0)
            return;
        if (!state_.sets.same(first_[a], first_[b])) {
            if (kernels_.clique(task_, v))
                state_.sets.unite(first_[a], first_[b]);
            else
                united_[v] = 0;
        }
    }

    // Clusters by their smallest core row. Afterwards number_[root] is the cluster of a root.
    int64_t number_clusters(Team& team) {
        number_.resize(view_.leaves * kLeaf);
        for_leaves(team, [&](int, int32_t leaf) {
            std::fill_n(number_.data() + static_cast<int64_t>(leaf) * kLeaf, kLeaf, kNone);
        });
        for_leaves(team, [&](int, int32_t leaf) {
            for (uint32_t set = core_[leaf]; set; set &= set - 1) {
                const int k = __builtin_ctz(set);
                lower(number_.data() + state_.sets.find(leaf * kLeaf + k), row(leaf, k));
            }
        });
        std::vector<std::pair<int32_t, int32_t>> roots; // smallest row, root
        for (int64_t slot = 0; slot < view_.leaves * kLeaf; ++slot)
            if (number_[slot] != kNone)
                roots.emplace_back(number_[slot], static_cast<int32_t>(slot));
        std::sort(roots.begin(), roots.end());
        for (size_t c = 0; c < roots.size(); ++c)
            number_[roots[c].second] = static_cast<int32_t>(c);
        return static_cast<int64_t>(roots.size());
    }

    int32_t cluster_of(uint32_t slot) const { return number_[state_.sets.find(slot)]; }

    // The lowest-numbered cluster among the core slots `hits` of a leaf.
    int32_t lowest_of(int32_t leaf, uint32_t hits, int32_t lowest) const {
        for (hits &= core_[leaf]; hits; hits &= hits - 1)
            lowest = std::min(lowest, cluster_of(leaf * kLeaf + __builtin_ctz(hits)));
        return lowest;
    }

    void label_by_visit(int thread, int32_t leaf, int64_t* labels) {
        struct Lowest {
            const TreeDensity& index;
            int32_t cluster[kLeaf];
        } lowest{*this, {}};
        std::fill_n(lowest.cluster, kLeaf, kNone);
        kernels_.visit(
            task_, view_, &space_, thread, leaf, open_[leaf],
            [](void* to, int k, int32_t b, uint32_t hits) {
                auto& l = *static_cast<Lowest*>(to);
                l.cluster[k] = l.index.lowest_of(b, hits, l.cluster[k]);
            },
            &lowest);
        for (uint32_t set = open_[leaf]; set; set &= set - 1) {
            const int k = __builtin_ctz(set);
            labels[row(leaf, k)] = lowest.cluster[k] == kNone ? -1 : lowest.cluster[k];
        }
    }

    void label_by_list(Team& team, int thread, const Lists& lists, int64_t* labels) {
        const std::vector<int32_t>& e = lists.entries;
        size_t turn = 0;
        for (size_t at = 0; at < e.size(); at += 2 + e[at + 1]) {
            if (++turn % 4096 == 0)
                team.check(thread);
            int32_t lowest = kNone;
            for (int32_t q = 0; q < e[at + 1]; ++q) {
                const int32_t slot = e[at + 2 + q];
                lowest = lowest_of(slot / kLeaf, 1u << slot % kLeaf, lowest);
            }
            if (lowest != kNone)
                labels[view_.rows[e[at]]] = lowest;
        }
    }

    const Space& space_;
    Tree<T> tree_;
    TreeView<T> view_;
    TreeTask<T> task_;
    TreeKernels<T> kernels_;
    Buffer<uint32_t> core_, open_; // (leaves,) core points; points whose border is still open
    std::vector<Lists> lists_;     // by thread
    Buffer<uint32_t> parents_;
    Buffer<int32_t> known_; // (leaves, kLeaf, kKnown)
    Buffer<int32_t> first_, number_;
    Buffer<uint8_t> united_;
    LinkState state_;
};

template <class T>
void reach_by(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
              const TreeScaling& scaling, int64_t* out) {
    const Tree<T> to(team, cores, scaling), from(team, queries, scaling);
    const TreeView<T> there = to.view(), here = from.view();
    const TreeTask<T> task{there, to.radii(), &cores, &team};
    const TreeKernels<T> kernels = tree_kernels<T>(cores.norm(), cores.width());
    constexpr int64_t none = std::numeric_limits<int64_t>::max();
    struct Lowest {
        const int32_t* rows;
        const int64_t* labels;
        int64_t cluster[kLeaf];
    };
    team.for_chunks(here.leaves, 1, [&](int thread, int64_t leaf, int64_t) {
        Lowest lowest{there.rows, core_labels, {}};
        std::fill_n(lowest.cluster, kLeaf, none);
        kernels.visit(
            task, here, &queries, thread, static_cast<int32_t>(leaf), here.filled[leaf],
            [](void* into, int k, int32_t b, uint32_t hits) {
                auto& l = *static_cast<Lowest*>(into);
                for (; hits; hits &= hits - 1)
                    l.cluster[k] = std::min(
                        l.cluster[k],
                        l.labels[l.rows[static_cast<int64_t>(b) * kLeaf + __builtin_ctz(hits)]]);
            },
            &lowest);
        for (uint32_t set = here.filled[leaf]; set; set &= set - 1) {
            const int k = __builtin_ctz(set);
            out[here.rows[leaf * kLeaf + k]] = lowest.cluster[k] == none ? -1 : lowest.cluster[k];
        }
    });
}

} // namespace

std::unique_ptr<Index> tree_density(Team& team, const Space& space, bool may_be_single) {
    const TreeScaling scaling = TreeScaling::around(team, {&space}, may_be_single);
    if (!(scaling.reach < 1e300)) // float64 coordinates in units of eps would overflow
        return brute_density(space);
    if (scaling.single)
        return std::make_unique<TreeDensity<float>>(team, space, scaling);
    return std::make_unique<TreeDensity<double>>(team, space, scaling);
}

void tree_reach(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
                int64_t* out) {
    const TreeScaling scaling = TreeScaling::around(team, {&cores, &queries});
    if (!(scaling.reach < 1e300))
        brute_reach(team, cores, core_labels, queries, out);
    else if (scaling.single)
        reach_by<float>(team, cores, core_labels, queries, scaling, out);
    else
        reach_by<double>(team, cores, core_labels, queries, scaling, out);
}

} // namespace coterie::dbscan

// every_eps.cpp: nearest rows by the tree, then Boruvka's rounds for the spanning tree.
#include "dbscan/every_eps.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/union_find.hpp"
#include "dbscan/kernels.hpp"

namespace coterie::dbscan {
namespace {

constexpr int64_t kSomeLeaves = 16; // a chunk of work
constexpr int64_t kSomeRows = 1 << 14;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Space wants to know how far is near; here it only says which rows there are.
TreeScaling frame_of(const Rows& rows, double unit) {
    TreeScaling scaling;
    scaling.centre.assign(rows.d, 0.0);
    scaling.unit = unit;
    return scaling;
}

struct Edge {
    double weight;
    int32_t a, b; // rows
    bool operator<(const Edge& other) const {
        if (weight != other.weight)
            return weight < other.weight;
        return a != other.a ? a < other.a : b < other.b;
    }
};

} // namespace

struct MutualReachability::Work {
    Space space;
    Tree<double> tree;
    TreeView<double> view;
    ReachabilityKernels kernels;
    int64_t min_samples, k, slots;
    Buffer<int32_t> slot_of; // (n,)

    // By slot.
    Buffer<double> core, least, floor, weight;
    Buffer<int32_t> component, other;
    Buffer<uint32_t> parents;
    // By node.
    Buffer<int32_t> node_component;
    Buffer<double> node_core;
    std::vector<Edge> edges;

    Work(Team& team, const Rows& rows, Metric metric, double unit, int64_t min_samples_)
        : space(team, rows, {metric, 2.0, 1.0}), tree(team, space, frame_of(rows, unit)),
          view(tree.view()), kernels(reachability_kernels(space.norm(), space.width())),
          min_samples(min_samples_), k(std::min(min_samples - 1, rows.n - 1)),
          slots(view.leaves * kLeaf), slot_of(rows.n) {
        for (int64_t s = 0; s < slots; ++s)
            if (view.rows[s] >= 0)
                slot_of[view.rows[s]] = static_cast<int32_t>(s);
    }

    template <class Each> void for_leaves(Team& team, Each each) {
        team.for_chunks(view.leaves, kSomeLeaves, [&](int thread, int64_t begin, int64_t end) {
            for (int64_t leaf = begin; leaf < end; ++leaf)
                each(thread, static_cast<int32_t>(leaf));
        });
    }
    // One thread, in order, with a look for signals now and then.
    template <class Each> void for_slots_in_order(Team& team, Each each) {
        for (int64_t s = 0; s < slots; ++s) {
            if (s % kSomeRows == 0)
                team.check(0);
            if (view.rows[s] >= 0)
                each(s, view.rows[s]);
        }
    }
    template <class Each> void for_slots(Team& team, Each each) {
        team.for_chunks(slots, kSomeRows, [&](int, int64_t begin, int64_t end) {
            for (int64_t s = begin; s < end; ++s)
                if (view.rows[s] >= 0)
                    each(s, view.rows[s]);
        });
    }

    void nearest(Team& team, const NearestRows& out);
    void start(Team& team, const NearestRows& near);
    void join_by_lists(Team& team, const NearestRows& near);
    void describe_components(Team& team);
    void look_into_lists(Team& team, const NearestRows& near);
    int64_t join_components(Team& team);
    bool join(int64_t a, int64_t b, double edge);
    void chain(Team& team, const ReachabilityPlot& out);
};

void MutualReachability::Work::nearest(Team& team, const NearestRows& out) {
    const int64_t n = space.n();
    team.for_chunks(n, kSomeRows, [&](int, int64_t begin, int64_t end) {
        std::fill(out.sums + begin * k, out.sums + end * k, kInfinite);
        std::fill(out.neighbours + begin * k, out.neighbours + end * k, -1);
    });
    const NearestTask task{view, k, out.sums, out.neighbours, &team};
    if (k > 0)
        for_leaves(team, [&](int thread, int32_t leaf) { kernels.nearest(task, thread, leaf); });
    team.for_chunks(n, kSomeRows, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            out.core[i] = min_samples > n ? kInfinite : k > 0 ? out.sums[i * k + k - 1] : 0.0;
            for (int64_t q = i * k; q < (i + 1) * k; ++q)
                if (out.neighbours[q] >= 0)
                    out.neighbours[q] = view.rows[out.neighbours[q]];
        }
    });
    team.for_chunks(n, kSomeRows, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            out.member[i] = out.core[i];
            for (int64_t q = i * k; q < (i + 1) * k && out.sums[q] < out.member[i]; ++q)
                out.member[i] =
                    std::min(out.member[i], std::max(out.sums[q], out.core[out.neighbours[q]]));
        }
    });
}

void MutualReachability::Work::start(Team& team, const NearestRows& near) {
    for (Buffer<double>* by_slot : {&core, &least, &floor, &weight})
        by_slot->resize(slots);
    component.resize(slots);
    other.resize(slots);
    parents.resize(slots);
    node_component.resize(view.nodes);
    node_core.resize(view.nodes);
    std::fill(core.data(), core.data() + slots, kInfinite);
    for_slots(team, [&](int64_t s, int32_t row) {
        core[s] = floor[s] = near.core[row];
        weight[s] = kInfinite;
        other[s] = -1;
        UnionFind(parents.data()).start(static_cast<uint32_t>(s), static_cast<uint32_t>(s));
    });
    edges.clear();
    edges.reserve(space.n());
}

bool MutualReachability::Work::join(int64_t a, int64_t b, double edge) {
    const UnionFind sets(parents.data());
    if (sets.same(static_cast<uint32_t>(a), static_cast<uint32_t>(b)))
        return false; // a tie has joined them already
    sets.unite(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
    edges.push_back({edge, view.rows[a], view.rows[b]});
    return true;
}

// No edge of a point is shorter than its core distance. One of just that length leads to every
// neighbour of its list that is core by then.
void MutualReachability::Work::join_by_lists(Team& team, const NearestRows& near) {
    for_slots_in_order(team, [&](int64_t s, int64_t row) {
        if (core[s] == kInfinite)
            return;
        for (int64_t q = row * k; q < (row + 1) * k; ++q)
            if (near.core[near.neighbours[q]] <= core[s]) {
                join(s, slot_of[near.neighbours[q]], core[s]);
                break;
            }
    });
}

void MutualReachability::Work::describe_components(Team& team) {
    const UnionFind sets(parents.data());
    for_slots(team, [&](int64_t s, int32_t) {
        component[s] = static_cast<int32_t>(sets.find(static_cast<uint32_t>(s)));
        least[s] = kInfinite;
    });
    for (int64_t v = view.nodes - 1; v >= 0; --v) { // children come after their parents
        const TreeNode& node = view.node[v];
        int32_t& all = node_component[v];
        all = kNothing;
        double lowest = kInfinite;
        if (node.child == kIsLeaf) {
            const int64_t first = static_cast<int64_t>(node.leaf) * kLeaf;
            all = component[first];
            for (int64_t s = first; s < first + node.points; ++s) {
                all = component[s] == all ? all : kMixed;
                lowest = std::min(lowest, core[s]);
            }
        } else if (node.child != kIsEmpty) {
            const int32_t a = node_component[node.child], b = node_component[node.child + 1];
            all = a == b || b == kNothing ? a : a == kNothing ? b : kMixed;
            lowest = std::min(node_core[node.child], node_core[node.child + 1]);
        }
        node_core[v] = lowest;
    }
}

// The lists of neighbours cost little, and keep most points from walking through the tree.
void MutualReachability::Work::look_into_lists(Team& team, const NearestRows& near) {
    for_slots(team, [&](int64_t s, int32_t row) {
        if (other[s] >= 0 && component[other[s]] == component[s]) {
            other[s] = -1;
            weight[s] = kInfinite;
        }
        if (other[s] < 0)
            for (int64_t q = row * k; q < (row + 1) * k && near.neighbours[q] >= 0; ++q) {
                const int32_t to = slot_of[near.neighbours[q]];
                const double w = std::max(core[s], core[to]);
                if (w < weight[s] && component[to] != component[s]) {
                    weight[s] = w;
                    other[s] = to;
                }
            }
    });
    for_slots_in_order(team, [&](int64_t s, int32_t) {
        if (weight[s] < least[component[s]])
            least[component[s]] = weight[s];
    });
}

// Every component takes its shortest edge; among equals that of its first point.
int64_t MutualReachability::Work::join_components(Team& team) {
    int64_t joined = 0;
    for_slots_in_order(team, [&](int64_t s, int32_t) {
        double& shortest = least[component[s]];
        if (other[s] >= 0 && weight[s] == shortest) {
            shortest = -1; // taken
            joined += join(s, other[s], weight[s]);
        }
    });
    return joined;
}

// Edges in increasing order put chains of rows one after the other, until one is left.
void MutualReachability::Work::chain(Team& team, const ReachabilityPlot& out) {
    const int64_t n = space.n();
    int64_t count = 0;
    auto look = [&] {
        if (++count % kSomeRows == 0)
            team.check(0);
    };
    std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
        look();
        return a < b;
    });
    Buffer<uint32_t> sets_of(n);
    Buffer<int32_t> last(n), next(n); // of the chain whose smallest row this is; row -> row
    Buffer<double> gap(n);
    const UnionFind sets(sets_of.data());
    for (int64_t i = 0; i < n; ++i) {
        sets.start(static_cast<uint32_t>(i), static_cast<uint32_t>(i));
        last[i] = static_cast<int32_t>(i);
        next[i] = -1;
        gap[i] = kInfinite;
    }
    for (const Edge& edge : edges) {
        look();
        uint32_t a = sets.find(static_cast<uint32_t>(edge.a));
        uint32_t b = sets.find(static_cast<uint32_t>(edge.b));
        if (b < a)
            std::swap(a, b);
        next[last[a]] = static_cast<int32_t>(b); // a chain begins with its smallest row
        gap[last[a]] = edge.weight;
        last[a] = last[b];
        sets.unite(a, b);
    }
    int64_t at = 0;
    for (int64_t i = 0; i < n; ++i)
        if (sets.find(static_cast<uint32_t>(i)) == i)
            for (int32_t row = static_cast<int32_t>(i); row >= 0; row = next[row]) {
                look();
                out.order[at] = row;
                out.height[at++] = gap[row];
            }
}

MutualReachability::MutualReachability(Team& team, const Rows& rows, Metric metric, double unit,
                                       int64_t min_samples) {
    if (metric != Metric::euclidean && metric != Metric::manhattan && metric != Metric::chebyshev)
        throw std::invalid_argument("expected metric euclidean, manhattan or chebyshev");
    if (rows.n < 1 || rows.n > std::numeric_limits<int32_t>::max() / 2)
        throw std::invalid_argument("expected 1 to 2^30 rows");
    if (min_samples < 1)
        throw std::invalid_argument("expected min_samples of at least 1");
    work_ = std::make_unique<Work>(team, rows, metric, unit, min_samples);
}

MutualReachability::~MutualReachability() = default;
int64_t MutualReachability::n() const { return work_->space.n(); }
int64_t MutualReachability::k() const { return work_->k; }
void MutualReachability::nearest(Team& team, const NearestRows& out) { work_->nearest(team, out); }

void MutualReachability::span(Team& team, const NearestRows& near, const ReachabilityPlot& out) {
    Work& work = *work_;
    work.start(team, near);
    work.join_by_lists(team, near);
    for (int64_t joined = 1; joined > 0;) {
        work.describe_components(team);
        work.look_into_lists(team, near);
        const ForeignTask task{work.view,
                               work.core.data(),
                               work.component.data(),
                               work.node_component.data(),
                               work.node_core.data(),
                               work.least.data(),
                               work.floor.data(),
                               work.weight.data(),
                               work.other.data(),
                               &team};
        if (work.node_component[0] == kMixed)
            work.for_leaves(
                team, [&](int thread, int32_t leaf) { work.kernels.foreign(task, thread, leaf); });
        joined = work.join_components(team);
    }
    work.chain(team, out);
}

} // namespace coterie::dbscan

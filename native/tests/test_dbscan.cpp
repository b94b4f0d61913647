// test_dbscan.cpp: union-find, the tree, and DBSCAN over every index.
#include "dbscan/index.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

#include "core/union_find.hpp"
#include "dbscan/clique_grid.hpp"
#include "dbscan/kd_tree.hpp"
#include "tests/check.hpp"

using namespace coterie;
using namespace coterie::dbscan;

namespace {

// Threads unite the same random pairs in different orders; the smallest element stands for all.
void union_find_is_the_same_for_any_order() {
    constexpr uint32_t n = 3000;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    Random random{7};
    for (int q = 0; q < 2500; ++q)
        pairs.emplace_back(random.below(n), random.below(n));
    std::vector<uint32_t> plain(n);
    for (uint32_t i = 0; i < n; ++i)
        plain[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto [a, b] : pairs) {
            const uint32_t least = std::min(plain[a], plain[b]);
            changed |= plain[a] != least || plain[b] != least;
            plain[a] = plain[b] = least;
        }
    }
    std::vector<uint32_t> parents(n);
    const UnionFind sets(parents.data());
    for (uint32_t i = 0; i < n; ++i)
        sets.start(i, i);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (size_t q = 0; q < pairs.size(); ++q) {
                const auto [a, b] = pairs[(q * (2 * t + 1) + 600 * t) % pairs.size()];
                sets.unite(a, b);
                CHECK(sets.same(a, b));
            }
        });
    for (auto& thread : threads)
        thread.join();
    for (auto [a, b] : pairs)
        sets.unite(a, b);
    for (uint32_t i = 0; i < n; ++i)
        CHECK(sets.find(i) == plain[i]);
}

std::vector<double> points(int64_t n, int d, bool lattice, uint64_t seed) {
    Random random{seed};
    std::vector<double> x(n * d);
    for (double& value : x)
        value = lattice ? 0.1 * random.below(12) : 3 * random.uniform();
    return x;
}

Rows rows_of(const std::vector<double>& x, int d) {
    Rows rows;
    rows.n = static_cast<int64_t>(x.size()) / d;
    rows.d = d;
    rows.values = x.data();
    return rows;
}

// Every row in one leaf, every point inside the boxes of its leaf and of all nodes above.
template <class T> void check_tree(const std::vector<double>& x, int d, int threads) {
    Team team(threads);
    const Space space(team, rows_of(x, d), {Metric::euclidean, 2.0, 0.3});
    const TreeScaling scaling = TreeScaling::around(team, {&space}, std::is_same_v<T, float>);
    CHECK(scaling.single == (std::is_same_v<T, float>));
    const Tree<T> tree(team, space, scaling);
    const TreeView<T> view = tree.view();
    std::vector<int> seen(space.n());
    for (int64_t leaf = 0; leaf < view.leaves; ++leaf)
        for (int k = 0; k < kLeaf; ++k) {
            const int32_t row = view.rows[leaf * kLeaf + k];
            CHECK((row >= 0) == (view.filled[leaf] >> k & 1));
            if (row < 0)
                continue;
            ++seen[row];
            for (int32_t v = view.leaf_node[leaf]; v >= 0; v = view.node[v].parent)
                for (int l = 0; l < d; ++l) {
                    const T c = view.points[(leaf * d + l) * kLeaf + k];
                    const T* box = view.boxes + static_cast<int64_t>(v) * 2 * view.stride;
                    CHECK(c == static_cast<T>(
                                   (x[static_cast<int64_t>(row) * d + l] - scaling.centre[l]) *
                                   scaling.unit));
                    CHECK(box[l] <= c && c <= box[view.stride + l]);
                }
        }
    for (int count : seen)
        CHECK(count == 1);
    CHECK(view.node[0].points == space.n());
    CHECK(view.node[0].parent == -1);
}

void trees_hold_every_row() {
    for (int threads : {1, 3})
        for (int d : {1, 2, 3, 5, 20})
            for (int64_t n : {1, 31, 32, 33, 700, 6000}) {
                check_tree<float>(points(n, d, false, n + d), d, threads);
                check_tree<double>(points(n, d, true, n + d), d, threads);
            }
    check_tree<float>(std::vector<double>(20000, 0.5), 2, 2); // all rows are equal
}

// Every row in one slot, in a cell of the grid, whose points are all nearby each other.
void check_grid(const std::vector<double>& x, double eps, int threads) {
    Team team(threads);
    const Space space(team, rows_of(x, 2), {Metric::euclidean, 2.0, eps});
    const GridLayout layout = GridLayout::around(team, space);
    CHECK(layout.why_not.empty());
    CliqueGrid grid(team, space, layout);
    const GridView view = grid.view();
    std::vector<int> seen(space.n());
    CHECK(view.start[view.cells] == space.n());
    for (int32_t c = 0; c < view.cells; ++c) {
        const int32_t row = view.key[c] / view.stride, column = view.key[c] % view.stride;
        CHECK(view.start[c] < view.start[c + 1]);
        CHECK(row < layout.height && column < layout.width);
        CHECK(view.key[c] < view.key[c + 1]); // beyond the last one too
        for (int32_t i = view.start[c]; i < view.start[c + 1]; ++i) {
            ++seen[view.row[i]];
            CHECK(space.nearby(view.row[view.start[c]], view.row[i]));
            CHECK(i == view.start[c] || view.row[i - 1] < view.row[i]);
            CHECK(std::fabs(view.x[i] + 0.5 * layout.width - column - 0.5) < 0.501);
            CHECK(std::fabs(view.y[i] + 0.5 * layout.height - row - 0.5) < 0.501);
        }
    }
    for (int count : seen)
        CHECK(count == 1);
}

// Marked and other points apart, each in the order and the cells that they had.
void check_division(const std::vector<double>& x, double eps, int threads) {
    Team team(threads);
    const Space space(team, rows_of(x, 2), {Metric::euclidean, 2.0, eps});
    const GridLayout layout = GridLayout::around(team, space);
    CliqueGrid grid(team, space, layout);
    const GridView view = grid.view();
    std::vector<std::pair<int32_t, int32_t>> wanted[2]; // key, row
    std::vector<uint8_t> marks(space.n());
    std::vector<int32_t> marked(view.cells);
    for (int32_t c = 0; c < view.cells; ++c)
        for (int32_t i = view.start[c]; i < view.start[c + 1]; ++i) {
            marks[i] = view.key[c] % 3 == 0 || view.row[i] % 3 == 1;
            marked[c] += marks[i];
            wanted[marks[i]].emplace_back(view.key[c], view.row[i]);
        }
    grid.divide(team, marks.data(), marked.data());
    for (int side : {0, 1}) {
        const GridView part = side ? grid.view() : grid.left_out();
        std::vector<std::pair<int32_t, int32_t>> found;
        for (int32_t c = 0; c < part.cells; ++c) {
            CHECK(part.start[c] < part.start[c + 1]);
            CHECK(part.key[c] < part.key[c + 1]);
            for (int32_t i = part.start[c]; i < part.start[c + 1]; ++i) {
                found.emplace_back(part.key[c], part.row[i]);
                const int32_t row = part.key[c] / part.stride;
                CHECK(std::fabs(part.y[i] + 0.5 * layout.height - row - 0.5) < 0.501);
            }
        }
        CHECK(found == wanted[side]);
    }
}

void grids_hold_every_row() {
    for (int threads : {1, 3})
        for (int64_t n : {1, 2, 100, 6000, 40000})
            for (double eps : {0.05, 0.3, 20.0}) {
                check_grid(points(n, 2, false, n), eps, threads);
                check_grid(points(n, 2, true, n), eps, threads);
                check_division(points(n, 2, true, n), eps, threads);
            }
    check_grid(std::vector<double>(20000, 0.5), 0.1, 2); // all rows are equal
}

struct Answer {
    std::vector<int64_t> labels, counts;
    std::vector<uint8_t> core;
    bool operator==(const Answer&) const = default;
};

Answer answer(const std::vector<double>& x, int d, const char* index, int threads, Metric metric,
              const double* weights, bool counts) {
    Team team(threads);
    const Space space(team, rows_of(x, d), {metric, 3.0, 0.3});
    const auto density = make_index(team, space, index);
    Answer out;
    out.labels.resize(space.n());
    out.core.resize(space.n());
    out.counts.resize(counts ? space.n() : 0);
    density->count(team, {4, weights, counts ? out.counts.data() : nullptr}, out.core.data());
    density->connect(team);
    density->label(team, out.labels.data());
    return out;
}

void every_index_gives_the_same() {
    const Metric metrics[] = {Metric::euclidean, Metric::manhattan, Metric::chebyshev,
                              Metric::minkowski};
    for (Metric metric : metrics)
        for (int d : {1, 2, 3, 9})
            for (int turn = 0; turn < 6; ++turn) {
                const std::vector<double> x = points(turn < 4 ? 300 : 2500, d, turn % 2, turn);
                std::vector<double> weights(x.size() / d);
                Random random{3};
                for (double& w : weights)
                    w = 0.25 * (random.below(12) - 2);
                const double* some = turn % 3 ? nullptr : weights.data();
                const Answer expected = answer(x, d, "brute", 2, metric, some, turn % 2);
                for (const char* index : {"grid", "tree", "tree64"})
                    for (int threads : {1, 4})
                        CHECK(answer(x, d, index, threads, metric, some, turn % 2) == expected);
            }
}

void weights_are_summed_exactly() {
    std::vector<double> almost{0.3, 0.7}, under{1 - 0x1p-53, -0x1p-60}, cancel{1e300, 2, -1e300};
    CHECK(enough_weight(almost, 1)); // a little less than one, rounded to it
    CHECK(!enough_weight(under, 1));
    CHECK(enough_weight(cancel, 2));
    CHECK(!enough_weight(cancel, 2.5));
}

struct Interrupt {};

void a_long_count_can_be_ended() {
    int polls = 0;
    Team team(2, [&polls] {
        if (++polls == 40)
            throw Interrupt();
    });
    const std::vector<double> x = points(20000, 3, false, 1);
    const Space space(team, rows_of(x, 3), {Metric::euclidean, 2.0, 0.5});
    bool ended = false;
    try {
        const auto density = make_index(team, space, "brute");
        std::vector<uint8_t> core(space.n());
        std::vector<int64_t> counts(space.n());
        density->count(team, {5, nullptr, counts.data()}, core.data());
    } catch (const Interrupt&) {
        ended = true;
    }
    CHECK(ended);
}

} // namespace

void test_density() {
    union_find_is_the_same_for_any_order();
    trees_hold_every_row();
    grids_hold_every_row();
    every_index_gives_the_same();
    weights_are_summed_exactly();
    a_long_count_can_be_ended();
}

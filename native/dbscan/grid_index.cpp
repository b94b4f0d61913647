// grid_index.cpp: DBSCAN over a grid of cliques.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "dbscan/index.hpp"
#include "dbscan/kernels.hpp"

namespace coterie::dbscan {
namespace {

class GridDensity final : public Index {
public:
    GridDensity(Team& team, const Space& space, const GridLayout& layout)
        : space_(space), grid_(team, space, layout), kernels_(grid_kernels()) {
        task_ = {grid_.view(), &space_, &team};
        char text[96];
        std::snprintf(text, sizeof text, "two columns, and %.3g points in an occupied cell",
                      static_cast<double>(space.n()) / std::max(1, task_.grid.cells));
        why = text;
    }

    const char* name() const override { return "grid"; }

    void count(Team& team, const CoreRule& rule, uint8_t* core) override {
        const GridView& grid = task_.grid;
        Buffer<uint8_t> flags(space_.n()); // by slot
        Buffer<int32_t> cores(grid.cells);
        Buffer<int64_t> found(rule.counts ? space_.n() : 0);
        int64_t* counts = rule.counts ? found.data() : nullptr;
        const auto enough =
            static_cast<int64_t>(std::ceil(std::max(0.0, std::min(rule.min_samples, 1e18))));
        for_cells(team, grid, [&](int thread, int32_t begin, int32_t end) {
            if (rule.weights)
                weigh(rule, thread, begin, end, flags.data(), cores.data(), counts);
            else
                kernels_.count(task_, thread, begin, end, enough, flags.data(), cores.data(),
                               counts);
            for (int32_t i = grid.start[begin]; i < grid.start[end]; ++i) {
                core[grid.row[i]] = flags[i];
                if (counts)
                    rule.counts[grid.row[i]] = counts[i];
            }
        });
        grid_.divide(team, flags.data(), cores.data());
        task_.grid = grid_.view(); // from here on of core points
    }

    void connect(Team& team) override {
        const int32_t cells = task_.grid.cells;
        parents_.resize(cells);
        roots_.resize(cells + kBeyond);
        first_.resize(cells);
        links_ = {UnionFind(parents_.data()), roots_.data()};
        for_cells(team, task_.grid, [&](int, int32_t begin, int32_t end) {
            for (int32_t c = begin; c < end; ++c) {
                links_.sets.start(c, c);
                first_[c] = std::numeric_limits<int32_t>::max();
            }
        });
        for_cells(team, task_.grid, [&](int thread, int32_t begin, int32_t end) {
            kernels_.link_near(task_, thread, begin, end, links_);
        });
        for_cells(team, task_.grid, [&](int, int32_t begin, int32_t end) {
            for (int32_t c = begin; c < end; ++c)
                roots_[c] = static_cast<int32_t>(links_.sets.find(c));
        });
        for_cells(team, task_.grid, [&](int thread, int32_t begin, int32_t end) {
            kernels_.link_far(task_, thread, begin, end, links_);
        });
        // The smallest core row of a set, which is the first of its cell.
        for_cells(team, task_.grid, [&](int, int32_t begin, int32_t end) {
            for (int32_t c = begin; c < end; ++c) {
                roots_[c] = static_cast<int32_t>(links_.sets.find(c));
                lower(first_.data() + roots_[c], task_.grid.row[task_.grid.start[c]]);
            }
        });
    }

    int64_t label(Team& team, int64_t* labels) override {
        const GridView &cores = task_.grid, others = grid_.left_out();
        const int64_t clusters = number_clusters();
        Buffer<int32_t> number(cores.start[cores.cells] + kBeyond); // by slot
        for_cells(team, cores, [&](int, int32_t begin, int32_t end) {
            for (int32_t c = begin; c < end; ++c)
                for (int32_t i = cores.start[c]; i < cores.start[c + 1]; ++i)
                    labels[cores.row[i]] = number[i] = first_[roots_[c]];
        });
        for_cells(team, others, [&](int thread, int32_t begin, int32_t end) {
            kernels_.join(task_, others, thread, begin, end, number.data(), labels);
        });
        return clusters;
    }

private:
    template <class Work> void for_cells(Team& team, const GridView& grid, Work work) {
        team.for_chunks(grid.cells, some_cells(grid.cells),
                        [&](int thread, int64_t begin, int64_t end) {
                            work(thread, static_cast<int32_t>(begin), static_cast<int32_t>(end));
                        });
    }

    // Sums of weights; those too close to min_samples to tell are added exactly.
    void weigh(const CoreRule& rule, int thread, int32_t begin, int32_t end, uint8_t* flags,
               int32_t* cores, int64_t* counts) {
        const GridView& grid = task_.grid;
        struct Weights {
            const int32_t* rows;
            const double* weights;
            std::vector<std::vector<double>> near;
            int32_t first;
        } all{grid.row, rule.weights, {}, 0};
        for (int32_t cell = begin; cell < end; ++cell) {
            all.first = grid.start[cell];
            all.near.assign(grid.start[cell + 1] - all.first, {});
            cores[cell] = 0;
            kernels_.visit(
                task_, thread, cell, cell + 1,
                [](void* to, int32_t slot, int32_t first, uint32_t hits) {
                    auto& a = *static_cast<Weights*>(to);
                    for (; hits; hits &= hits - 1)
                        a.near[slot - a.first].push_back(
                            a.weights[a.rows[first + __builtin_ctz(hits)]]);
                },
                &all);
            for (size_t k = 0; k < all.near.size(); ++k) {
                if (counts)
                    counts[all.first + k] = static_cast<int64_t>(all.near[k].size());
                flags[all.first + k] = enough_weight(all.near[k], rule.min_samples);
                cores[cell] += flags[all.first + k];
            }
        }
    }

    // Clusters by their smallest core row: numbers take the place of rows.
    int64_t number_clusters() {
        std::vector<std::pair<int32_t, int32_t>> roots; // smallest row, root
        for (int32_t c = 0; c < task_.grid.cells; ++c)
            if (roots_[c] == c)
                roots.emplace_back(first_[c], c);
        std::sort(roots.begin(), roots.end());
        for (size_t k = 0; k < roots.size(); ++k)
            first_[roots[k].second] = static_cast<int32_t>(k);
        return static_cast<int64_t>(roots.size());
    }

    const Space& space_;
    CliqueGrid grid_;
    GridKernels kernels_;
    GridTask task_;
    Buffer<uint32_t> parents_;      // (cells,)
    Buffer<int32_t> roots_, first_; // (cells,) the set of a cell; at its root its smallest core row
    CellLinks links_;
};

} // namespace

std::unique_ptr<Index> grid_density(Team& team, const Space& space, std::string& why_not) {
    const GridLayout layout = GridLayout::around(team, space);
    why_not = layout.why_not;
    if (!why_not.empty())
        return nullptr;
    return std::make_unique<GridDensity>(team, space, layout);
}

} // namespace coterie::dbscan

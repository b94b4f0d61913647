// density_grid.cpp: DBSCAN over a grid of cliques.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "coterie/density.hpp"
#include "coterie/grid_kernels.hpp"

namespace coterie {
namespace {

class GridDensity final : public DensityIndex {
public:
    GridDensity(Team& team, const Space& space, const GridFrame& frame)
        : space_(space), grid_(team, space, frame), view_(grid_.view()), kernels_(grid_kernels()),
          cores_(view_.cells) {
        task_ = {view_, &space_, &team};
        char text[96];
        std::snprintf(text, sizeof text, "two columns, and %.3g points in an occupied cell",
                      static_cast<double>(view_.n) / std::max(1, view_.cells));
        why = text;
    }

    const char* name() const override { return "grid"; }

    void count(Team& team, const CoreRule& rule, uint8_t* core) override {
        Buffer<uint8_t> flags(view_.n); // by slot
        Buffer<int64_t> found(rule.counts ? view_.n : 0);
        int64_t* counts = rule.counts ? found.data() : nullptr;
        const auto enough =
            static_cast<int64_t>(std::ceil(std::max(0.0, std::min(rule.min_samples, 1e18))));
        for_cells(team, [&](int thread, int32_t begin, int32_t end) {
            if (rule.weights)
                weigh(rule, thread, begin, end, flags.data(), counts);
            else
                kernels_.count(task_, thread, begin, end, enough, flags.data(), counts);
            for (int32_t i = view_.start[begin]; i < view_.start[end]; ++i) {
                core[view_.row[i]] = flags[i];
                if (counts)
                    rule.counts[view_.row[i]] = counts[i];
            }
        });
        grid_.marked_first(team, flags.data(), cores_.data());
    }

    void connect(Team& team) override {
        parents_.resize(view_.cells);
        roots_.resize(view_.cells + kBeyond);
        std::fill_n(roots_.data() + view_.cells, kBeyond, -1);
        links_ = {UnionFind(parents_.data()), cores_.data(), roots_.data(), nullptr};
        for_cells(team, [&](int, int32_t begin, int32_t end) {
            for (int32_t c = begin; c < end; ++c)
                links_.sets.start(c, c);
        });
        for_cells(team, [&](int thread, int32_t begin, int32_t end) {
            kernels_.link_near(task_, thread, begin, end, links_);
        });
        find_roots(team);
        for_cells(team, [&](int thread, int32_t begin, int32_t end) {
            kernels_.link_far(task_, thread, begin, end, links_);
        });
        find_roots(team);
    }

    int64_t label(Team& team, int64_t* labels) override {
        Buffer<int32_t> number(view_.cells);
        const int64_t clusters = number_clusters(team, number.data());
        links_.number = number.data();
        for_cells(team, [&](int thread, int32_t begin, int32_t end) {
            kernels_.label(task_, thread, begin, end, links_, labels);
        });
        return clusters;
    }

private:
    template <class Work> void for_cells(Team& team, Work work) {
        team.for_chunks(view_.cells, some_cells(view_.cells),
                        [&](int thread, int64_t begin, int64_t end) {
                            work(thread, static_cast<int32_t>(begin), static_cast<int32_t>(end));
                        });
    }

    // Sums of weights; those too close to min_samples to tell are added exactly.
    void weigh(const CoreRule& rule, int thread, int32_t begin, int32_t end, uint8_t* flags,
               int64_t* counts) {
        struct Weights {
            const int32_t* rows;
            const double* weights;
            std::vector<std::vector<double>> near;
            int32_t first;
        } all{view_.row, rule.weights, {}, 0};
        for (int32_t cell = begin; cell < end; ++cell) {
            all.first = view_.start[cell];
            all.near.assign(view_.start[cell + 1] - all.first, {});
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
            }
        }
    }

    void find_roots(Team& team) {
        for_cells(team, [&](int, int32_t begin, int32_t end) {
            for (int32_t c = begin; c < end; ++c)
                roots_[c] = cores_[c] ? static_cast<int32_t>(links_.sets.find(c)) : -1;
        });
    }

    // Clusters by their smallest core row, which is the first of its cell. number: (cells,) out,
    // at the root of each set.
    int64_t number_clusters(Team& team, int32_t* number) {
        for_cells(team, [&](int, int32_t begin, int32_t end) {
            std::fill_n(number + begin, end - begin, std::numeric_limits<int32_t>::max());
        });
        for_cells(team, [&](int, int32_t begin, int32_t end) {
            for (int32_t c = begin; c < end; ++c)
                if (cores_[c])
                    lower(number + roots_[c], view_.row[view_.start[c]]);
        });
        std::vector<std::pair<int32_t, int32_t>> roots; // smallest row, root
        for (int32_t c = 0; c < view_.cells; ++c)
            if (roots_[c] == c)
                roots.emplace_back(number[c], c);
        std::sort(roots.begin(), roots.end());
        for (size_t k = 0; k < roots.size(); ++k)
            number[roots[k].second] = static_cast<int32_t>(k);
        return static_cast<int64_t>(roots.size());
    }

    const Space& space_;
    CliqueGrid grid_;
    GridView view_;
    GridTask task_;
    GridKernels kernels_;
    Buffer<int32_t> cores_, roots_; // (cells,) core points; the set of a cell, -1 without them
    Buffer<uint32_t> parents_;
    CellLinks links_;
};

} // namespace

std::unique_ptr<DensityIndex> grid_density(Team& team, const Space& space, std::string& why_not) {
    const GridFrame frame = GridFrame::around(team, space);
    why_not = frame.why_not;
    if (!why_not.empty())
        return nullptr;
    return std::make_unique<GridDensity>(team, space, frame);
}

} // namespace coterie

// mixture_sweep.cpp: sweeping a block for a Gaussian mixture, along the tree of chunks.
#include <algorithm>
#include <map>
#include <mutex>

#include "coterie/kernels.hpp"
#include "coterie/mixture.hpp"

namespace coterie {
namespace {

constexpr int kMostParts = 8; // of the moments of a component

// Directions towards other means pay for rows enough, and should not take too much memory.
constexpr int64_t kDirectedRows = 8; // for each component
constexpr size_t kMostDirections = size_t{1} << 20;

// Sums of chunks, joined with their siblings as soon as both are there.
class Tree {
public:
    explicit Tree(size_t size) : size_(size) {}

    Buffer<double, Pages> blank() {
        {
            const std::lock_guard lock(mutex_);
            if (!spare_.empty()) {
                Buffer<double, Pages> out = std::move(spare_.back());
                spare_.pop_back();
                return out;
            }
        }
        return Buffer<double, Pages>(size_);
    }

    void add(int64_t index, Buffer<double, Pages> sums) {
        for (int level = 0;; ++level, index >>= 1) {
            Buffer<double, Pages> sibling;
            {
                const std::lock_guard lock(mutex_);
                const auto found = nodes_.find({level, index ^ 1});
                if (found == nodes_.end()) {
                    nodes_.emplace(std::make_pair(level, index), std::move(sums));
                    return;
                }
                sibling = std::move(found->second);
                nodes_.erase(found);
            }
            for (size_t i = 0; i < size_; ++i) // of two numbers, so the order does not matter
                sums[i] += sibling[i];
            const std::lock_guard lock(mutex_);
            spare_.push_back(std::move(sibling));
        }
    }

    std::vector<Node> nodes() {
        std::vector<Node> out;
        for (auto& [place, sums] : nodes_)
            out.push_back({place.first, place.second, std::move(sums)});
        return out;
    }

private:
    size_t size_;
    std::mutex mutex_;
    std::map<std::pair<int, int64_t>, Buffer<double, Pages>> nodes_;
    std::vector<Buffer<double, Pages>> spare_;
};

// Each thread sums chunks of its own.
std::vector<Node> sweep_chunks(Team& team, const MixtureTask& task, int64_t first) {
    const Kernels& level = kernels();
    const int64_t rows = task.shape.shared() ? 1024 : task.shape.chunk_rows();
    const int64_t before = first / rows, chunks = (task.rows->n + rows - 1) / rows;
    std::vector<Buffer<double, Pages>> scratch(team.size());
    Tree tree(task.sums ? task.shape.size() : 0);
    team.for_chunks(chunks, 1, [&](int thread, int64_t begin, int64_t end) {
        for (int64_t chunk = begin; chunk < end; ++chunk) {
            scratch[thread].resize(level.mixture_doubles(task) + 8);
            Buffer<double, Pages> sums;
            if (task.sums)
                sums = tree.blank();
            level.mixture(task, chunk * rows, std::min(task.rows->n, (chunk + 1) * rows),
                          scratch[thread].data(), sums.data(), Pause{&team, thread});
            if (task.sums)
                tree.add(before + chunk, std::move(sums));
        }
    });
    return tree.nodes();
}

// Many columns: moments are as large as many rows, so all threads add to one set of them. A stretch
// of rows is shared out twice: leaf by leaf for the degrees, then by components, and by parts of
// their moments where components are few.
std::vector<Node> sweep_shared(Team& team, MixtureTask task, int64_t first) {
    const Kernels& level = kernels();
    const SumsShape shape = task.shape;
    const int64_t rows = shape.chunk_rows(), n = task.rows->n, before = first / rows;
    const int parts = std::clamp((4 * team.size() - 1) / shape.k, 1, kMostParts);
    std::vector<Buffer<double, Pages>> scratch(team.size());
    Buffer<double, Pages> shares(static_cast<size_t>(shape.k) * kStretch);
    double likelihoods[kStretch / kLeafRows];
    task.sums = false;
    task.shares = shares.data();
    const size_t room = std::max(level.mixture_doubles(task), level.moments_doubles(task)) + 8;
    Tree tree(shape.size());
    for (int64_t chunk = 0; chunk * rows < n; ++chunk) {
        Buffer<double, Pages> sums = tree.blank();
        sums.zero();
        const int64_t last = std::min(n, (chunk + 1) * rows);
        for (int64_t at = chunk * rows; at < last; at += kStretch) {
            const int64_t end = std::min(last, at + kStretch);
            const int64_t leaves = (end - at + kLeafRows - 1) / kLeafRows;
            task.shared_from = at;
            team.for_chunks(leaves, 1, [&](int thread, int64_t leaf, int64_t) {
                scratch[thread].resize(room);
                const int64_t begin = at + leaf * kLeafRows;
                level.mixture(task, begin, std::min(end, begin + kLeafRows), scratch[thread].data(),
                              likelihoods + leaf, Pause{&team, thread});
            });
            for (int64_t leaf = 0; leaf < leaves; ++leaf)
                sums[0] += likelihoods[leaf];
            team.for_chunks(shape.k * parts, 1, [&](int thread, int64_t piece, int64_t) {
                scratch[thread].resize(room);
                level.mixture_moments(task, end, static_cast<int>(piece / parts),
                                      static_cast<int>(piece % parts), parts,
                                      scratch[thread].data(), sums.data(), Pause{&team, thread});
            });
        }
        tree.add(before + chunk, std::move(sums));
    }
    return tree.nodes();
}

} // namespace

std::vector<Node> sweep(Team& team, const MixtureTask& given, int64_t first) {
    MixtureTask task = given;
    std::atomic<bool> crowded{false};
    task.crowded = &crowded;
    const int k = task.shape.k, d = task.shape.d, padded = (d + 3) / 4 * 4;
    Buffer<float, Pages> directions, units;
    if (task.screened() && task.rows->n >= kDirectedRows * k &&
        k * product_size(k, d) <= kMostDirections) {
        directions.resize(k * product_size(k, d));
        directions.zero();
        units.resize(static_cast<size_t>(k) * k * padded);
        team.for_chunks(k, 1, [&](int, int64_t c, int64_t) {
            kernels().mixture_directions(task, static_cast<int>(c), directions.data(),
                                         units.data());
        });
        task.directions = directions.data();
        task.units = units.data();
    }
    return task.sums && task.shape.shared() ? sweep_shared(team, task, first)
                                            : sweep_chunks(team, task, first);
}

} // namespace coterie

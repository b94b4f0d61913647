// sweep.cpp: sweeping a block for a Gaussian mixture, along the tree of chunks.
#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "core/level.hpp"
#include "mixture/kernels.hpp"
#include "mixture/mixture.hpp"

namespace coterie::mixture {
namespace {

constexpr int kMostParts = 8; // of the moments of a component

// From every component towards the mean of every other.
struct Directions {
    Buffer<float, Pages> by_column, units;

    // Each component finds its own, and then all are put side by side: threads that write
    // neighbours of one line of memory would wait for each other.
    void find(Team& team, MixtureTask& task) {
        const int k = task.shape.k, d = task.shape.d, padded = (d + 3) / 4 * 4;
        const size_t size = product_size(k, d), wide = side_by_side(k);
        Buffer<float, Pages> each(static_cast<size_t>(k) * k * (1 + d));
        by_column.resize(k * size);
        units.resize(static_cast<size_t>(k) * k * padded);
        const Kernels& kernels = *level().mixture;
        const size_t room = kernels.directions_scratch(task);
        team.for_chunks(k, 1, [&](int thread, int64_t c, int64_t) {
            kernels.find_directions(task, static_cast<int>(c), team.room(thread, room), each.data(),
                                    units.data());
        });
        for (int own = 0; own < k; ++own)
            for (int i = 0; i <= d; ++i) {
                float* out = by_column.data() + own * size + i * wide;
                for (int c = 0; c < k; ++c)
                    out[c] = each[(static_cast<size_t>(c) * k + own) * (1 + d) + i];
                std::fill(out + k, out + wide, 0.f);
            }
        task.screen.directions = by_column.data();
        task.screen.units = units.data();
    }
};

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

// Numbers that are added up over chunks.
size_t size_of(const MixtureTask& task) {
    return !task.m_step.sums ? 0 : task.m_step.moments ? task.shape.size() : 1;
}

// Each thread sums chunks of its own.
std::vector<Node> sweep_chunks(Team& team, MixtureTask task, int64_t first) {
    const Kernels& kernels = *level().mixture;
    const int64_t rows = task.shape.shared() ? 1024 : task.shape.chunk_rows();
    const int64_t before = first / rows, chunks = (task.rows.block->n + rows - 1) / rows;
    const size_t size = size_of(task);
    Tree tree(size);
    task.m_step.sums &= task.m_step.moments;
    const size_t room = kernels.sweep_scratch(task);
    team.for_chunks(chunks, 1, [&](int thread, int64_t begin, int64_t end) {
        for (int64_t chunk = begin; chunk < end; ++chunk) {
            Buffer<double, Pages> sums;
            if (size > 0)
                sums = tree.blank();
            kernels.sweep(task, chunk * rows, std::min(task.rows.block->n, (chunk + 1) * rows),
                          team.room(thread, room), sums.data(), Pause{&team, thread});
            if (size > 0)
                tree.add(before + chunk, std::move(sums));
        }
    });
    return tree.nodes();
}

// Many columns: moments are as large as many rows, so all threads add to one set of them. The rows
// of a chunk go in stretches, and each stretch in pieces twice: leaf by leaf for the
// responsibilities, then by components, and by parts of their moments where components are few.
//
// All pieces of a chunk are handed out in one row, the leaves of a stretch before the moments of
// the stretch before it. So there is always work while the last leaves of a stretch are on their
// way, and nearly all pieces that others wait for were done long ago.
class SharedSweep {
public:
    SharedSweep(Team& team, const MixtureTask& task, int64_t first)
        : team_(team), task_(task), rows_(task.shape.chunk_rows()), before_(first / rows_),
          parts_(std::clamp((4 * team.size() - 1) / task.shape.k, 1, kMostParts)),
          tree_(size_of(task)),
          added_(task.m_step.moments ? static_cast<size_t>(task.shape.k) * parts_ : 0) {
        const int64_t stretches = (task.rows.block->n + kStretch - 1) / kStretch;
        task_.m_step.sums = false;
        if (task_.m_step.moments) // (kKept, k, kStretch)
            task_.m_step.shares = static_cast<double*>(
                team.room(team.size(), sizeof(double) * std::min<int64_t>(stretches, kKept) *
                                           task.shape.k * kStretch));
        room_ = std::max(kernels_.sweep_scratch(task_), kernels_.moments_scratch(task_));
    }

    std::vector<Node> run() {
        for (int64_t chunk = 0; chunk * rows_ < task_.rows.block->n; ++chunk) {
            Buffer<double, Pages> sums = tree_.blank();
            sums.zero();
            add_chunk(chunk * rows_, std::min(task_.rows.block->n, (chunk + 1) * rows_),
                      sums.data());
            tree_.add(before_ + chunk, std::move(sums));
        }
        return tree_.nodes();
    }

private:
    static constexpr int kStretches = 8; // of a chunk, at most
    static constexpr int kLeaves = kStretch / kLeafRows;
    static constexpr int kKept = 3; // stretches whose responsibilities are there at a time

    struct Piece {
        int stretch, leaf, part; // one of the latter is -1
    };

    void add_chunk(int64_t begin, int64_t end, double* sums) {
        begin_ = begin, end_ = end;
        const int stretches = static_cast<int>((end - begin + kStretch - 1) / kStretch);
        pieces_.clear();
        for (int s = 0; s <= stretches; ++s) {
            const int64_t left = std::min<int64_t>(end - begin - s * kStretch, kStretch);
            for (int leaf = 0; leaf * kLeafRows < left; ++leaf)
                pieces_.push_back({s, leaf, -1});
            for (size_t part = 0; s > 0 && part < added_.size(); ++part)
                pieces_.push_back({s - 1, -1, static_cast<int>(part)});
        }
        for (std::atomic<int>& count : leaves_)
            count = 0;
        for (std::atomic<int>& count : added_)
            count = 0;
        team_.for_chunks(pieces_.size(), 1, [&](int thread, int64_t i, int64_t) {
            const Piece& piece = pieces_[i];
            piece.leaf < 0 ? add_moments(piece, thread, sums)
                           : find_responsibilities(piece, thread);
        });
        for (int64_t leaf = 0; leaf * kLeafRows < end - begin; ++leaf)
            sums[0] += likelihoods_[leaf];
    }

    // The task for one stretch.
    MixtureTask at(int stretch) const {
        MixtureTask task = task_;
        task.m_step.shared_from = begin_ + stretch * kStretch;
        if (task.m_step.shares)
            task.m_step.shares += static_cast<size_t>(stretch % kKept) * task.shape.k * kStretch;
        return task;
    }

    void find_responsibilities(const Piece& piece, int thread) {
        for (const std::atomic<int>& count : added_) // of the stretch whose place is taken
            await(count, piece.stretch - kKept + 1, thread);
        const MixtureTask task = at(piece.stretch);
        const int64_t from = task.m_step.shared_from + piece.leaf * kLeafRows;
        kernels_.sweep(task, from, std::min(end_, from + kLeafRows), team_.room(thread, room_),
                       &likelihoods_[piece.stretch * kLeaves + piece.leaf], Pause{&team_, thread});
        leaves_[piece.stretch].fetch_add(1, std::memory_order_release);
    }

    void add_moments(const Piece& piece, int thread, double* sums) {
        const MixtureTask task = at(piece.stretch);
        const int64_t end = std::min<int64_t>(end_, task.m_step.shared_from + kStretch);
        await(leaves_[piece.stretch],
              static_cast<int>((end - task.m_step.shared_from + kLeafRows - 1) / kLeafRows),
              thread);
        await(added_[piece.part], piece.stretch, thread);
        kernels_.add_moments(task, end, piece.part / parts_, piece.part % parts_, parts_,
                             team_.room(thread, room_), sums, Pause{&team_, thread});
        added_[piece.part].fetch_add(1, std::memory_order_release);
    }

    // Pieces are handed out in order and none waits for a later one, so the first that is not done
    // is never among those that wait.
    void await(const std::atomic<int>& count, int wanted, int thread) {
        while (count.load(std::memory_order_acquire) < wanted) {
            team_.check(thread);
            std::this_thread::yield();
        }
    }

    const Kernels& kernels_ = *level().mixture;
    Team& team_;
    MixtureTask task_;
    int64_t rows_, before_; // of a chunk; chunks before the block
    int parts_;             // of the moments of a component
    size_t room_;           // for a piece
    Tree tree_;
    int64_t begin_ = 0, end_ = 0; // the chunk
    std::vector<Piece> pieces_;
    double likelihoods_[kStretches * kLeaves];
    std::atomic<int> leaves_[kStretches]; // of each stretch that are done
    std::vector<std::atomic<int>> added_; // stretches that were added to each part
};

} // namespace

Swept sweep(Team& team, const MixtureTask& given, int64_t first) {
    MixtureTask task = given;
    Swept out;
    out.plan = plan_of(task);
    MixtureEvents events;
    task.path = out.plan.path;
    task.events = &events;
    if (task.path.kernel != MixtureKernel::tiles)
        task.m_step.moments = true; // the other kernels cannot do without
    Directions directions;
    if (task.path.directed)
        directions.find(team, task);
    out.nodes =
        task.path.shared ? SharedSweep(team, task, first).run() : sweep_chunks(team, task, first);
    out.repeated = events.repeated;
    out.abandoned = events.abandoned;
    if (!given.m_step.moments) // the last sweep of a run: the next steps want memory
        team.give_rooms_back();
    return out;
}

} // namespace coterie::mixture

// lloyd.cpp: one assignment update after the other, each with as little work as the last allows.
#include "kmeans/lloyd.hpp"

#include <algorithm>

namespace coterie::kmeans {
namespace {

constexpr int64_t kChunkWork = 1 << 22; // products per chunk: about a tenth of a millisecond
constexpr size_t kManySums = 1 << 16;   // integers that are worth sharing out
constexpr int64_t kLowChunk = 8192;     // rows of few columns: they stay in the second-level cache

} // namespace

// Buffers begin on cache lines of their own: threads that write must not share one.
struct alignas(64) Lloyd::Thread {
    Buffer<int64_t> sums, mass;
    Buffer<double> row;
    Buffer<char> scratch;
    Buffer<float> radius;
    Buffer<uint8_t> touched;
    Worker worker;
    BoundsTrial trial;
};

Lloyd::Lloyd(const Rows& rows, const Ranges& ranges, int32_t* labels, std::optional<Grid> grid,
             std::optional<Grid> mass, Algorithm algorithm)
    : rows_(rows), ranges_(ranges), labels_(labels), grid_(std::move(grid)),
      mass_grid_(std::move(mass)), algorithm_(algorithm) {}

Lloyd::~Lloyd() = default;

// Start over: labels stay, all that was concluded about them goes.
void Lloyd::forget(const double* means, int k) {
    if (k != k_) {
        blank_ = true;
        threads_.clear();
        if (grid_) {
            sums_.resize(k * grid_->size());
            sums_.zero();
            masses_.resize(static_cast<size_t>(k) * (mass_grid_ ? mass_grid_->levels : 1));
            masses_.zero();
        }
    }
    low_ = rows_in_lanes(rows_, k);
    local_ = low_ && algorithm_ != Algorithm::brute;
    order_ = low_ || rows_.sparse() ? std::vector<int32_t>{}
                                    : neighbouring_order(means, k, rows_.d, level_->width);
}

StepCounts Lloyd::step(Team& team, const double* means, int k) {
    const Level& level = coterie::level();
    const OwnedScaling scaling(ranges_, means, k, rows_.sparse());
    const bool fresh = k != k_ || level_ != &level || !scaling_ || !(*scaling_ == scaling);
    level_ = &level;
    scaling_ = scaling;
    if (fresh)
        forget(means, k);
    k_ = 0; // until the step is whole: an interrupt leaves labels that cannot be trusted

    prepared_.prepare(team, level, rows_, means, k, scaling_->view(), order_);
    Model& model = prepared_.model;
    model.brute = algorithm_ == Algorithm::brute;
    if (fresh) {
        row_bounds_.start(rows_, level, model, low_);
        drift_bounds_.start(model, level.width, local_);
    } else {
        drift_bounds_.advance(team, model);
        row_bounds_.choose_directions(rows_, model);
    }
    row_bounds_.prepare_sketches(team, level, model);
    ready_threads(team, low_ ? level.kmeans->few_columns_scratch(model)
                             : level.kmeans->many_columns_scratch(model));

    const SumLayout layout{grid_ ? grid_->view() : LimbGrid{},
                           mass_grid_ ? mass_grid_->view() : LimbGrid{}};
    const int64_t per_row = std::max<int64_t>(1, static_cast<int64_t>(k) * rows_.d);
    const int64_t most =
        low_ ? kLowChunk : std::clamp<int64_t>(kChunkWork / per_row / 48 * 48, 96, 9600);
    // Few rows are shared out evenly.
    const int64_t share = (rows_.n / (2 * team.size()) / 48 + 1) * 48;
    const int64_t chunk = std::min(most, share);
    const auto assign = low_ ? level.kmeans->assign_few_columns : level.kmeans->assign_many_columns;
    team.for_chunks(rows_.n, chunk, [&](int t, int64_t begin, int64_t end) {
        Thread& thread = threads_[t];
        const bool trial = row_bounds_.tries(begin / chunk);
        const int64_t before = thread.worker.work;
        // Here and not before: every thread touches its own pages.
        if (blank_)
            std::fill(labels_ + begin, labels_ + end, -1);
        assign(rows_, model, layout, row_bounds_.state(labels_, trial, fresh), thread.worker, begin,
               end);
        thread.trial.work[trial] += thread.worker.work - before;
        thread.trial.rows[trial] += end - begin;
    });

    StepCounts counts;
    BoundsTrial trial;
    int64_t decided = 0;
    for (const Thread& thread : threads_) {
        counts.moved += thread.worker.moved;
        counts.evaluated += thread.worker.evaluated;
        counts.settled += thread.worker.settled;
        decided += thread.worker.sketched;
        for (const int with : {0, 1}) {
            trial.work[with] += thread.trial.work[with];
            trial.rows[with] += thread.trial.rows[with];
        }
    }
    row_bounds_.learn(trial, counts.evaluated, decided, fresh);
    collect(team);
    k_ = k;
    blank_ = false;
    return counts;
}

void Lloyd::ready_threads(const Team& team, size_t scratch) {
    const size_t d = rows_.d, k = prepared_.model.k;
    threads_.resize(team.size());
    for (Thread& thread : threads_) {
        if (thread.scratch.size() < scratch)
            thread.scratch.resize(scratch);
        if (thread.row.size() == 0) {
            thread.row.resize(2 * (d + 8));
            thread.row.zero();
        }
        if (grid_ && thread.touched.size() != k) {
            thread.sums.resize(k * grid_->size());
            thread.sums.zero();
            thread.mass.resize(k * (mass_grid_ ? mass_grid_->levels : 1));
            thread.mass.zero();
            thread.touched.resize(k);
            thread.touched.zero();
        }
        thread.radius.resize(k);
        thread.radius.zero();
        thread.trial = {};
        thread.worker = {};
        thread.worker.sums = thread.sums.data();
        thread.worker.mass = thread.mass.data();
        thread.worker.touched = thread.touched.data();
        thread.worker.radius = local_ ? thread.radius.data() : nullptr;
        thread.worker.row = thread.row.data();
        thread.worker.scratch = thread.scratch.data();
    }
}

// Adds the sums that the threads gathered to those of the block.
void Lloyd::collect(Team& team) {
    const int k = prepared_.model.k;
    for (const Thread& thread : threads_)
        if (local_)
            drift_bounds_.widen(thread.radius.data());
    if (!grid_)
        return;
    const size_t size = grid_->size(), mass_levels = mass_grid_ ? mass_grid_->levels : 1;
    const auto add = [&](int, int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c)
            for (Thread& thread : threads_) {
                if (!thread.touched[c])
                    continue;
                thread.touched[c] = 0;
                int64_t* from = thread.sums.data() + c * size;
                int64_t* to = sums_.data() + c * size;
                for (size_t q = 0; q < size; ++q)
                    to[q] += from[q];
                std::memset(from, 0, size * sizeof(int64_t));
                for (size_t j = 0; j < mass_levels; ++j) {
                    masses_[c * mass_levels + j] += thread.mass[c * mass_levels + j];
                    thread.mass[c * mass_levels + j] = 0;
                }
            }
    };
    if (k * size < kManySums)
        add(0, 0, k);
    else
        team.for_chunks(k, 1, add);
}

void Lloyd::totals(int64_t* sums, int64_t* mass) const {
    const size_t d = rows_.d, rows = static_cast<size_t>(k_) * grid_->levels;
    for (size_t r = 0; r < rows; ++r)
        std::memcpy(sums + r * d, sums_.data() + r * grid_->padded, d * sizeof(int64_t));
    std::memcpy(mass, masses_.data(), sizeof(int64_t) * k_ * (mass_grid_ ? mass_grid_->levels : 1));
}

} // namespace coterie::kmeans

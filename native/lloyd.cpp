// lloyd.cpp: one assignment update after the other, each with as little work as the last allows.
#include "coterie/lloyd.hpp"

#include <algorithm>
#include <cmath>

namespace coterie {
namespace {

constexpr int64_t kChunkWork = 1 << 22; // products per chunk: about a tenth of a millisecond
constexpr int kMostFloats = 64;         // of bounds by group: a group is a bit of a 64-bit word
constexpr double kRefreshGrowth = 0.25; // a radius this much too large is measured again
constexpr int kTrial = 16;              // of so many chunks, one tries bounds by group
constexpr double kWorthwhile = 0.7;     // work with bounds over work without
constexpr int kLongRow = 4 * kSketch;   // columns from which sketches pay
constexpr int64_t kPatience = 4;        // passes over the rows after which directions are chosen
constexpr int64_t kFewProducts = 3000;  // a row meets all means sooner than it reads its bounds

// clock + drift, rounded upward.
float advance(float clock, double drift) {
    if (!(drift > 0))
        return clock;
    const float sum = static_cast<float>(clock + drift);
    return sum + 3e-7f * sum + 1e-37f;
}

} // namespace

// Buffers begin on cache lines of their own: threads that write must not share one.
struct alignas(64) Lloyd::Thread {
    Buffer<int64_t> sums, mass;
    Buffer<double> row;
    Buffer<char> scratch;
    Buffer<float> radius;
    Buffer<uint8_t> touched;
    Worker worker;
    int64_t work[2], rows[2]; // of chunks without bounds by group, and of those that try them
};

Lloyd::Lloyd(const Rows& rows, const Ranges& ranges, int32_t* labels, std::optional<Grid> grid,
             std::optional<Grid> mass, Algorithm algorithm)
    : rows_(rows), ranges_(ranges), labels_(labels), grid_(std::move(grid)),
      mass_grid_(std::move(mass)), algorithm_(algorithm) {}

Lloyd::~Lloyd() = default;

// Start over: labels stay, all that was concluded about them goes.
void Lloyd::forget(const double* means, int k) {
    fresh_ = true;
    steps_ = 0;
    const size_t d = rows_.d;
    if (k != k_) {
        blank_ = true;
        k_ = k;
        threads_.clear();
        means_.resize(k * d);
        if (grid_) {
            sums_.resize(k * grid_->size());
            sums_.zero();
            masses_.resize(static_cast<size_t>(k) * (mass_grid_ ? mass_grid_->levels : 1));
            masses_.zero();
        }
    }
    drift_.assign(k, 0.0);
    clock_.assign(k + 16, 0.f);
    expiry_.assign(k + 16, 0.f);
    low_ = rows_in_lanes(rows_, k);
    local_ = low_ && algorithm_ != Algorithm::brute;
    near_ = local_ && k > kFewMeans;
    order_ = low_ || rows_.sparse() ? std::vector<int32_t>{}
                                    : neighbouring_order(means, k, rows_.d, kernels_->width);
    plan_groups(k);
    grouped_ = joining_ = false;
    sketches_ = !low_ && !rows_.sparse() && groups_ == 0 && rows_.d >= kLongRow &&
                algorithm_ != Algorithm::brute;
    sketch_.drop();
    read_ = decided_ = 0;
    if (algorithm_ != Algorithm::brute)
        deadline_.resize(rows_.n);
    bounds_.resize(rows_.n * static_cast<size_t>(record_));
    own_drift_.assign(k, 0.f);
    group_drift_.assign(record_, -1e30f);
    std::fill(group_drift_.begin(), group_drift_.begin() + groups_, 0.f);
    radius_.assign(local_ ? k : 0, 0.0);
    growth_.assign(local_ ? k : 0, 0.0);
    refresh_.assign(local_ ? k : 0, 0);
    cap_ = 1e30f;
    if (local_ && k > 1) {
        // Half the median gap between a mean and its nearest: enough slack to skip most rows,
        // little enough that lists stay short.
        std::vector<double> gaps;
        for (int a = 0; a < k; ++a) {
            double nearest = HUGE_VAL;
            for (int b = 0; b < k; ++b) {
                double s = 0.0;
                for (size_t l = 0; l < d; ++l) {
                    const double e = means[a * d + l] - means[b * d + l];
                    s += e * e;
                }
                if (b != a)
                    nearest = std::min(nearest, s);
            }
            gaps.push_back(std::sqrt(nearest));
        }
        std::nth_element(gaps.begin(), gaps.begin() + k / 2, gaps.end());
        cap_ = static_cast<float>(0.5 * gaps[k / 2] * frame_->view().unit);
    }
}

// What a row keeps, bounds by group and its reach, may take a quarter of the row, and eight floats
// always. One group per mean if that is affordable, else groups of whole panels. Up to two panels
// have none: a row that is read meets them all sooner than one by one (784 columns and 10 means:
// 2.8 s with a bound per mean, 2.3 s without); nor have few means of few columns.
void Lloyd::plan_groups(int k) {
    const int panels = (k + kernels_->width - 1) / kernels_->width;
    const int per_row = rows_.kind == Kind::float64 ? rows_.d / 2 : rows_.d / 4;
    groups_ = panels_per_group_ = record_ = 0;
    if (low_ || rows_.sparse() || algorithm_ == Algorithm::brute || panels <= 2 ||
        static_cast<int64_t>(k) * rows_.d < kFewProducts)
        return;
    if (k < per_row) {
        groups_ = k;
    } else {
        const int most = std::clamp(rows_.d / 2 / 8 * 8, 8, kMostFloats) - 1;
        panels_per_group_ = (panels + most - 1) / most;
        groups_ = (panels + panels_per_group_ - 1) / panels_per_group_;
    }
    if (groups_ > 0)
        record_ = groups_ / 8 * 8 + 8;
}

// Directions are chosen once the rows have been read often enough, and again when sketches have
// let as many through; if these were most, they are given up.
void Lloyd::sketch_rows(Team& team, const double* means, int k) {
    if (sketches_ && !fresh_ && read_ > kPatience * rows_.n) {
        if (sketch_.exists() && decided_ < read_) {
            sketch_.drop();
            row_sketches_ = {};
            sketches_ = false;
        } else {
            sketch_.build(rows_, frame_->view(), means, k);
            row_sketches_.resize(rows_.n * kSketch);
            for (int64_t i = 0; i < rows_.n; ++i)
                row_sketches_[i * kSketch + kDirections] = HUGE_VALF; // none yet
        }
        read_ = decided_ = 0;
    }
    prepared_.model.sketch = {};
    if (sketch_.exists())
        sketch_.prepare(team, *kernels_, means, prepared_.model);
}

void Lloyd::advance_clocks(const double* means, int k) {
    const size_t d = rows_.d;
    const double unit = frame_->view().unit;
    double largest = 0.0, second = 0.0;
    int farthest = -1;
    for (int c = 0; c < k; ++c) {
        double s = 0.0;
        for (size_t l = 0; l < d; ++l) {
            const double e = (means[c * d + l] - means_[c * d + l]) * unit;
            s += e * e;
        }
        drift_[c] = std::sqrt(s) * 1.000001;
        if (drift_[c] > largest) {
            second = largest;
            largest = drift_[c];
            farthest = c;
        } else {
            second = std::max(second, drift_[c]);
        }
    }
    if (local_) // the clocks follow the neighbours, see look_around
        return;
    for (int c = 0; c < k; ++c) {
        clock_[c] = advance(clock_[c], drift_[c] + (c == farthest ? second : largest));
        own_drift_[c] = advance(own_drift_[c], drift_[c]);
    }
    const int per_group = std::max(1, panels_per_group_ * kernels_->width);
    for (int g = 0; g < groups_; ++g) {
        double most = 0.0;
        for (int p = g * per_group; p < std::min(k, (g + 1) * per_group); ++p)
            most = std::max(most, drift_[order_[p]]);
        group_drift_[g] = advance(group_drift_[g], most);
    }
}

// The neighbours of a mean are the others within 2 R + cap of it, R the radius of its cluster. A
// mean farther away is farther from every row of the cluster than its own by at least cap. No
// slack above cap is ever trusted, so the clock of the cluster need not follow that mean: where
// only a few means still move, the rows of all others stay safe.
void Lloyd::look_around(Team& team, const double* means, int k) {
    const size_t d = rows_.d;
    const double unit = frame_->view().unit;
    lists_.resize(near_ ? k : 0);
    list_pointers_.resize(k);
    list_lengths_.resize(k);
    const bool look_again = (steps_ & (steps_ - 1)) == 0 && steps_ >= 2;
    for (int c = 0; c < k; ++c) {
        radius_[c] += drift_[c];
        growth_[c] += drift_[c];
        refresh_[c] = look_again || growth_[c] > kRefreshGrowth * radius_[c];
        if (refresh_[c])
            growth_[c] = 0.0;
        prepared_.model.measure |= refresh_[c] != 0;
    }
    team.for_chunks(k, 16, [&](int, int64_t begin, int64_t end) {
        std::vector<std::pair<float, int32_t>> near;
        for (int64_t a = begin; a < end; ++a) {
            near.clear();
            const double limit = (2 * radius_[a] + cap_) * 1.00001;
            double most = 0.0;
            for (int b = 0; b < k; ++b) {
                double s = 0.0;
                for (size_t l = 0; l < d; ++l) {
                    const double e = (means[a * d + l] - means[b * d + l]) * unit;
                    s += e * e;
                }
                const double distance = std::sqrt(s);
                if (distance > limit || b == a)
                    continue;
                near.emplace_back(static_cast<float>(distance * 0.999999), b);
                most = std::max(most, drift_[b]);
            }
            if (near_)
                list_neighbours(static_cast<int>(a), near);
            clock_[a] = advance(clock_[a], drift_[a] + most);
            expiry_[a] = refresh_[a] ? HUGE_VALF : clock_[a];
        }
    });
    for (int c = 0; c < k; ++c)
        if (refresh_[c])
            radius_[c] = 0.0;
    if (near_) {
        prepared_.model.neighbours = list_pointers_.data();
        prepared_.model.n_neighbours = list_lengths_.data();
    }
}

// The list that rows of cluster a meet: its own mean, then the others from near to far.
void Lloyd::list_neighbours(int a, std::vector<std::pair<float, int32_t>>& near) {
    const size_t d = rows_.d, record = d + 3;
    const float* table = prepared_.model.table;
    std::sort(near.begin(), near.end());
    std::vector<float>& list = lists_[a];
    list.resize((near.size() + 1) * record);
    float* p = list.data();
    auto put = [&](float distance, int32_t c) {
        std::memcpy(p, table + c * (d + 1), sizeof(float) * (d + 1));
        p[d + 1] = distance;
        std::memcpy(p + d + 2, &c, 4);
        p += record;
    };
    put(0.f, a);
    for (const auto& [distance, c] : near)
        put(distance, c);
    list_pointers_[a] = list.data();
    list_lengths_[a] = static_cast<int32_t>(near.size()) + 1;
}

StepCounts Lloyd::step(Team& team, const double* means, int k) {
    const size_t d = rows_.d;
    const Kernels& kernels = coterie::kernels();
    const FrameOwner frame(ranges_, means, k, rows_.sparse());
    const bool lost = k != k_ || kernels_ != &kernels || !frame_ || !(*frame_ == frame);
    kernels_ = &kernels;
    frame_ = frame;
    if (lost)
        forget(means, k);
    prepared_.prepare(kernels, rows_, means, k, frame_->view(), order_);
    if (!fresh_)
        advance_clocks(means, k);

    Model& model = prepared_.model;
    model.brute = algorithm_ == Algorithm::brute;
    model.cap = cap_;
    model.neighbours = nullptr;
    model.n_neighbours = nullptr;
    model.measure = fresh_;
    if (local_ && !fresh_)
        look_around(team, means, k);
    sketch_rows(team, means, k);
    model.clock = clock_.data();
    model.expiry = expiry_.data();
    model.groups = groups_;
    model.panels_per_group = panels_per_group_;
    model.record = record_;
    model.drift_of_group = group_drift_.data();
    model.drift = own_drift_.data();

    const SumLayout layout{grid_ ? &*grid_ : nullptr, mass_grid_ ? &*mass_grid_ : nullptr};
    const size_t scratch = low_ ? kernels.scratch_low(model) : kernels.scratch_high(model);
    const size_t mass_levels = mass_grid_ ? mass_grid_->levels : 1;
    threads_.resize(team.size());
    for (Thread& thread : threads_) {
        if (thread.scratch.size() < scratch)
            thread.scratch.resize(scratch);
        if (thread.row.size() == 0) {
            thread.row.resize(2 * (d + 8));
            thread.row.zero();
        }
        if (grid_ && thread.touched.size() != static_cast<size_t>(k)) {
            thread.sums.resize(k * grid_->size());
            thread.sums.zero();
            thread.mass.resize(k * mass_levels);
            thread.mass.zero();
            thread.touched.resize(k);
            thread.touched.zero();
        }
        thread.radius.resize(k);
        thread.radius.zero();
        thread.worker = {};
        thread.worker.sums = thread.sums.data();
        thread.worker.mass = thread.mass.data();
        thread.worker.touched = thread.touched.data();
        thread.worker.radius = local_ ? thread.radius.data() : nullptr;
        thread.worker.row = thread.row.data();
        thread.worker.scratch = thread.scratch.data();
        thread.work[0] = thread.work[1] = thread.rows[0] = thread.rows[1] = 0;
    }

    const int64_t per_row = std::max<int64_t>(1, static_cast<int64_t>(k) * d);
    const int64_t most =
        low_ ? 8192 : std::clamp<int64_t>(kChunkWork / per_row / 48 * 48, 96, 9600);
    // Few rows are shared out evenly.
    const int64_t share = (rows_.n / (2 * team.size()) / 48 + 1) * 48;
    const int64_t chunk = std::min(most, share);
    const auto assign = low_ ? kernels.assign_low : kernels.assign_high;
    k_ = 0; // until the step is whole: what an interrupt leaves behind cannot be trusted
    team.for_chunks(rows_.n, chunk, [&](int t, int64_t begin, int64_t end) {
        Thread& thread = threads_[t];
        const bool trial = groups_ > 0 && begin / chunk % kTrial == 0;
        const RowState state{labels_, model.brute ? nullptr : deadline_.data(),
                             trial || grouped_ ? bounds_.data() : nullptr,
                             sketch_.exists() ? row_sketches_.data() : nullptr,
                             fresh_ || (joining_ && !trial)};
        const int64_t before = thread.worker.work;
        // Here and not before: every thread touches its own pages.
        if (blank_)
            std::fill(labels_ + begin, labels_ + end, -1);
        assign(rows_, model, layout, state, thread.worker, begin, end);
        thread.work[trial] += thread.worker.work - before;
        thread.rows[trial] += end - begin;
    });
    k_ = k;
    joining_ = groups_ > 0 && !grouped_ && !fresh_ && bounds_pay();
    grouped_ = grouped_ || joining_;
    fresh_ = blank_ = false;
    std::memcpy(means_.data(), means, sizeof(double) * k * d);
    ++steps_;

    StepCounts counts;
    for (const Thread& thread : threads_) {
        counts.moved += thread.worker.moved;
        counts.evaluated += thread.worker.evaluated;
        counts.settled += thread.worker.settled;
        decided_ += thread.worker.sketched;
    }
    read_ += counts.evaluated;
    collect(threads_, k);
    return counts;
}

// Would bounds by group have spared the other chunks work, as they did in those that tried them?
bool Lloyd::bounds_pay() const {
    double work[2] = {}, rows[2] = {};
    for (const Thread& thread : threads_)
        for (const int trial : {0, 1}) {
            work[trial] += static_cast<double>(thread.work[trial]);
            rows[trial] += static_cast<double>(thread.rows[trial]);
        }
    return work[1] * rows[0] < kWorthwhile * work[0] * rows[1];
}

void Lloyd::collect(std::vector<Thread>& threads, int k) {
    for (Thread& thread : threads) {
        for (int c = 0; local_ && c < k; ++c)
            radius_[c] = std::max<double>(radius_[c], thread.radius[c]);
        if (!grid_)
            continue;
        const size_t size = grid_->size(), mass_levels = mass_grid_ ? mass_grid_->levels : 1;
        for (int c = 0; c < k; ++c) {
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
    }
}

void Lloyd::totals(int64_t* sums, int64_t* mass) const {
    const size_t d = rows_.d, rows = static_cast<size_t>(k_) * grid_->levels;
    for (size_t r = 0; r < rows; ++r)
        std::memcpy(sums + r * d, sums_.data() + r * grid_->padded, d * sizeof(int64_t));
    std::memcpy(mass, masses_.data(), sizeof(int64_t) * k_ * (mass_grid_ ? mass_grid_->levels : 1));
}

} // namespace coterie
